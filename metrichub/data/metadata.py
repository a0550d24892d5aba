"""Tables of any library by their columns; those that stay with a report, or name a sample."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrichub.data.classes import Classes, are_numbers, classes_at, classes_of, named
from metrichub.data.columns import ASKED, TEXT, column_of_alias
from metrichub.data.samples import Samples
from metrichub.data.values import (
    as_list,
    json_value,
    named_values,
    names_of,
    values_at,
)
from metrichub.errors import InputError, listed, what

LONGEST = 200
"""How many characters a value may have in a column that is kept unasked, lists as JSON."""
_FIRST = 64
"""How many values are looked at before the whole column is read."""

REPEATED = "repeated question"
"""The column of what tells questions apart, where rows are several answers to one."""

Metadata = Mapping[str, Sequence[Any]]
"""Values by column, one a sample: a text, a number, True, False, None, or a short list of them."""


def only_split(data: Any) -> Any:
    """The one split of a data set that has one, such as a file that `load_dataset` read.

    Raises:
        InputError: it has several.
    """
    if not isinstance(data, Mapping) or not any(hasattr(v, "column_names") for v in data.values()):
        return data
    if len(data) == 1:
        return next(iter(data.values()))
    first = next(iter(data))
    raise InputError(
        f"the data has several splits: {listed(map(str, data))}; choose one, data[{first!r}], or "
        "score them all: hub.evaluate_all(data)"
    )


_PLAIN_FEATURES = ("Value", "ClassLabel", "List", "LargeList", "Sequence")
"""The types of `datasets` whose values are texts, numbers or lists."""


@dataclass(frozen=True)
class Frame:
    """A table of any library, or columns given `by_name`: their names, and how to read one.

    `index` is that of the pandas frame, or of the first pandas column.
    """

    names: Sequence[str]
    source: Any
    classes: Mapping[str, Classes] = field(default_factory=dict)
    index: Any = None
    by_name: bool = False

    @classmethod
    def of(cls, data: object) -> Frame:
        """The table that `data` is.

        Raises:
            InputError: it is none, or several splits of one.
        """
        data = only_split(data)
        classes = data.classes if isinstance(data, Samples) else classes_of(data)
        index = _index_of(data.values() if isinstance(data, dict) else [data])
        if isinstance(data, Mapping):
            return cls([str(name) for name in data], data, classes, index)
        if isinstance(data, (list, tuple)) and all(isinstance(row, Mapping) for row in data):
            keys = list(dict.fromkeys(chain.from_iterable(data)))
            return cls(keys, {k: [row.get(k) for row in data] for k in keys})
        for attribute in ("column_names", "columns"):
            columns = getattr(data, attribute, None)
            if columns is not None and hasattr(data, "__getitem__"):
                return cls([str(name) for name in columns], data, classes, index)
        raise InputError(
            f"the data is {what(data)}; pass columns by name (predictions=[...]), a mapping of "
            "columns, a list of dicts, a Dataset, a data frame or an Arrow table"
        )

    @classmethod
    def of_columns(cls, columns: Mapping[str, Iterable[Any]]) -> Frame:
        """The table of columns given by name, each of which is read once.

        Raises:
            InputError: one isn't a column.
        """
        lists = {name: as_list(name, values) for name, values in columns.items()}
        has_classes = any(map(hasattr, columns.values(), repeat("features")))
        classes = classes_of(columns) if has_classes else {}
        return cls(list(lists), lists, classes, _index_of(columns.values()), by_name=True)

    def plain_names(self) -> Sequence[str]:
        """The columns but for those that a data set says hold pictures, sound or mappings."""
        features = getattr(self.source, "features", None)
        if not isinstance(features, Mapping):
            return self.names
        # By their names, since `datasets` isn't imported here.
        return [n for n in self.names if type(features.get(n)).__name__ in _PLAIN_FEATURES]

    def column(self, name: str) -> Iterable[Any]:
        """The values of one column, or of what a path such as "doc.answer" finds in one.

        Classes have their names.
        """
        cells = getattr(self.source, "cells", False)
        values = values_at(name, self.names, self.source.__getitem__, cells)
        classes = classes_at(self.classes, name) if self.classes else None
        return [named(value, classes) for value in as_list(name, values)] if classes else values

    def objects_shown(self) -> str:
        """The keys in columns of objects, such as the languages of texts, for a message."""
        columns = ((name, self.source[name]) for name in self.names)
        firsts = {name: next(iter(v), None) for name, v in columns if hasattr(v, "__iter__")}
        return "".join(
            f"; {name} has {listed(first)}: name one, {name}.{next(iter(first))}"
            for name, first in firsts.items()
            if isinstance(first, Mapping) and first
        )

    def by_numbers(self, chosen: Mapping[str, str], shared: dict[str, bool]) -> Frame:
        """The table with the numbers of classes if predictions are such numbers, too.

        The first part of a table decides for all, in `shared`.

        Raises:
            InputError: predictions of this part aren't numbers, unlike those before.
        """
        classes = classes_at(self.classes, chosen.get("references", ""))
        if not classes or "predictions" not in chosen:
            return self
        name = chosen["predictions"]
        numbers = are_numbers(as_list(name, self.column(name)), classes)
        if shared.setdefault("classes", bool(numbers)) and numbers is False:
            raise InputError("predictions were the numbers of classes up to here, and now aren't")
        return replace(self, classes={}) if shared["classes"] else self


def read_metadata(
    available: Collection[str],
    read: Collection[str],
    values_of: Callable[[str], Iterable[Any]],
    size: int,
    keep: Iterable[str] | None = None,
) -> dict[str, list[Any] | None]:
    """The columns of `size` values that stay with a report; None for one that can't.

    Without `keep` those are all short ones that no metric reads and that have no name by which
    texts are found; `keep` names others in their place, also by a path such as "doc.topic", or
    beside them with "*".

    Raises:
        MissingColumn: a column of `keep` isn't there.
        InputError: a column of `keep` holds what can't be kept; the text says where.
    """
    columns: dict[str, list[Any] | None] = {}
    names = names_of("keep", "*" if keep is None else keep)
    if "*" in names:
        chosen = [n for n in available if n not in read and column_of_alias(n) not in TEXT]
        columns |= {name: _short(name, values_of, size) for name in chosen}
    for name in (name for name in names if name != "*"):
        values = named_values("keep", name, available, values_of, size)
        plain: list[Any] = []
        for value in values:
            try:
                plain.append(_plain(value))
            except TypeError:
                raise InputError(
                    f"{name}[{len(plain)}] is {what(value)}; only columns of numbers, of texts, or "
                    "of lists of them can be kept"
                ) from None
        columns[name] = plain
    return columns


def read_questions(table: Frame, mapping: Mapping[str, str]) -> Metadata:
    """A hash of every sample's question, the same for several answers to it; nothing without ids.

    It is that of the id, within its subset and task, and of questions, sources and references, read
    by a metric or not; without any of these, of the id alone where a log numbers epochs.
    """
    if "id" not in table.names:
        return {}
    columns = [*zip(table.names, table.names, strict=True), *mapping.items()]
    texts = [name for column, name in columns if column_of_alias(column) in ASKED]
    names = ["id", *(name for name in table.names if name in ("subset", "task")), *texts]
    with suppress(InputError, TypeError, ValueError):
        values = [[*map(str, as_list(name, table.column(name)))] for name in names]
        if (texts or "epoch" in table.names) and {"", "None", "nan", "<NA>"}.isdisjoint(values[0]):
            rows = map("\0".join, zip(*values, strict=True))
            return {REPEATED: [blake2b(r.encode(), digest_size=8).hexdigest() for r in rows]}
    return {}


def repeating(parts: Iterable[tuple[int, Metadata]]) -> Metadata:
    """The questions of several tables, one after another, where some have several answers."""
    return {
        n: answers
        for n, answers in joined_metadata(parts).items()
        if len({*answers}) < len(answers)
    }


def joined_metadata(parts: Iterable[tuple[int, Mapping[str, Sequence[Any] | None]]]) -> Metadata:
    """The columns of several tables, given with their numbers of samples, one after another.

    A table without a column has None there; a column that can't be kept in one is kept in none.
    """
    joined: dict[str, list[Any]] = {}
    unfit: set[str] = set()
    size = 0
    for samples, columns in parts:
        for name, values in columns.items():
            if values is None:
                unfit.add(name)
            elif len(values) == samples:
                joined.setdefault(name, [None] * size).extend(values)
        size += samples
        for values in joined.values():
            values.extend([None] * (size - len(values)))
    return {name: values for name, values in joined.items() if name not in unfit}


def _short(name: str, values_of: Callable[[str], Iterable[Any]], size: int) -> list[Any] | None:
    """The values of a column; None if one of them can't be kept, or they aren't one a sample."""
    try:
        values = values_of(name)
        # A column of long texts or pictures is found out without reading all of it.
        for value in as_list(name, _first(values)):
            _plain(value, LONGEST)
        plain = [_plain(value, LONGEST) for value in as_list(name, values)]
    except (TypeError, ValueError, KeyError, InputError):
        return None
    return plain if len(plain) == size else None


def _first(values: Any) -> Any:
    try:
        return values[:_FIRST]
    except (TypeError, KeyError, ValueError):
        return ()


def _plain(value: Any, longest: float = math.inf) -> Any:
    """The value in the types of JSON: a text, a number, None, or a list of them.

    Raises:
        ValueError: it is too long.
        TypeError: it is nothing that can be kept.
    """
    plain = json_value(value, _refused)
    items = plain if isinstance(plain, list) else ()
    if isinstance(plain, dict) or {*map(type, items)} & {list, dict}:
        _refused(value)
    text = plain if isinstance(plain, str) else json.dumps(plain) if items else ""
    if len(text) > longest:
        raise ValueError(f"has {len(text)} characters")
    return plain


def _refused(value: object) -> None:
    raise TypeError(what(value))


def _index_of(values: Iterable[object]) -> Any:
    """The index of a pandas frame, or of the first pandas column; None without any."""
    for value in values:
        index = getattr(value, "index", None)
        # By its class, since a list has a method of that name, and pandas isn't imported here.
        if hasattr(type(index), "equals"):
            return index
    return None


def joined_index(parts: Sequence[tuple[int, Any]]) -> Any:
    """The indexes of several tables, given with their numbers of samples; None if one has none."""
    if len(parts) == 1:
        return parts[0][1]
    indexes = [index for size, index in parts if size]
    if not indexes or any(index is None for index in indexes):
        return None
    return indexes[0].append(indexes[1:])


def read_keys(
    key: Sequence[str],
    available: Collection[str],
    values_of: Callable[[str], Iterable[Any]],
    size: int,
) -> NDArray[np.uint64]:
    """A hash of every sample's values in the columns of the key, (N,).

    Raises:
        MissingColumn: a column isn't there.
        InputError: a value is missing, or is neither text nor a number.
    """
    columns = []
    for name in key:
        values = named_values("the key", name, available, values_of, size)
        columns.append([_key_part(name, sample, value) for sample, value in enumerate(values)])
    hashes = (
        blake2b(json.dumps(row).encode(), digest_size=8).digest()
        for row in zip(*columns, strict=True)
    )
    return np.frombuffer(b"".join(hashes), "<u8").astype(np.uint64)


def _key_part(name: str, sample: int, value: Any) -> str | int | float:
    try:
        part = _plain(value)
    except TypeError:
        part = value
    # A table with a missing value somewhere holds whole numbers as fractions.
    if isinstance(part, float) and part.is_integer():
        return int(part)
    if not isinstance(part, (str, int, float)):
        problem = "is missing" if part is None else f"is {what(value)}"
        raise InputError(
            f"{name}[{sample}] {problem}; every sample needs a key: a text, number, date or UUID"
        )
    return part
