"""Tidy tables, which have a row for each system or each try of a sample: what belongs together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from metrichub.data.columns import ASKED, NUMBERED, column_of_alias, resolve
from metrichub.data.files import as_one
from metrichub.data.inputs import is_stream, parts_of
from metrichub.data.logs import read
from metrichub.data.metadata import Frame
from metrichub.data.samples import NOT_IN_ALL, Samples
from metrichub.data.values import as_list, is_missing, named_values, paths_of
from metrichub.errors import InputError, MissingColumn, listed

_IDENTIFY = ("subset", "task", "id", "epoch")
"""What identifies a sample, if it has an id."""
TASK = "task_id"
"""What identifies a task in the results of HumanEval, MBPP and others, which have a row a try."""
SYSTEM = ("system", "model", "provider")
"""Columns that say which system a row is of."""
_SHOWN = 40
"""So many characters of what identifies a sample are shown."""


def systems_in(data: Any, column: str | None) -> dict[str, Samples]:
    """The systems of one table by the values of a column, or those of a mapping."""
    if column is not None:
        return split_systems(samples_of(data), column)
    return {str(name): samples_of(table) for name, table in data.items()}


def by_task(
    data: Any,
    column: str | None,
    needed: Mapping[str, str],
    by_systems: Collection[str],
    mapping: Mapping[str, str] | None = None,
) -> Samples:
    """The samples with a row for each task, where the data has one for each try.

    Columns that systems make (`by_systems`) have a list of the tries of each task. `column` says
    which rows are of one task; by default it is `task_id`, if there is one. `needed` maps a column
    to a metric that asks for it, `mapping` a column to its name in the data.

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
    tried = {chosen[column] for column in by_systems if column in chosen}
    columns = {n: [[v[row] for row in at] for at in rows.values()] for n, v in samples.items()}
    for shared in columns.keys() - tried:
        same = [all(value == tries[0] for value in tries) for tries in columns[shared]]
        if all(same):
            columns[shared] = [tries[0] for tries in columns[shared]]
        elif shared in chosen.values() or shared in SYSTEM:
            task = [*rows][same.index(False)]
            raise InputError(f"the tries of {name} {task} differ in {shared!r}")
    numbers = sorted({*map(len, rows.values())})
    each = f"{numbers[0]} to {numbers[-1]}" if numbers[1:] else f"{numbers[0]}"
    tasks = f"{len(rows)} tasks" if len(rows) > 1 else "1 task"
    remark = f"{samples.size} rows are tries of {tasks} by {name}, {each} of each"
    index = samples.index
    if index is not None:
        import pandas

        index = pandas.Index([*rows], name=name)
    return Samples(
        samples.path,
        {"id": [*rows], **columns},
        log=samples.log,
        classes=samples.classes,
        index=index,
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

    Several columns, as in "ours+theirs", hold the predictions of a system each.

    Raises:
        MissingColumn: there is no such column.
        InputError: it holds one system, or a row has none.
    """
    if len(names := paths_of(column, samples)) > 1:
        shared = {name: values for name, values in samples.items() if name not in names}
        return {
            name: replace(samples, columns={**shared, "predictions": [*samples.column(name)]})
            for name in names
        }
    rows = _rows_by_value("systems", samples, column)
    if len(rows) < 2:
        shown = f", {next(iter(rows))!r}" if rows else ""
        raise InputError(f"{column!r} has one system{shown}; a comparison needs two")
    return {name: samples.take(places) for name, places in rows.items()}


def _rows_by_value(option: str, samples: Samples, column: str) -> dict[str, list[int]]:
    """The rows of every value of a column that an option names, in the order of appearance."""
    values = named_values(option, column, samples, samples.__getitem__, samples.size)
    rows: dict[str, list[int]] = {}
    for row, value in enumerate(values):
        if is_missing(value) or value == "":
            raise samples.error(f"{column!r} of sample {row} is empty", row)
        rows.setdefault(_text(value), []).append(row)
    return rows


def in_order(systems: Mapping[str, Samples]) -> Mapping[str, Samples]:
    """The systems with the samples in the order of the first, if all have ids; else as they are.

    Raises:
        InputError: a system lacks samples of another.
    """
    ids = [samples.get("id") for samples in systems.values()]
    return systems if None in ids or all(column == ids[0] for column in ids) else matched(systems)


def matched(
    systems: Mapping[str, Samples],
    key: Sequence[str] = (),
    common: bool = False,
    mapped: Collection[str] = (),
) -> dict[str, Samples]:
    """The systems with the samples in the order of the first.

    The key identifies a sample, or else its id, or else what was asked: questions, sources and
    references, but for columns that were `mapped` to another role. Rows of one key are paired in
    their order, and count as answers to one question. With `common`, those samples are left out
    that not all systems have. Remarks say so.

    Raises:
        MissingColumn: a column of the key isn't there.
        InputError: nothing identifies a sample, or a system lacks samples of another.
    """
    first, *others = systems.values()
    shared = [name for name in first if all(name in other for other in others)]
    ids = [name for name in _IDENTIFY if name in shared]
    asked = [n for n in shared if column_of_alias(NUMBERED.sub(r"\1", n)) in ASKED]
    names = key or (ids if "id" in ids else [name for name in asked if name not in mapped])
    keys: dict[str, list[tuple[str, ...]]] = {}
    for name, samples in systems.items():
        columns = [
            named_values("key", n, samples, samples.__getitem__, samples.size) for n in names
        ]
        keys[name] = [tuple(map(_text, values)) for values in zip(*columns, strict=True)]
    counts = {name: Counter(system_keys) for name, system_keys in keys.items()}
    repeated = any(max(counter.values(), default=0) > 1 for counter in counts.values())
    if not names or (repeated and not key and "id" not in ids):
        raise InputError("nothing identifies the samples of the systems").with_remedy("name_key")
    places = {sample: place for place, sample in enumerate(next(iter(counts.values())))}
    in_all = {sample for sample in places if all(sample in c for c in counts.values())}
    _check_equal(counts, len(in_all), common, names)
    chosen: dict[str, Samples] = {}
    for name, samples in systems.items():
        by_row = keys[name]
        rows = [row for row, sample in enumerate(by_row) if sample in in_all]
        rows.sort(key=lambda row: places[by_row[row]])
        taken = samples if rows == [*range(samples.size)] else samples.take(rows)
        if key and "id" not in taken:
            taken = replace(taken, columns={"id": [" ".join(by_row[row]) for row in rows], **taken})
        remarks = list(taken.remarks)
        if left_out := samples.size - len(rows):
            remarks.append(f"{left_out} of {samples.size} samples are left out, as {NOT_IN_ALL}")
        if repeated:
            remarks.append(f"rows of the same {listed(names)} are paired in their order")
        chosen[name] = replace(taken, remarks=tuple(remarks))
    return chosen


def without_long_texts(
    systems: Mapping[str, Samples],
    max_words: int,
    needed: Mapping[str, str],
    mapping: Mapping[str, str] | None = None,
) -> dict[str, Samples]:
    """The systems without the samples in which a text of any system has more words; remarks say so.

    The systems have the same samples in the same order. `needed` maps a column to a metric that
    asks for it, `mapping` a column to its name in the data.
    """
    long: set[int] = set()
    for samples in systems.values():
        with suppress(MissingColumn):  # Measuring says it.
            for name in resolve(needed, samples, mapping).values():
                words = map(_most_words, samples.column(name))
                long |= {row for row, number in enumerate(words) if number > max_words}
    chosen: dict[str, Samples] = {}
    for name, samples in systems.items():
        taken = samples.take([row for row in range(samples.size) if row not in long])
        left_out = f"{len(long)} of {samples.size} samples are left out"
        remark = f"{left_out}, as they have a text of over {max_words:,} words"
        chosen[name] = replace(taken, remarks=(*taken.remarks, remark)) if long else samples
    return chosen


def _most_words(value: Any) -> int:
    """The number of words of a text, or of the longest one in a list or an object."""
    if isinstance(value, str):
        return len(value.split())
    items = value.values() if isinstance(value, Mapping) else value
    return max(map(_most_words, items), default=0) if isinstance(items, Iterable) else 0


def _text(value: Any) -> str:
    """A value as text; a table with a missing value somewhere holds whole numbers as fractions."""
    return re.sub(r"(?<=\d)\.0$", "", str(value))


def _check_equal(
    counts: Mapping[str, Counter[tuple[str, ...]]],
    shared: int,
    common: bool,
    names: Sequence[str],
) -> None:
    """Raise `InputError` if systems have other samples, or other numbers of rows of one."""
    (name, first), *others = counts.items()
    for other, counter in others:
        uneven = (key for key in first if key in counter and first[key] != counter[key])
        if key := next(uneven, None):
            raise InputError(
                f"{name} has {first[key]} rows with {_shown(names, key)}, and {other} "
                f"{counter[key]}; name further columns of the key, or drop the rows that repeat"
            )
    other, counter = next(((n, o) for n, o in others if o.keys() != first.keys()), (name, first))
    if not shared:
        examples = _shown(names, next(iter(first))), _shown(names, next(iter(counter)))
        raise InputError(
            f"{name} and {other} have no sample in common: the first are {' and '.join(examples)}"
        )
    if common or counter is first:
        return
    missing, more = first.keys() - counter.keys(), counter.keys() - first.keys()
    differences = []
    if missing:
        differences.append(f"lacks {len(missing)} of the {len(first)} samples of {name}")
    if more:
        differences.append(f"has {len(more)} that {name} lacks")
    raise InputError(
        f"{other} {' and '.join(differences)} (first: {_shown(names, min(missing or more))}); "
        f"{shared} {'is' if shared == 1 else 'are'} in all systems"
    ).with_remedy("compare_common")


def _shown(names: Sequence[str], key: tuple[str, ...]) -> str:
    return " ".join(f"{n}={value[:_SHOWN]!r}" for n, value in zip(names, key, strict=True))
