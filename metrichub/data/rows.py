"""Samples: some rows of a file by column, that know where in the file they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from metrichub.errors import FileError


@dataclass(frozen=True, eq=False)
class Samples(Mapping[str, list[Any]]):
    """The columns of a file by name, or of a part of it.

    Attributes:
        path: The file, as errors name it.
        columns: The values of every column, one a sample.
        lines: The line of every sample, if it has one.
        start: The number of samples before these in the file.
        share: How much of the file has been read with these, in 0..1; None where nobody knows.
    """

    path: str
    columns: Mapping[str, list[Any]]
    lines: Sequence[int] | None = field(default=None, repr=False)
    start: int = 0
    share: float | None = 1.0

    def __getitem__(self, name: str) -> list[Any]:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def size(self) -> int:
        """The number of samples."""
        return max(map(len, self.columns.values()), default=0)

    def error(self, message: str, sample: int | None = None) -> FileError:
        """The error that names this file and, for a sample with a known place, its line."""
        line = self.lines[sample] if self.lines is not None and sample is not None else None
        return FileError(self.path, message, line)
