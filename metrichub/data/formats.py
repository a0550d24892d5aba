"""Formats of text: JSONL, JSON, CSV and TSV as streams of samples.

Each format is a function of an open source, about how many characters of it a batch holds, and how
cells are quoted.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

from metrichub.data.columns import ALIASES, column_of_alias
from metrichub.data.quoting import Quoting, next_record, tsv_quoting
from metrichub.data.readers import is_log, known_logs
from metrichub.data.samples import Samples, in_batches
from metrichub.data.source import Chunk, Source
from metrichub.errors import FileError
from metrichub.text.cells import DECODER, DuplicateKey

TextFormat = Callable[[Source, int, Quoting | None], Iterator[Samples]]
_FIELD_LIMIT = 2**31 - 1
MOST_COLUMNS = 1000
"""More columns than any table of texts has."""


_SPREAD = "; each line has to hold one whole object: if the file is pretty-printed, use 'jq -c .'"


class _Row(NamedTuple):
    """A sample, the line it starts on, and what the file's share and its size are about here."""

    values: Any
    line: int
    characters: int
    share: float | None


_CHARACTERS = attrgetter("characters")


def _jsonl(source: Source, characters: int, _: Quoting | None) -> Iterator[Samples]:
    chunks = source.chunks()
    for first in chunks:
        if first.text.lstrip().startswith("["):
            # No line that is an object begins so: the file is one list.
            text = "\n" * (first.line - 1) + "".join([first.text, *(c.text for c in chunks)])
            yield _table(source, text)
            return
        if first.text.strip():
            break
    keys: dict[str, None] = {}
    start = 0
    for rows in in_batches(_objects(source, chain([first], chunks)), characters, _CHARACTERS):
        for row in rows:
            keys |= dict.fromkeys(row.values)
            check_width(source.name, len(keys), row.line)
        columns = _columns([row.values for row in rows], keys)
        yield _samples(source, columns, rows, start)
        start += len(rows)


def _objects(source: Source, chunks: Iterable[Chunk]) -> Iterator[_Row]:
    for piece in chunks:
        for number, line in enumerate(piece.text.split("\n"), piece.line):
            if not line.strip():
                continue
            row = _loaded(source, line, number)
            if not isinstance(row, dict):
                raise source.error(f"this line holds {_kind_of(row)}, not an object {{…}}", number)
            yield _Row(row, number, len(line), piece.share)


def _json(source: Source, characters: int, _: Quoting | None) -> Iterator[Samples]:
    """The whole file at once, as JSON can't be cut."""
    yield _table(source, source.text())


def _table(source: Source, text: str) -> Samples:
    content = _loaded(source, text)
    if isinstance(content, dict) and str(content.get("format", "")).startswith("metrichub-report"):
        raise _other(source, "this is a saved report, not samples").with_remedy("open_report")
    if isinstance(content, dict) and is_log(content):
        content = [content]
    if isinstance(content, dict):
        content = _rows_in(content)
    if isinstance(content, dict) and all(isinstance(values, list) for values in content.values()):
        check_width(source.name, len(content))
        return Samples(source.name, content)
    if not isinstance(content, list):
        log = f", nor a log of {known_logs()}" if isinstance(content, dict) else ""
        raise _other(source, f"holds {_kind_of(content)}, not a list of objects [{{…}}, …]{log}")
    keys: dict[str, None] = {}
    for number, row in enumerate(content):
        if not isinstance(row, dict):
            raise _other(source, f"item {number} of the list is {_kind_of(row)}, not an object")
        keys |= dict.fromkeys(row)
        check_width(source.name, len(keys))
    return Samples(source.name, _columns(content, keys))


def _other(source: Source, message: str) -> FileError:
    error = source.error(message)
    error.whole = True
    return error


def _rows_in(content: dict[str, Any]) -> object:
    """The rows or columns in one of the forms in which tools write a table; others as they are.

    These are one list of rows beside what tells of them, {"results": [{…}, …], "model": …};
    {"columns": [name, …], "data": [[cell, …], …]}; and rows or columns by their names, {id: {…}}.
    """
    lists = {n: rows for n, rows in content.items() if isinstance(rows, list) and rows}
    of_rows = [name for name, rows in lists.items() if all(isinstance(r, dict) for r in rows)]
    beside = len(lists) == 1 or not all(isinstance(value, list) for value in content.values())
    if len(of_rows) == 1 and beside and column_of_alias(of_rows[0]) not in ALIASES:
        return lists[of_rows[0]]
    names, rows = lists.get("columns", []), lists.get("data", [])
    named = all(isinstance(name, str) for name in names)
    if names and named and rows and all(isinstance(r, list) and len(r) == len(names) for r in rows):
        return [dict(zip(names, row, strict=True)) for row in rows]
    if content and all(isinstance(value, dict) and value for value in content.values()):
        # pandas' to_json writes columns, by the rows' names.
        if not any(column_of_alias(name) in ALIASES for name in content):
            return [{"id": name, **row} for name, row in content.items()]
        if len({tuple(cells) for cells in content.values()}) == 1:
            return {name: [*column.values()] for name, column in content.items()}
    return content


