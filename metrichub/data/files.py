"""Files and data sets as samples, plain lines; and writing whole or not at all.

Every error names the file and, where there is one, the line (from 1).
"""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from errno import EISDIR, ELOOP, ENOENT
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, Unpack

from metrichub.data import huggingface
from metrichub.data.formats import TEXT_FORMATS
from metrichub.data.location import PACKED, Location
from metrichub.data.location import STDIN as STDIN
from metrichub.data.parquet import parquet, parquet_folder
from metrichub.data.quoting import Quoting
from metrichub.data.readers import (
    Log,
    file_formats,
    log_of_file,
    log_of_rows,
    read_file,
    with_readers,
)
from metrichub.data.samples import Samples as Samples
from metrichub.data.samples import conditions, in_batches, samples_where
from metrichub.data.source import Source, open_source
from metrichub.data.values import check_mapping, names_of
from metrichub.errors import FileError, InputError, ParameterError, did_you_mean, listed

BATCH_CHARACTERS = 4_000_000
"""About how much of a file is held at a time."""

_FORMATS = (*TEXT_FORMATS, "parquet")
_SUFFIXES = {**{f".{name}": name for name in _FORMATS}, ".ndjson": "jsonl"}

Chosen: TypeAlias = Sequence[str] | Mapping[str, str]
"""The columns to read: their names, or a mapping from new names to those in the file."""
Where: TypeAlias = Mapping[str, str | Sequence[str]]
"""Which samples to read: by column the value that they have, or several, as texts."""


class ReadOptions(TypedDict, total=False):
    """The options of `metrichub.read`."""

    format: str | None
    columns: Chosen | None
    where: Where | None
    quoting: Quoting | None


def read_samples(path: str | Path, **options: Unpack[ReadOptions]) -> Samples:
    """The samples of one file or table, which `metrichub.read` reads too."""
    return as_one(list(read_batches(path, characters=sys.maxsize, **options)))


def read_batches(
    path: str | Path,
    *,
    format: str | None = None,
    columns: Chosen | None = None,
    where: Where | None = None,
    quoting: Quoting | None = None,
    characters: int = BATCH_CHARACTERS,
) -> Iterator[Samples]:
    """The samples of a file in batches of about so many characters, to save memory.

    Takes what `read` takes; only JSON is read whole. A key counts from the batch in which it first
    appears; from there on, rows without it have None. Filter the batches, and pass the rest to a
    hub: `hub.evaluate(wanted(part) for part in read_batches(path))`.

    Raises:
        FileError, MissingColumn, MissingDependency: as `read`; a missing file at once, everything
            else when the batch is read.
    """
    chosen = _by_new_name(columns)
    location = Location.of(path)
    if quoting not in (None, "standard", "none"):
        raise ParameterError(None, "quoting", quoting, "'standard' or 'none'")
    if quoting and (format or format_of(location)) not in ("csv", "tsv"):
        raise FileError(location.shown, "isn't CSV or TSV, so no quoting can be chosen")
    if location.kind == "data set":
        rows = huggingface.read_address(location.text)
        return _selected(samples_where(rows, where or {}), chosen)
    if format is None and os.path.isdir(path):
        return _selected(_folder(Path(path), characters, chosen, where), chosen)
    kind = _kind(location, format)
    location.check()
    paths = None if chosen is None or where else list(chosen.values())
    batches = _batches(location, kind, characters, paths, where=where, quoting=quoting)
    return _selected(_not_empty(location.shown, "file", batches, where), chosen)


def read_chosen(
    path: str | Path, where: Where, format: str | None = None, quoting: Quoting | None = None
) -> Samples | None:
    """The samples of a file that conditions choose, as `read` gives them; None if it has none."""
    location = Location.of(path)
    kind = _kind(location, format)
    parts = list(_batches(location, kind, sys.maxsize, where=where, quoting=quoting))
    return as_one(parts) if any(part.size for part in parts) else None


def read_log(
    path: str | Path, *, format: str | None = None, quoting: Quoting | None = None
) -> Log | None:
    """The description of a log of another tool, by its first row; None for any other file.

    Raises:
        FileError, MissingDependency: as `read`.
    """
    location = Location.of(path)
    kind = _kind(location, format)
    with open_source(location) as opened:
        if kind in file_formats():
            return log_of_file(kind, opened)
        batches = _rows(kind, opened, 1, quoting=quoting)
        return next((log_of_rows(first) for first in batches if first.size), None)


