"""Files as samples: JSONL, JSON, CSV, TSV, Parquet, plain lines; and writing whole or not at all.

Every error names the file and, where there is one, the line (from 1).
"""

from __future__ import annotations

import csv
import difflib
import io
import json
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from metrichub.errors import FileError, MissingDependency, did_you_mean

STDIN = "-"
_FIELD_LIMIT = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Samples(Mapping[str, list[Any]]):
    """The columns of a file by name. `lines` holds the line of every sample, if it has one."""

    path: str
    columns: Mapping[str, list[Any]]
    lines: Sequence[int] | None = field(default=None, repr=False)

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


def read(path: str | Path, *, format: str | None = None) -> Samples:
    """The columns of a file; `format` is its suffix's unless given, "-" is standard input (JSONL).

    A key that some rows of a JSON file lack is None there.

    Raises:
        FileError: no such file, not UTF-8, empty, a broken line, no table.
        MissingDependency: Parquet without pyarrow.
    """
    kind = format or _kind(path)
    if kind not in _READERS:
        raise FileError(_shown(path), f"unknown format {kind!r}{did_you_mean(kind, FORMATS)}")
    samples = _READERS[kind](_shown(path), read_bytes(path))
    if not samples.size:
        raise FileError(_shown(path), "there are no samples in the file")
    return samples


def read_lines(path: str | Path) -> list[str]:
    """The lines of a text file without their line breaks (LF or CRLF); all else is kept."""
    text = _decoded(_shown(path), read_bytes(path))
    lines = text.removesuffix("\n").split("\n")
    return [line.removesuffix("\r") for line in lines]


def read_bytes(path: str | Path) -> bytes:
    """What is in a file or, for "-", in standard input.

    Raises:
        FileError: it can't be read, or is empty.
    """
    try:
        content = sys.stdin.buffer.read() if str(path) == STDIN else Path(path).read_bytes()
    except FileNotFoundError:
        raise FileError(path, f"no such file{_neighbour(Path(path))}") from None
    except IsADirectoryError:
        raise FileError(path, "this is a folder; give a file in it") from None
    except OSError as error:
        raise FileError(path, f"can't be read: {error.strerror or error}") from error
    if not content:
        raise FileError(_shown(path), "the file is empty")
    return content


