"""Logs of other tools, read by what packages register as entry points of `metrichub.readers`.

An entry point named after a suffix, such as ".eval", is a function that reads the files that end
in it; any other is a module that reads rows, see `RowReader`. Both may say what is in a log, see
`Log`. `docs/OWN.md` has an example.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from metrichub.data.samples import Samples, samples_where
from metrichub.data.source import Source
from metrichub.data.values import columns_of_path
from metrichub.errors import FileError, MetrichubError

if TYPE_CHECKING:
    from importlib_metadata import EntryPoint

Row: TypeAlias = dict[str, Any]

_OWN = frozenset(("prediction", "predictions"))
"""A row with one of these needs no reader unless it holds objects: nothing is looked up then."""


@dataclass(frozen=True)
class Log:
    """The facts of a log, as its reader's `describe` tells them.

    Attributes:
        path: The file.
        reader: The entry point's name.
        model: The model whose replies or scores these are.
        task: What it was tested on.
        recorded: The columns that hold numbers of the tool, and what is known about each: `better`
            ("higher" or "lower"), `share` (each number is 0 or 1), `range`.
        systems: If the file has the samples of several systems, the values of columns by which the
            samples of each are found.
        reported: What the tool reports of all samples together: by column, its scores by name. A
            column that isn't recorded has no mean over samples.
    """

    path: str
    reader: str
    model: str | None = None
    task: str | None = None
    recorded: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    systems: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    reported: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class RowReader(Protocol):
    """Reads the rows of a tool's JSON Lines, JSON, CSV, TSV or Parquet; a module of functions.

    A third function, `describe(row, path)`, may return the fields of a `Log` from `model` on; it
    gets the row that `matches` got. `ALTERNATIVES` may name columns whose values the tool reports
    apart, such as filters; conditions choose one. A function `expand(rows, path)` may first give
    rows such columns where the file has none.
    """

    def matches(self, row: Row, /) -> bool:
        """Whether the tool wrote the file whose first row, or whose one JSON object, this is."""

    def read(self, rows: Iterator[Row], path: str, /) -> Iterable[Row]:
        """The rows as metrics read them; a `ValueError` is about the last of `rows` taken."""


def file_formats() -> list[str]:
    """The formats of files that entry points read: "eval" for names that end in ".eval"."""
    return list(dict.fromkeys(p.name[1:] for p in _entry_points() if p.name.startswith(".")))


def read_file(format: str, source: Source, characters: int) -> Iterator[Samples]:
    """The samples of a file in batches of about so many characters.

    The entry point is called with the open file and its path, and returns rows: None for one that
    is left out. If they have a length, it is known how much of the file has been read; if they have
    a method `describe`, it returns the fields of a `Log`.

    Raises:
        FileError: the file, or the reader, is broken.
    """
    point = next(point for point in _entry_points() if point.name == f".{format}")
    rows: list[Row] = []
    start = size = 0
    share = None
    with _failures(point, source.error):
        read: Iterable[Row | None] = _opened(point, source)
        for done, row in enumerate(read, 1):
            share = done / len(read) if isinstance(read, Sized) else None
            if row is None:
                continue
            rows.append(row)
            size += len(str(row))
            if size >= characters:
                yield _samples(source.name, rows, None, start, share)
                start, size, rows = start + len(rows), 0, []
    if rows:
        yield _samples(source.name, rows, None, start, share)


def _opened(point: EntryPoint, source: Source) -> Any:
    file = source.stream if source.seekable else io.BytesIO(source.content())
    return point.load()(file, source.name)


def is_log(row: Row) -> bool:
    """Whether a reader reads the file whose first row, or whose one object, this is."""
    return _reader_of(row) is not None


def log_of_rows(first: Samples) -> Log | None:
    """The facts of a file of rows, by the first row; None if no reader knows it."""
    row = {name: values[0] for name, values in first.columns.items() if values}
    point = _reader_of(row)
    if point is None:
        return None
    reader = _row_readers()[point]
    describe = getattr(reader, "describe", None)
    with _failures(point, first.error):
        return Log(first.path, point.name, **(describe(row, first.path) if describe else {}))


def log_of_file(format: str, source: Source) -> Log:
    """The facts of a log in a file with its own suffix.

    Raises:
        FileError: the file, or the reader, is broken.
    """
    point = next(point for point in _entry_points() if point.name == f".{format}")
    with _failures(point, source.error):
        describe = getattr(_opened(point, source), "describe", dict)
        return Log(source.name, format, **describe())


def known_logs() -> str:
    """The tools whose logs are read, for messages."""
    return ", ".join(point.name for point in _entry_points() if not point.name.startswith("."))


def with_readers(
    batches: Iterator[Samples], where: Mapping[str, str | Sequence[str]] | None = None
) -> Iterator[Samples]:
    """The samples of a file of rows, as the reader that knows the first row reads them.

    Conditions (`where`) on columns of a log choose the rows that its reader sees.
    """
    where = where or {}
    for first in batches:
        table: Iterator[Samples] = chain([first], batches)
        point = _reader_of({name: values[0] for name, values in first.columns.items() if values})
        if point is not None:
            reader = _row_readers()[point]
            if hasattr(reader, "expand"):
                table = _translated(point, reader.expand, table)
                first = next(table, first)
                table = chain([first], table)
            before = {name: value for name, value in where.items() if columns_of_path(name, first)}
            where = {name: value for name, value in where.items() if name not in before}
            once = getattr(reader, "ALTERNATIVES", ())
            several = [n for n in once if not isinstance(before.get(n, ""), str)]
            table = _translated(point, reader.read, _of_one(several, samples_where(table, before)))
        yield from samples_where(table, where) if where else table


def _of_one(names: Sequence[str], batches: Iterator[Samples]) -> Iterator[Samples]:
    """The rows, which have one value in each of these columns.

    Raises:
        FileError: they have several, which the tool reports apart.
    """
    chosen: dict[str, object] = {}
    for batch in batches:
        for name in names:
            for value in batch.get(name, ()):
                if chosen.setdefault(name, value) != value:
                    raise batch.error(
                        f"each {name} has separate scores, so {chosen[name]!r} and {value!r} "
                        f"can't be scored together; choose one {name}"
                    )
        yield batch


def _reader_of(row: Row) -> EntryPoint | None:
    if row.keys() & _OWN and not any(isinstance(value, dict) for value in row.values()):
        return None
    for point, reader in _row_readers().items():
        try:
            if reader.matches(row):
                return point
        except Exception as error:  # noqa: BLE001  # a plugin's defect
            _warn(point, error)
    return None


_Function: TypeAlias = Callable[[Iterator[Row], str], Iterable[Row]]


def _translated(
    point: EntryPoint, function: _Function, batches: Iterator[Samples]
) -> Iterator[Samples]:
    """The rows that a function of a reader makes of others, in the same batches."""
    start = 0
    for _, group in groupby(_placed(point, function, batches), lambda placed: placed[0].start):
        placed = list(group)
        batch = placed[0][0]
        lines = batch.lines and [batch.lines[number] for _, number, _ in placed]
        samples = _samples(batch.path, [row for *_, row in placed], lines, start, batch.share)
        yield replace(samples, cells=batch.cells, quotes=batch.quotes)
        start += len(placed)


def _placed(
    point: EntryPoint, function: _Function, batches: Iterator[Samples]
) -> Iterator[tuple[Samples, int, Row]]:
    """The rows that a reader gives, each with the batch and the number of the last it took."""
    first = next(batches)
    taken = [(first, 0)]

    def rows() -> Iterator[Row]:
        for batch in chain([first], batches):
            for number, values in enumerate(zip(*batch.values(), strict=True)):
                taken[0] = batch, number
                yield dict(zip(batch, values, strict=True))

    with _failures(point, lambda message: taken[0][0].error(message, taken[0][1])):
        for row in function(rows(), first.path):
            yield *taken[0], row


def _samples(
    path: str, rows: Sequence[Row], lines: Sequence[int] | None, start: int, share: float | None
) -> Samples:
    names = dict.fromkeys(chain.from_iterable(rows))
    columns = {name: [row.get(name) for row in rows] for name in names}
    return Samples(path, columns, lines, start, share, log=True)


@lru_cache(1)
def _row_readers() -> Mapping[EntryPoint, RowReader]:
    """The readers of rows; one that can't be loaded is left out with a warning."""
    readers: dict[EntryPoint, RowReader] = {}
    for point in _entry_points():
        if not point.name.startswith("."):
            try:
                readers[point] = point.load()
            except Exception as error:  # noqa: BLE001  # a plugin's defect
                _warn(point, error)
    return readers


@lru_cache(1)
def _entry_points() -> Sequence[EntryPoint]:
    """The entry points, ours first, which no other replaces."""
    from importlib_metadata import entry_points

    # By their modules, as reading the names of distributions takes long.
    points = entry_points(group="metrichub.readers")
    return sorted(points, key=lambda p: (not p.value.startswith("metrichub."), p.name, p.value))


def _name(point: EntryPoint) -> str:
    return f"{point.dist.name}/{point.name}" if point.dist else point.name


@contextmanager
def _failures(point: EntryPoint, error_of: Callable[[str], FileError]) -> Iterator[None]:
    """Turn what a reader raises into an error of its file.

    The text of a `ValueError` is the cause; anything else is the reader's defect.
    """
    try:
        yield
    except (MetrichubError, OSError, MemoryError):
        raise
    except ValueError as error:
        raise error_of(str(error)) from error
    except Exception as error:
        message = f"the reader {_name(point)} failed: {type(error).__name__}: {error}"
        raise error_of(message) from error


def _warn(point: EntryPoint, error: Exception) -> None:
    logging.getLogger("metrichub").warning(
        "the reader %s is left out: %s: %s", _name(point), type(error).__name__, error
    )