def read_bounded(
    path: str | Path, format: str, most: int, characters: int = BATCH_CHARACTERS
) -> Iterator[Samples]:
    """The samples of a file from an untrusted source, as `read_batches` gives them.

    Raises:
        FileError: what `read_batches` raises; unpacked it has more than `most` bytes.
    """
    location = Location.of(path)
    batches = _batches(location, format, characters, most=most)
    return _not_empty(location.shown, "file", batches, None)


def formats() -> tuple[str, ...]:
    """The formats of files, those that plugins read too."""
    return (*_FORMATS, *file_formats())


def format_of(path: str | Path | Location) -> str | None:
    """The format that a file's name says, compressed or not; None where it says none."""
    suffix = Location.of(path).suffix
    return _SUFFIXES.get(suffix) or next((f for f in file_formats() if suffix == f".{f}"), None)


def _kind(location: Location, format: str | None) -> str:
    """The format of a file: the one that was chosen, or that its name says.

    Raises:
        FileError: there is no such format, or the name says none; or no file.
    """
    if format is not None and format not in formats():
        near = did_you_mean(format, formats())
        raise FileError(location.shown, f"unknown format {format!r}{near}")
    if kind := format or ("jsonl" if location.kind == "stdin" else format_of(location)):
        return kind
    location.check()
    suffix = location.suffix
    what = f"unknown suffix {suffix!r}" if suffix else "the name has no suffix"
    suffixes = ", ".join([*_SUFFIXES, *(f".{name}" for name in file_formats())])
    error = FileError(
        location.shown, f"{what}; known: {suffixes}, each also with {listed(PACKED, 'or')}"
    )
    raise error.with_remedy("name_any_format")


def as_one(parts: Sequence[Samples]) -> Samples:
    """All batches of a file as one."""
    first, *others = parts
    if not others:
        return first
    columns = {name: [value for part in parts for value in part[name]] for name in parts[-1]}
    return Samples(
        first.path,
        columns,
        cells=first.cells,
        quotes=first.quotes,
        classes=first.classes,
    )


def _batches(
    location: Location,
    kind: str,
    characters: int,
    paths: Sequence[str] | None = None,
    *,
    most: int | None = None,
    where: Where | None = None,
    quoting: Quoting | None = None,
) -> Iterator[Samples]:
    """The samples of a file, as the reader of its format or of its rows gives them."""
    with open_source(location, most) as opened:
        if kind in _FORMATS:
            rows = _rows(kind, opened, characters, paths, most, quoting)
            yield from with_readers(rows, where)
        else:
            yield from samples_where(read_file(kind, opened, characters), where or {})


def _rows(
    kind: str,
    opened: Source,
    characters: int,
    paths: Sequence[str] | None = None,
    most: int | None = None,
    quoting: Quoting | None = None,
) -> Iterator[Samples]:
    """The rows of a file as they are written."""
    if kind == "parquet":
        return parquet(opened, characters, paths, most)
    return TEXT_FORMATS[kind](opened, characters, quoting)


def _folder(
    folder: Path, characters: int, columns: Mapping[str, str] | None, where: Where | None
) -> Iterator[Samples]:
    paths = None if where or columns is None else list(columns.values())
    if huggingface.is_saved(folder):
        batches = huggingface.read_saved(folder)
    else:
        batches = parquet_folder(folder, characters, paths)
    return _not_empty(str(folder), "folder", samples_where(batches, where or {}), where)


def _not_empty(
    name: str, what: str, batches: Iterable[Samples], where: Where | None
) -> Iterator[Samples]:
    empty = True
    for samples in batches:
        if samples.size:
            empty = False
            yield samples
    if empty:
        chosen = conditions(where or {})
        raise FileError(name, f"the {what} has no samples{chosen and f' with {chosen}'}")


def _by_new_name(columns: Chosen | None) -> Mapping[str, str] | None:
    """The chosen columns by the names that they get."""
    if columns is None:
        return None
    if isinstance(columns, str):
        raise InputError(f"columns is one string; pass a list, columns=[{columns!r}]")
    if isinstance(columns, Mapping):
        check_mapping(columns)
        return columns
    return {name: name for name in names_of("columns", columns)}


def _selected(batches: Iterator[Samples], columns: Mapping[str, str] | None) -> Iterator[Samples]:
    """The batches with the chosen columns alone."""
    return batches if columns is None else (samples.choose(columns) for samples in batches)