def write_text(path: str | Path, text: str) -> None:
    """Write a UTF-8 file whole or not at all; what was there stays until then."""
    with replacing(path) as new:
        new.write_text(text, encoding="utf-8", newline="")


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A new path beside `path` to write to; takes its place at the end, or goes with an error."""
    if Path(path).exists() and not Path(path).is_file():
        # A device or pipe such as /dev/stdout is written to: a file must not take its place.
        yield Path(path)
        return
    target = Path(path).resolve()
    new = target.with_name(f".{target.name}.{secrets.token_hex(4)}.new")
    try:
        yield new
        if target.exists():
            shutil.copymode(target, new)
        os.replace(new, target)
    finally:
        new.unlink(missing_ok=True)


def _jsonl(path: str, content: bytes) -> Samples:
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    for number, line in enumerate(_decoded(path, content).split("\n"), 1):
        if not line.strip():
            continue
        row = _loaded(path, line, number)
        if not isinstance(row, dict):
            raise FileError(path, f"this line holds {_kind_of(row)}, not an object {{…}}", number)
        rows.append(row)
        lines.append(number)
    return Samples(path, _columns(rows), lines)


def _json(path: str, content: bytes) -> Samples:
    found = _loaded(path, _decoded(path, content))
    if isinstance(found, dict) and str(found.get("format", "")).startswith("metrichub-report"):
        raise FileError(path, "this is a saved report, not samples; see 'metrichub compare --help'")
    if isinstance(found, dict) and all(isinstance(values, list) for values in found.values()):
        return Samples(path, found)
    if not isinstance(found, list):
        raise FileError(path, f"holds {_kind_of(found)}; a list of objects [{{…}}, …] is needed")
    for number, row in enumerate(found):
        if not isinstance(row, dict):
            raise FileError(path, f"item {number} of the list is {_kind_of(row)}, not an object")
    return Samples(path, _columns(found))


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    keys = dict.fromkeys(key for row in rows for key in row)
    return {key: [row.get(key) for row in rows] for key in keys}


def _loaded(path: str, text: str, line: int | None = None) -> object:
    try:
        found: object = json.loads(text)
    except json.JSONDecodeError as error:
        hint = "; is it JSON Lines? Then give --input-format jsonl" if line is None else ""
        hint = hint if error.msg.startswith("Extra data") else ""
        raise FileError(
            path, f"broken JSON at column {error.colno}: {error.msg}{hint}", line or error.lineno
        ) from None
    except (ValueError, RecursionError) as error:
        raise FileError(path, f"this JSON can't be read: {error}", line) from error
    return found


def _separated(delimiter: str) -> Callable[[str, bytes], Samples]:
    def reader(path: str, content: bytes) -> Samples:
        records = list(_records(path, _decoded(path, content), delimiter))
        if not records:
            raise FileError(path, "the file has no header line")
        (first, head), *rows = records
        if twice := [name for name in head if head.count(name) > 1]:
            raise FileError(path, f"two columns are called {twice[0]!r}", first)
        for line, cells in rows:
            if len(cells) != len(head):
                message = f"{len(cells)} cells, but the header has {len(head)} ({_list(head)})"
                raise FileError(path, message, line)
        columns = {name: [cells[i] for _, cells in rows] for i, name in enumerate(head)}
        return Samples(path, columns, [line for line, _ in rows])

    return reader


def _records(path: str, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Every record with the line it starts on; blank lines are left out."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    limit = csv.field_size_limit(_FIELD_LIMIT)
    start = 1
    try:
        for cells in reader:
            if cells:
                yield start, cells
            start = reader.line_num + 1
    except csv.Error as error:
        raise FileError(
            path, f"{error}; a cell with quotes in it is quoted, and they are doubled", start
        ) from error
    finally:
        csv.field_size_limit(limit)


def _parquet(path: str, content: bytes) -> Samples:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingDependency("reading Parquet", "pyarrow") from None
    try:
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(content))
    except (pyarrow.ArrowException, OSError) as error:
        raise FileError(path, f"no Parquet file: {' '.join(str(error).split())}") from error
    return Samples(path, table.to_pydict())


_READERS: Mapping[str, Callable[[str, bytes], Samples]] = {
    "jsonl": _jsonl,
    "json": _json,
    "csv": _separated(","),
    "tsv": _separated("\t"),
    "parquet": _parquet,
}
FORMATS = tuple(_READERS)
_SUFFIXES = {**{f".{name}": name for name in FORMATS}, ".ndjson": "jsonl"}


def _kind(path: str | Path) -> str:
    if str(path) == STDIN:
        return "jsonl"
    suffix = Path(path).suffix.lower()
    if suffix not in _SUFFIXES:
        if not Path(path).is_file():
            read_bytes(path)
        what = f"unknown suffix {suffix!r}" if suffix else "the name has no suffix"
        plain = "; plain text is given as -p FILE -r FILE" if suffix in ("", ".txt") else ""
        raise FileError(path, f"{what}; known: {_list(_SUFFIXES)} (or --input-format){plain}")
    return _SUFFIXES[suffix]


def _decoded(path: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))
        hint = "it looks like UTF-16; save it as UTF-8" if wide else "save it as UTF-8"
        byte = content[error.start]
        raise FileError(path, f"the text isn't UTF-8 (byte 0x{byte:02x}); {hint}", line) from None


def _shown(path: str | Path) -> str:
    return "<stdin>" if str(path) == STDIN else str(path)


def _neighbour(path: Path) -> str:
    if not path.parent.is_dir():
        return f" (nor a folder {str(path.parent)!r})"
    stems = {other.stem.lower(): other.name for other in path.parent.iterdir()}
    near = difflib.get_close_matches(path.stem.lower(), stems, n=1)
    return f"; did you mean {stems[near[0]]!r}?" if near else ""


def _list(names: Iterable[str]) -> str:
    return ", ".join(names)


def _kind_of(value: object) -> str:
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    return "null" if value is None else kinds.get(type(value), "a number")
