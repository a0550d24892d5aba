"""Logs of inspect as samples: `.eval`, an archive read sample by sample, and `.json`."""

from __future__ import annotations

import io
import json
import logging
import re
import struct
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from metrichub.data.columns import TEXT, column_of_alias
from metrichub.data.rows import Samples
from metrichub.data.stream import Source
from metrichub.errors import FileError, MissingDependency

_ZSTD = 93
"""The compression of ZIP archives that Python's own `zipfile` reads since 3.14 alone."""
_HEADER = struct.Struct("<26xHH")
_MEMBER = re.compile(r"samples/(.*)_epoch_(\d+)\.json", re.DOTALL)
_ATTACHED = re.compile(r"attachment://([0-9a-f]{32})")


def inspect_archive(source: Source, characters: int) -> Iterator[Samples]:
    """The samples of an `.eval` file in the order of inspect, a few at a time.

    Raises:
        FileError: it is no log of inspect.
    """
    stream = source.stream if source.size else io.BytesIO(source.content())
    try:
        with zipfile.ZipFile(stream) as archive:
            # Of a sample that was run again, the last run counts.
            members = {info.filename: info for info in archive.infolist()}
            found = {name: _MEMBER.fullmatch(name) for name in members}
            places = {name: (int(m[2]), _in_order(m[1])) for name, m in found.items() if m}
            if "header.json" not in members and "_journal/start.json" not in members:
                raise source.error("this archive isn't an inspect log")
            samples = (
                json.loads(_content(source, archive, members[name]))
                for name in sorted(places, key=places.__getitem__)
            )
            yield from _batches(source, samples, len(places), characters)
    except FileError:
        raise
    except (zipfile.BadZipFile, ValueError, struct.error) as error:
        raise source.error(f"this isn't a readable inspect log: {error}") from error


def inspect_log(
    source: Source, document: Mapping[str, Any], characters: int
) -> Iterator[Samples] | None:
    """The samples of a `.json` log in the order of inspect; None if the document is none.

    Raises:
        FileError: it has no samples.
    """
    if not {"version", "status", "eval"} <= document.keys() or "dataset" not in document["eval"]:
        return None
    samples = document.get("samples")
    if not samples:
        raise source.error(f"this inspect log has no samples (status: {document['status']})")
    samples = sorted(samples, key=lambda s: (s["epoch"], _in_order(str(s["id"]))))
    return _batches(source, samples, len(samples), characters)


def _in_order(name: str) -> str:
    return name.zfill(20) if name.isdecimal() else name


def _content(source: Source, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    if member.compress_type != _ZSTD:
        return archive.read(member)
    try:
        import pyarrow
    except ImportError:
        raise MissingDependency("reading inspect logs", "pyarrow") from None
    stream: Any = archive.fp
    stream.seek(member.header_offset)
    names = sum(_HEADER.unpack(stream.read(_HEADER.size)))
    stream.seek(names, io.SEEK_CUR)
    packed = pyarrow.BufferReader(stream.read(member.compress_size))
    try:
        content: bytes = pyarrow.input_stream(packed, compression="zstd").read()
    except OSError as error:
        raise source.error(f"its member {member.filename} is damaged: {error}") from error
    return content


def _batches(
    source: Source, samples: Iterable[Mapping[str, Any]], expected: int, characters: int
) -> Iterator[Samples]:
    rows: list[dict[str, Any]] = []
    failed = start = size = 0
    for done, sample in enumerate(samples, 1):
        if sample.get("error"):
            failed += 1
            continue
        rows.append(_row(sample))
        size += len(str(rows[-1]))
        if size >= characters:
            yield _samples(source, rows, start, done / expected)
            start, size, rows = start + len(rows), 0, []
    if rows:
        yield _samples(source, rows, start, 1.0)
    if failed:
        logging.getLogger("metrichub").warning(
            "%s: left out %d of %d samples, which ended in an error", source.name, failed, expected
        )


def _samples(source: Source, rows: list[dict[str, Any]], start: int, share: float) -> Samples:
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    return Samples(source.name, columns, None, start, share)


def _row(sample: Mapping[str, Any]) -> dict[str, Any]:
    """A sample's texts, its id and epoch, and what its metadata say in few words.

    Names by which texts are found are left to the texts: a "summary" in the metadata isn't what
    was generated.
    """
    texts = {
        "questions": _text_of_input(sample.get("input")),
        "predictions": _completion(sample.get("output") or {}),
        "references": sample.get("target", ""),
    }
    attached = sample.get("attachments") or {}
    texts = {name: _resolved(text, attached) for name, text in texts.items()}
    own = {"id": sample["id"], "epoch": sample["epoch"], **texts}
    known = {
        name: value
        for name, value in (sample.get("metadata") or {}).items()
        if isinstance(value, (str, int, float)) and column_of_alias(name) not in TEXT
    }
    return {**known, **own}


def _completion(output: Mapping[str, Any]) -> str:
    if isinstance(output.get("completion"), str):
        return str(output["completion"])
    choices = output.get("choices") or []
    return _text_of_message(choices[0]["message"]) if choices else ""


def _text_of_input(given: Any) -> str:
    """The input, or what the user said last."""
    if isinstance(given, str):
        return given
    said = [_text_of_message(message) for message in given or () if message.get("role") == "user"]
    return said[-1] if said else ""


def _text_of_message(message: Mapping[str, Any]) -> str:
    content = message.get("content", "")
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part.get("type") == "text")


def _resolved(text: Any, attached: Mapping[str, str]) -> Any:
    """The text with what was stored beside it for its length; each of a list."""
    if isinstance(text, list):
        return [_resolved(item, attached) for item in text]
    return _ATTACHED.sub(lambda found: attached.get(found[1], found[0]), str(text))