def read_columns(
    columns: Mapping[str, Sequence[str]], *, characters: int = BATCH_CHARACTERS
) -> Iterator[Samples]:
    """The samples of plain text files in batches: line i of each file belongs to sample i.

    `columns` names the files of every column; several are several texts per sample.

    Raises:
        FileError: a file can't be read, a missing one at once.
        InputError: the files have unequal numbers of lines.
    """
    paths = list(dict.fromkeys(path for paths in columns.values() for path in paths))
    for path in paths:
        Location.of(path).check()
    return _line_batches(columns, paths, characters)


def read_texts(
    systems: Mapping[str, str], columns: Mapping[str, Sequence[str]]
) -> dict[str, Iterable[Samples]]:
    """The samples of each system, by its file of predictions, with the columns that all share.

    The files are as `read_columns` takes them. Those of several systems are read at once, so that
    each is read once, and none differs from another in its number of lines.

    Raises:
        FileError, InputError: as `read_columns`; for several systems at once.
    """
    if len(systems) == 1:
        return {name: read_columns({"predictions": [p], **columns}) for name, p in systems.items()}
    # A number isn't the name of a column.
    by_number = {str(i): [path] for i, path in enumerate(systems.values())}
    (samples,) = read_columns({**by_number, **columns}, characters=sys.maxsize)
    shared = {column: samples[column] for column in columns}
    return {
        name: [replace(samples, path=path, columns={"predictions": samples[str(i)], **shared})]
        for i, (name, path) in enumerate(systems.items())
    }


def _line_batches(
    columns: Mapping[str, Sequence[str]], paths: Sequence[str], characters: int
) -> Iterator[Samples]:
    path = next(iter(columns.values()))[0]
    first = "stdin" if path == STDIN else path
    start = 0
    for rows in in_batches(_lines_of(paths), characters, lambda row: sum(map(len, row))):
        read = dict(zip(paths, map(list, zip(*rows, strict=True)), strict=True))
        values: dict[str, list[Any]] = {}
        for name, files in columns.items():
            several = zip(*(read[path] for path in files), strict=True)
            values[name] = list(several) if len(files) > 1 else read[files[0]]
        yield Samples(first, values, range(start + 1, start + len(rows) + 1), start, None)
        start += len(rows)


def _lines_of(paths: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Line i of every file, for all i."""
    counts = [0] * len(paths)
    with ExitStack() as stack:
        files = [stack.enter_context(open_source(path)).lines() for path in paths]
        for row in zip_longest(*files):
            counts = [count + (line is not None) for count, line in zip(counts, row, strict=True)]
            if None not in row and len(set(counts)) == 1:
                yield row
    if len(set(counts)) > 1:
        names = ("stdin" if path == STDIN else path for path in paths)
        lengths = ", ".join(f"{n} has {count}" for n, count in zip(names, counts, strict=True))
        raise InputError(
            f"the files differ in their numbers of lines: {lengths}; line i of each is sample i"
        )


def write_text(path: str | Path, text: str | Iterable[str]) -> None:
    """Write a text, or its parts, whole or not at all; what was there stays until then."""
    with replacing(path) as new, new.open("w", encoding="utf-8", newline="") as file:
        file.writelines([text] if isinstance(text, str) else text)


def check_folder(path: str | Path) -> None:
    """Raise an `OSError` if the path is a folder, or there is none to write the file to.

    Of a remote file no more is known than whether such files can be written.
    """
    location = Location.of(path)
    if location.kind == "remote":
        location.check_writable()
        return
    target = Path(path)
    if target.is_symlink():
        target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(ELOOP, "is a symbolic link that leads to itself", str(path))
    if target.is_dir():
        raise IsADirectoryError(EISDIR, "is a folder; name a file in it", str(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(ENOENT, f"there is no folder {str(target.parent)!r}", str(path))


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A new path beside `path` to write to; takes its place at the end, or goes with an error.

    That of a remote file is on this machine, and is copied at the end.
    """
    check_folder(path)
    location = Location.of(path)
    if location.kind == "remote":
        with tempfile.TemporaryDirectory() as folder:
            new = Path(folder, "new")
            yield new
            location.upload(new)
        return
    target = Path(path).resolve()
    new = target.with_name(f".{target.name}.{secrets.token_hex(4)}.new")
    if Path(path).exists() and not Path(path).is_file():
        # A device or pipe such as /dev/stdout is written to: a file must not take its place.
        new = target = Path(path)
    try:
        yield new
        if new != target:
            if target.exists():
                shutil.copymode(target, new)
            os.replace(new, target)
    except OSError as error:
        # A full disk names no file, and nobody knows the new one.
        if error.filename in (None, str(new)) and error.errno is not None:
            raise type(error)(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        if new != target:
            new.unlink(missing_ok=True)
