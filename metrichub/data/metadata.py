"""Tables of any library by their columns; those that stay with a report, or name a sample."""

from __future__ import annotations

import hashlib
import json
import math
import numbers
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from metrichub.data.classes import Classes, are_numbers, classes_at, classes_of, named
from metrichub.data.columns import TEXT, column_of_alias
from metrichub.data.samples import Samples
from metrichub.data.values import (
    as_list,
    named_values,
    names_of,
    values_at,
    without_numpy,
)
from metrichub.errors import InputError, listed, what

if TYPE_CHECKING:
    import datetime
    from uuid import UUID


LONGEST = 200
"""How many characters a value may have in a column that is kept unasked, lists as JSON."""
_FIRST = 64
"""How many values are looked at before the whole column is read."""

Metadata = Mapping[str, Sequence[Any]]
"""Values by column, one a sample: a text, a number, True, False, None, or a short list of them."""


def only_split(data: Any) -> Any:
    """The one split of a data set that has one, such as a file that `load_dataset` read.

    Raises:
        InputError: it has several.
    """
    if not _has_splits(data):
        return data
    if len(data) == 1:
        return next(iter(data.values()))
    first = next(iter(data))
    raise InputError(
        f"the data has several splits: {listed(map(str, data))}; choose one, data[{first!r}], or "
        "score them all: hub.evaluate_all(data)"
    )


def _has_splits(data: object) -> bool:
    return isinstance(data, Mapping) and any(
        hasattr(value, "column_names") for value in data.values()
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
        values = values_at(name, self.names, self.source.__getitem__)
        classes = classes_at(self.classes, name) if self.classes else None
        return [named(value, classes) for value in as_list(name, values)] if classes else values

    def objects_shown(self) -> str:
        """What is in the columns of objects, such as the languages of texts, for a message."""
        columns = ((name, self.source[name]) for name in self.names)
        firsts = {name: next(iter(own), None) for name, own in columns if hasattr(own, "__iter__")}
        return "".join(
            f"; {name} has {listed(own)}: name one, {name}.{next(iter(own))}"
            for name, own in firsts.items()
            if isinstance(own, Mapping) and own
        )

    def by_numbers(self, chosen: Mapping[str, str], known: dict[str, bool]) -> Frame:
        """The table with the numbers of classes if predictions are such numbers, too.

        The first part of a table decides for all, which is `known`.

        Raises:
            InputError: predictions of this part aren't numbers, unlike those before.
        """
        classes = classes_at(self.classes, chosen.get("references", ""))
        if not classes or "predictions" not in chosen:
            return self
        name = chosen["predictions"]
        numbers = are_numbers(as_list(name, self.column(name)), classes)
        if known.setdefault("classes", bool(numbers)) and numbers is False:
            raise InputError("predictions were the numbers of classes up to here, and now aren't")
        return replace(self, classes={}) if known["classes"] else self


def read_metadata(
    available: Collection[str],
    read: Collection[str],
    values_of: Callable[[str], Iterable[Any]],
    size: int,
    keep: Iterable[str] | None = None,
) -> dict[str, list[Any] | None]:
    """The columns of `size` values that stay with a report; None for one that can't.

    Without `keep` those are all short ones that no metric reads and that have no name by which
    texts are found; `keep` names others in their place, also by a path such as "doc.topic".

    Raises:
        MissingColumn: a column of `keep` isn't there.
        InputError: a column of `keep` holds what can't be kept; the text says where.
    """
    if keep is None:
        chosen = [n for n in available if n not in read and column_of_alias(n) not in TEXT]
        return {name: _short(name, values_of, size) for name in chosen}
    columns: dict[str, list[Any] | None] = {}
    for name in names_of("keep", keep):
        values = named_values("keep", name, available, values_of, size)
        columns[name] = [_checked(name, sample, value) for sample, value in enumerate(values)]
    return columns


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


def _checked(name: str, sample: int, value: object) -> object:
    try:
        return _plain(value)
    except TypeError:
        raise InputError(
            f"{name}[{sample}] is {what(value)}; only columns of numbers, of texts, or of lists of "
            "them can be kept"
        ) from None


def _plain(value: Any, longest: int | None = None) -> Any:
    """The value in the types of JSON.

    Raises:
        ValueError: it is too long.
        TypeError: it is nothing that can be kept.
    """
    if isinstance(value, (list, tuple)):
        items = [_scalar(item, longest) for item in value]
        if longest is not None and len(json.dumps(items)) > longest:
            raise ValueError(f"has more than {longest} characters as JSON")
        return items
    if hasattr(value, "tolist"):
        plain = without_numpy(value)
        return _plain(plain, longest) if isinstance(plain, list) else _scalar(plain, longest)
    return _scalar(value, longest)


def _scalar(value: Any, longest: int | None) -> Any:
    if isinstance(value, str):
        if longest is not None and len(value) > longest:
            raise ValueError(f"has {len(value)} characters")
        return value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    return _fraction(value) if isinstance(value, numbers.Real) else _rare(value)


def _fraction(value: Any) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None


def _rare(value: Any) -> Any:
    import datetime
    from decimal import Decimal
    from uuid import UUID

    if isinstance(value, Decimal):
        return _fraction(value)
    if isinstance(value, (datetime.date, datetime.time, UUID)):
        return _as_text(value)
    raise TypeError(what(value))


def _as_text(value: datetime.date | datetime.time | UUID) -> str | None:
    """A date, a time or a UUID as JSON has it; None for pandas' NaT, a date without a year."""
    from uuid import UUID

    if isinstance(value, UUID):
        return str(value)
    return None if value != value else value.isoformat()  # noqa: PLR0124


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
        hashlib.blake2b(json.dumps(row).encode(), digest_size=8).digest()
        for row in zip(*columns, strict=True)
    )
    return np.frombuffer(b"".join(hashes), "<u8").astype(np.uint64)


def _key_part(name: str, sample: int, value: Any) -> str | int | float | bool:
    plain = without_numpy(value) if hasattr(value, "tolist") else value
    if plain is not None and not isinstance(plain, (str, int, float)):
        plain = _as_in_files(plain)
    # A table with a missing value somewhere holds whole numbers as fractions.
    if isinstance(plain, float) and plain.is_integer():
        return int(plain)
    missing = plain is None or (isinstance(plain, float) and math.isnan(plain))
    if missing or not isinstance(plain, (str, int, float)):
        problem = "is missing" if missing else f"is {what(value)}"
        raise InputError(
            f"{name}[{sample}] {problem}; every sample needs a key: a text, number, date or UUID"
        )
    return plain


def _as_in_files(value: Any) -> Any:
    """A date, a time or a UUID as a file has it, so that a table and its file have equal keys."""
    import datetime
    from uuid import UUID

    return _as_text(value) if isinstance(value, (datetime.date, datetime.time, UUID)) else value
