"""Tables of other libraries, read by column: mappings, rows, data sets, data frames, Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

from metrichub.data.values import values_at
from metrichub.errors import InputError, listed, what


class Columnar(Protocol):
    """Anything that gives its columns by name: a data frame, an Arrow table, a data set."""

    def __getitem__(self, column: str, /) -> Any: ...


class ArrowStream(Protocol):
    """Anything that gives its rows as an Arrow C stream."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The stream in a capsule."""


class InBatches(Protocol):
    """Anything that gives its rows by batches, such as an `IterableDataset`."""

    def iter(self, batch_size: int) -> Iterator[Any]:
        """The rows, so many at a time."""


Tabular: TypeAlias = Mapping[str, Iterable[Any]] | Sequence[Mapping[str, Any]] | Columnar
"""A mapping of columns, a list of dicts, or a table of pandas, polars, Arrow or `datasets`."""
Data: TypeAlias = Tabular | Iterator[Tabular] | ArrowStream | InBatches | str | Path
"""What a hub scores: one table, one that comes in parts, or the path of a file."""


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


class Frame(NamedTuple):
    """A table of any library: its column names, and how to read one."""

    names: Sequence[str]
    source: Any

    @classmethod
    def of(cls, data: object) -> Frame:
        """The table that `data` is.

        Raises:
            InputError: it is none, or several splits of one.
        """
        data = only_split(data)
        if isinstance(data, Mapping):
            return cls([str(name) for name in data], data)
        if isinstance(data, (list, tuple)) and all(isinstance(row, Mapping) for row in data):
            keys = list(dict.fromkeys(chain.from_iterable(data)))
            return cls(keys, {k: [row.get(k) for row in data] for k in keys})
        for attribute in ("column_names", "columns"):
            columns = getattr(data, attribute, None)
            if columns is not None and hasattr(data, "__getitem__"):
                return cls([str(name) for name in columns], data)
        raise InputError(
            f"the data is {what(data)}; pass columns by name (predictions=[...]), a mapping of "
            "columns, a list of dicts, a Dataset, a data frame or an Arrow table"
        )

    def plain_names(self) -> Sequence[str]:
        """The columns but for those that a data set says hold pictures, sound or mappings."""
        features = getattr(self.source, "features", None)
        if not isinstance(features, Mapping):
            return self.names
        # By their names, since `datasets` isn't imported here.
        return [n for n in self.names if type(features.get(n)).__name__ in _PLAIN_FEATURES]

    def column(self, name: str) -> Iterable[Any]:
        """The values of one column, or of what a path such as "doc.answer" finds in one."""
        return values_at(name, self.names, self.source.__getitem__)