def check_width(name: str, columns: int, line: int | None = None) -> None:
    """Raise `FileError` for more columns than are read: each costs time and memory in all rows."""
    if columns > MOST_COLUMNS:
        raise FileError(
            name,
            f"{columns:,} columns are too many (the limit is {MOST_COLUMNS:,}); save a copy "
            "with only the columns that the metrics need",
            line,
        )


def _columns(rows: Sequence[Mapping[str, Any]], keys: Iterable[str]) -> dict[str, list[Any]]:
    return {key: [row.get(key) for row in rows] for key in keys}


def _loaded(source: Source, text: str, line: int | None = None) -> object:
    try:
        value: object = DECODER.decode(text)
    except json.JSONDecodeError as error:
        spread = line is not None and error.pos >= len(text.rstrip())
        message = f"broken JSON at column {error.colno}: {error.msg}{_SPREAD if spread else ''}"
        broken = source.error(message, line or error.lineno)
        kind = format = ""
        if line is None and error.msg.startswith("Extra data") and text.lstrip()[0] != "[":
            kind, format = "JSON Lines", "jsonl"
        elif line == 1 and error.pos == 0 and source.size is None:
            kind, format = "CSV", "csv"
        elif spread:
            kind, format = "one object", "json"
        raise (broken.with_remedy("name_format", kind, format) if format else broken) from None
    except DuplicateKey as error:
        raise source.error(
            f"an object has the key {error.args[0]!r} twice; keep one", line
        ) from None
    except (ValueError, RecursionError) as error:
        raise source.error(f"this JSON can't be read: {error}", line) from error
    return value


def _csv(source: Source, characters: int, quoting: Quoting | None) -> Iterator[Samples]:
    return _separated(source, characters, ",", quoting or "standard")


def _tsv(source: Source, characters: int, quoting: Quoting | None) -> Iterator[Samples]:
    if quoting:
        yield from _separated(source, characters, "\t", quoting)
        return
    with source.read_before(lambda chunks: tsv_quoting(chunk.text for chunk in chunks)) as how:
        for samples in _separated(source, characters, "\t", how[0]):
            yield replace(samples, quotes=how[1])


def _separated(
    source: Source, characters: int, delimiter: str, quoting: Quoting
) -> Iterator[Samples]:
    records = _records(source, delimiter, quoting)
    first = next(records, None)
    if first is None:
        raise source.error("the file has no header line")
    head = first.values
    if delimiter == "," and len(head) == 1:
        for mark, marks in {"\t": "tabs", "|": "bars"}.items():
            if mark in head[0]:
                tabs = ", or name it .tsv" if mark == "\t" else ""
                raise source.error(
                    f"the header {head[0]!r} seems to be separated by {marks}; save "
                    f"it with commas{tabs}",
                    first.line,
                )
    check_width(source.name, len(head), first.line)
    if twice := [name for name, count in Counter(head).items() if count > 1]:
        raise source.error(f"two columns are called {twice[0]!r}", first.line)
    start = 0
    for rows in in_batches(_rows_as_wide(source, records, head), characters, _CHARACTERS):
        columns: dict[str, list[Any]] = {
            name: [row.values[i] for row in rows] for i, name in enumerate(head)
        }
        yield replace(_samples(source, columns, rows, start), cells=True)
        start += len(rows)


def _rows_as_wide(source: Source, records: Iterable[_Row], head: Sequence[str]) -> Iterator[_Row]:
    for row in records:
        if len(row.values) != len(head):
            cells = f"{len(row.values)} cells under a header of {len(head)}"
            raise source.error(f"{cells} ({', '.join(head)})", row.line)
        yield row


def _records(source: Source, delimiter: str, quoting: Quoting) -> Iterator[_Row]:
    """Every record with the line it starts on; blank lines are left out."""
    share: float | None = None

    def lines() -> Iterator[str]:
        nonlocal share
        for piece in source.chunks():
            share = piece.share
            yield from io.StringIO(piece.text, newline="")

    quotes: Any = csv.QUOTE_NONE if quoting == "none" else csv.QUOTE_MINIMAL
    every = lines()
    head = next(every, "")
    # Spreadsheets write semicolons where the comma is the decimal mark.
    if delimiter == "," and "," not in head:
        names = next_record(csv.reader([head], delimiter=";", quoting=quotes), _FIELD_LIMIT) or []
        delimiter = ";" if len(names) > 1 else delimiter
    reader = csv.reader(chain([head], every), delimiter=delimiter, quoting=quotes, strict=True)
    start = 1
    try:
        while (cells := next_record(reader, _FIELD_LIMIT)) is not None:
            if cells:
                yield _Row(cells, start, sum(map(len, cells)), share)
            start = reader.line_num + 1
    except csv.Error as error:
        broken = source.error(
            f"{error}; quote a cell that contains quotes, and double those inside", start
        )
        raise broken.with_remedy("read_quotes") from error


def _samples(
    source: Source, columns: Mapping[str, list[Any]], rows: Sequence[_Row], start: int
) -> Samples:
    return Samples(source.name, columns, [row.line for row in rows], start, rows[-1].share)


def _kind_of(value: object) -> str:
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    return "null" if value is None else kinds.get(type(value), "a number")


TEXT_FORMATS: Mapping[str, TextFormat] = {
    "jsonl": _jsonl,
    "json": _json,
    "csv": _csv,
    "tsv": _tsv,
}
