"""Tidy tables, which have a row for each system or each try of a sample: what belongs together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from metrichub.data.columns import ASKED, column_of_alias, resolve
from metrichub.data.files import as_one, read
from metrichub.data.inputs import is_stream, parts_of
from metrichub.data.metadata import Frame
from metrichub.data.samples import NOT_IN_ALL, Samples
from metrichub.data.values import as_list, named_values
from metrichub.errors import InputError, listed

_IDENTIFY = ("subset", "task", "id", "epoch")
"""What identifies a sample, if it has an id."""
TASK = "task_id"
"""What identifies a task in the results of HumanEval, MBPP and others, which have a row a try."""
_SHOWN = 60
"""So many characters of what identifies a sample are shown."""
_Key: TypeAlias = tuple[Any, ...]


def matched_systems(
    data: Any, column: str | None, key: Sequence[str] = (), common: bool = False
) -> dict[str, Samples]:
    """The systems of one table by the values of a column, or those of a mapping; see `matched`."""
    if column is not None:
        return matched(split_systems(samples_of(data), column), key, common)
    return matched({str(name): samples_of(own) for name, own in data.items()}, key, common)


def by_task(
    data: Any,
    column: str | None,
    needed: Mapping[str, str],
    made: Collection[str],
    mapping: Mapping[str, str] | None = None,
) -> Samples:
    """The samples with a row for each task, where the data has one for each try.

    What systems have `made` of a task is a list of its tries. `column` says which rows are of one
    task; by default it is `task_id`, if there is one. `needed` maps a column to a metric that asks
    for it, `mapping` a column to its name in the data.

    Raises:
        MissingColumn: there is no such column.
        InputError: what isn't the system's own, such as a reference, differs between tries.
    """
    samples = samples_of(data)
    name = column or TASK
    if column is None and name not in samples:
        return samples
    rows = _rows_by_value("tries", samples, name)
    if len(rows) == samples.size:
        return replace(samples, columns={"id": [*rows], **samples})
    chosen = resolve(needed, samples, mapping)
    own = {chosen[column] for column in made if column in chosen}
    columns = {n: [[v[row] for row in at] for at in rows.values()] for n, v in samples.items()}
    for shared in columns.keys() - own:
        same = [all(value == tries[0] for value in tries) for tries in columns[shared]]
        if all(same):
            columns[shared] = [tries[0] for tries in columns[shared]]
        elif shared in chosen.values():
            task = [*rows][same.index(False)]
            raise InputError(f"the tries of {name} {task} differ in {shared!r}")
    numbers = sorted({*map(len, rows.values())})
    each = f"{numbers[0]} to {numbers[-1]}" if numbers[1:] else f"{numbers[0]}"
    tasks = f"{len(rows)} task{'s' * (len(rows) > 1)}"
    remark = f"{samples.size} rows are tries of {tasks} by {name}, {each} of each"
    return Samples(
        samples.path,
        {"id": [*rows], **columns},
        log=samples.log,
        classes=samples.classes,
        remarks=(*samples.remarks, remark),
    )


def samples_of(data: Any) -> Samples:
    """The samples of a file, a table of any library, or one that comes in parts, all at once.

    Raises:
        InputError: as `read`, or the data isn't a table.
    """
    if isinstance(data, (str, Path)):
        return read(data)
    if isinstance(data, Samples):
        return data
    if is_stream(data):
        return as_one([samples_of(part) for part in parts_of(data)])
    table = Frame.of(data)
    columns = {name: [*as_list(name, table.source[name])] for name in table.names}
    return Samples(type(data).__name__, columns, classes=table.classes, index=table.index)


def split_systems(samples: Samples, column: str) -> dict[str, Samples]:
    """The samples of each system by the values of a column, in the order of their appearance.

    Raises:
        MissingColumn: there is no such column.
        InputError: it holds one system.
    """
    rows = _rows_by_value("systems", samples, column)
    if len(rows) < 2:
        shown = f", {next(iter(rows))!r}" if rows else ""
        raise InputError(f"{column!r} has one system{shown}; a comparison needs two")
    return {name: samples.take(own) for name, own in rows.items()}


def _rows_by_value(option: str, samples: Samples, column: str) -> dict[str, list[int]]:
    """The rows of every value of a column that an option names, in the order of appearance."""
    values = named_values(option, column, samples, samples.__getitem__, samples.size)
    rows: dict[str, list[int]] = {}
    for row, value in enumerate(values):
        rows.setdefault(_text(value), []).append(row)
    return rows


def in_order(systems: Mapping[str, Samples]) -> Mapping[str, Samples]:
    """The systems with the samples in the order of the first, if all have ids; else as they are.

    Raises:
        InputError: a system lacks samples of another.
    """
    ids = [samples.get("id") for samples in systems.values()]
    return systems if None in ids or all(own == ids[0] for own in ids) else matched(systems)


def matched(
    systems: Mapping[str, Samples], key: Sequence[str] = (), common: bool = False
) -> dict[str, Samples]:
    """The systems with the samples in the order of the first.

    The key identifies a sample, or else its id, or else what was asked: questions, sources and
    references. Rows of the same are matched in their order; without any of these, all are as they
    stand. With `common`, those samples are left out that not all systems have, and a remark says
    so.

    Raises:
        MissingColumn: a column of the key isn't there.
        InputError: a system lacks samples of another.
    """
    first, *others = systems.values()
    shared = [name for name in first if all(name in other for other in others)]
    ids = [name for name in _IDENTIFY if name in shared]
    asked = [name for name in shared if column_of_alias(name) in ASKED]
    names = key or (ids if "id" in ids else asked)
    if not names:
        if not common:
            return dict(systems)
        error = InputError("nothing shows which samples the systems have in common")
        raise error.with_remedy("name_key")
    rows = {name: _rows_by_key(samples, names) for name, samples in systems.items()}
    of_first, *of_others = rows.values()
    kept = [one for one in of_first if all(one in other for other in of_others)]
    if not common:
        _check_equal(rows, len(kept))
    elif not kept:
        raise InputError(f"the systems have no sample in common, by {listed(names)}")
    return {name: _kept(systems[name], [own[one] for one in kept]) for name, own in rows.items()}


def _rows_by_key(samples: Samples, names: Sequence[str]) -> dict[_Key, int]:
    """The row of every key, with how many before have the same."""
    columns = (
        named_values("key", name, samples, samples.__getitem__, samples.size) for name in names
    )
    seen = Counter[_Key]()
    rows: dict[_Key, int] = {}
    for row, values in enumerate(zip(*columns, strict=True)):
        one = tuple(map(_text, values))
        rows[*one, seen[one]] = row
        seen[one] += 1
    return rows


def _text(value: Any) -> str:
    """A value as text; a table with a missing value somewhere holds whole numbers as fractions."""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def _check_equal(rows: Mapping[str, Mapping[_Key, int]], shared: int) -> None:
    (name, first), *others = rows.items()
    every = set(chain.from_iterable(rows.values()))
    if len(every) == shared:
        return
    other, own = next((n, o) for n, o in others if o.keys() != first.keys())
    missing, more = first.keys() - own.keys(), own.keys() - first.keys()
    differs = [f"lacks {len(missing)} of the {len(first)} samples of {name}"] * bool(missing)
    differs += [f"has {len(more)} that {name} lacks"] * bool(more)
    one = " ".join(map(str, min(missing or more)[:-1]))[:_SHOWN]
    error = InputError(
        f"{other} {' and '.join(differs)} (first: {one}); "
        f"{shared or 'none'} {'is' if shared < 2 else 'are'} in all systems"
    )
    raise error.with_remedy("compare_common") if shared else error


def _kept(samples: Samples, rows: list[int]) -> Samples:
    """The samples at some places; what is left out is a remark."""
    kept = samples if rows == [*range(samples.size)] else samples.take(rows)
    left_out = samples.size - len(rows)
    if not left_out:
        return kept
    remark = f"{left_out} of {samples.size} samples are left out, as {NOT_IN_ALL}"
    return replace(kept, remarks=(*kept.remarks, remark))
