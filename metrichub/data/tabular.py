"""The types of what a hub scores: tables of any library, whole or in parts, and files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias


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
