"""Samples: some rows of a file by column, that know where in the file they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from metrichub.data.paths import column_of_path, values_at
from metrichub.errors import FileError, InputError, MissingColumn, did_you_mean

ROWS = 2_048
"""How many rows of a data set or a table in parts are held at a time."""


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

    def choose(self, columns: Mapping[str, str]) -> Samples:
        """The same samples with some columns alone: new name -> name, or path inside of one.

        Raises:
            MissingColumn: one isn't there.
            FileError: a path ends before its last step.
        """
        for name in columns.values():
            if column_of_path(name, self.columns) is None:
                near = did_you_mean(name.partition(".")[0], self.columns)
                have = ", ".join(self.columns)
                raise MissingColumn(f"{self.path}: no column {name!r}{near} (columns: {have})")
        try:
            found = {
                new: list(values_at(name, self.columns, self.columns.__getitem__))
                for new, name in columns.items()
            }
        except InputError as error:
            number = error.sample or 0
            said = str(error).replace(f"[{number}]", f"[{self.start + number}]", 1)
            raise self.error(said, error.sample) from None
        return replace(self, columns=found)

    def error(self, message: str, sample: int | None = None) -> FileError:
        """The error that names this file and, for a sample with a known place, its line."""
        line = self.lines[sample] if self.lines is not None and sample is not None else None
        return FileError(self.path, message, line)
