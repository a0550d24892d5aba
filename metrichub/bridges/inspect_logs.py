"""Reader of logs of inspect: `.eval`, an archive read sample by sample, and `.json`."""

from __future__ import annotations

import io
import json
import logging
import re
import struct
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from metrichub.data.columns import TEXT, column_of_alias
from metrichub.errors import MissingDependency

Row = dict[str, Any]

_ZSTD = 93
"""The compression of ZIP archives that Python's own `zipfile` reads since 3.14 alone."""
_HEADER = struct.Struct("<26xHH")
_MEMBER = re.compile(r"samples/(.*)_epoch_(\d+)\.json", re.DOTALL)
_VALUES = {"C": True, "I": False, "N": False, "P": 0.5, "yes": True, "no": False}
"""What inspect's words stand for; its letters are correct, incorrect, no answer, partial."""
_ATTACHED = re.compile(r"attachment://([0-9a-f]{32})")


def matches(row: Row) -> bool:
    """Whether this is a `.json` log."""
    return row.keys() >= {"version", "status", "eval"} and "dataset" in row["eval"]


def describe(log: Row, path: str) -> dict[str, Any]:
    """The model, the task and the scores of a log, or of an archive's header."""
    about = log["eval"]
    recorded: dict[str, dict[str, str]] = {}
    for score in (log.get("results") or {}).get("scores", ()):
        known = {"better": "higher"} if "accuracy" in score.get("metrics", {}) else {}
        recorded.setdefault(_column(score["scorer"], score["name"]), known)
    return {"model": about.get("model"), "task": about.get("task"), "recorded": recorded}


def read(rows: Iterator[Row], path: str) -> Iterator[Row]:
    """The samples of a `.json` log in the order of inspect.

    Raises:
        ValueError: it has none.
    """
    for log in rows:
        samples = log.get("samples")
        if not samples:
            raise ValueError(f"this inspect log has no samples (status: {log['status']})")
        samples = sorted(samples, key=lambda s: (s["epoch"], _in_order(str(s["id"]))))
        yield from filter(None, _rows(samples, len(samples), path))


class Archive:
    """The samples of an `.eval` file in the order of inspect, None for one that failed.

    Raises:
        ValueError: it isn't a log of inspect.
    """

    def __init__(self, file: BinaryIO, path: str) -> None:
        self._path = path
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, ValueError, struct.error) as error:
            raise ValueError(f"this isn't a readable inspect log: {error}") from error
        # Of a sample that was run again, the last run counts.
        self._members = {info.filename: info for info in self._zip.infolist()}
        if not self._members.keys() & {"header.json", "_journal/start.json"}:
            raise ValueError("this archive isn't an inspect log")
        members = {name: _MEMBER.fullmatch(name) for name in self._members}
        places = {name: (int(m[2]), _in_order(m[1])) for name, m in members.items() if m}
        self._names = sorted(places, key=places.__getitem__)

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[Row | None]:
        return _rows(map(self.sample, self._names), len(self), self._path)

    def describe(self) -> dict[str, Any]:
        """The model, the task and the scores."""
        finished = "header.json" in self._members
        return describe(self.sample("header.json" if finished else "_journal/start.json"), "")

    def sample(self, name: str) -> Row:
        """What inspect has written of the sample in a member."""
        try:
            sample: Row = json.loads(self._content(self._members[name]))
        except (OSError, ValueError, zipfile.BadZipFile, struct.error) as error:
            raise ValueError(f"its member {name} is damaged: {error}") from error
        return sample

    def _content(self, member: zipfile.ZipInfo) -> bytes:
        if member.compress_type != _ZSTD:
            return self._zip.read(member)
        try:
            import pyarrow
        except ImportError:
            raise MissingDependency("reading inspect logs", "pyarrow") from None
        stream: Any = self._zip.fp
        stream.seek(member.header_offset)
        names = sum(_HEADER.unpack(stream.read(_HEADER.size)))
        stream.seek(names, io.SEEK_CUR)
        packed = pyarrow.BufferReader(stream.read(member.compress_size))
        content: bytes = pyarrow.input_stream(packed, compression="zstd").read()
        return content


def _in_order(name: str) -> str:
    return name.zfill(20) if name.isdecimal() else name


def _rows(samples: Iterable[Row], expected: int, path: str) -> Iterator[Row | None]:
    """The rows of samples; None for each that ended in an error, and at the end a warning."""
    failed = 0
    for sample in samples:
        failed += bool(sample.get("error"))
        yield None if sample.get("error") else _row(sample)
    if failed:
        logging.getLogger("metrichub").warning(
            "%s: left out %d of %d samples, which ended in an error", path, failed, expected
        )


def _row(sample: Mapping[str, Any]) -> dict[str, Any]:
    """A sample's texts, messages, id, epoch, choices and scores, and what is short of its metadata.

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
    if sample.get("choices"):
        own["choices"] = [_resolved(choice, attached) for choice in sample["choices"]]
    if sample.get("messages"):
        own["messages"] = _resolved(sample["messages"], attached)
    known = {
        name: value
        for name, value in (sample.get("metadata") or {}).items()
        if isinstance(value, (str, int, float)) and column_of_alias(name) not in TEXT
    }
    return {**known, **dict(_scores(sample)), **own}


def _scores(sample: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What each scorer recorded; several values of one are named after it and their keys."""
    for scorer, score in (sample.get("scores") or {}).items():
        value = score.get("value")
        for name, one in value.items() if isinstance(value, Mapping) else ((scorer, value),):
            yield _column(scorer, name), _VALUES.get(one, one) if isinstance(one, str) else one


def _column(scorer: str, name: str) -> str:
    """The column of a score, which isn't taken for a text or for the choices."""
    column = scorer if name == scorer else f"{scorer}.{name}"
    return f"score.{column}" if column_of_alias(column) in (*TEXT, "choice", "choices") else column


def _completion(output: Mapping[str, Any]) -> str:
    if isinstance(output.get("completion"), str):
        return str(output["completion"])
    choices = output.get("choices") or []
    return _text_of_message(choices[0]["message"]) if choices else ""


def _text_of_input(messages: Any) -> str:
    """The input, or what the user said last."""
    if isinstance(messages, str):
        return messages
    texts = [
        _text_of_message(message) for message in messages or () if message.get("role") == "user"
    ]
    return texts[-1] if texts else ""


def _text_of_message(message: Mapping[str, Any]) -> str:
    content = message.get("content", "")
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part.get("type") == "text")


def _resolved(value: Any, attached: Mapping[str, str]) -> Any:
    """A value whose texts have what was stored beside them for its length."""
    if isinstance(value, list):
        return [_resolved(item, attached) for item in value]
    if isinstance(value, Mapping):
        return {name: _resolved(item, attached) for name, item in value.items()}
    if not isinstance(value, str):
        return value
    return _ATTACHED.sub(lambda match: attached.get(match[1], match[0]), value)
