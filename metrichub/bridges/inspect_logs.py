"""Reader of logs of inspect: `.eval`, an archive read sample by sample, and `.json`."""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from metrichub.bridges._log_files import score_column, warn
from metrichub.data.columns import TEXT, column_of_alias
from metrichub.data.readers import Row
from metrichub.data.source import MAX_UNPACKED, most_unpacked, too_large
from metrichub.errors import MissingDependency

_ZSTD = 93
"""The compression of ZIP archives that Python's own `zipfile` reads since 3.14 alone."""
_HEADER = struct.Struct("<26xHH")
_MEMBER = re.compile(r"samples/(.*)_epoch_(\d+)\.json", re.DOTALL)
_VALUES = {"C": True, "I": False, "N": False, "P": 0.5, "yes": True, "no": False}
"""The values of inspect's words; its letters are correct, incorrect, no answer, partial."""
_MEAN = "mean"
"""The reducer of logs that name none."""
_ATTACHED = re.compile(r"attachment://([0-9a-f]{32})")


def matches(row: Row) -> bool:
    """Whether this is a `.json` log."""
    about = row.get("eval")
    return "status" in row and isinstance(about, Mapping) and about.keys() >= {"dataset", "task"}


def describe(log: Row, path: str) -> dict[str, Any]:
    """The model, the task and the scores of a log.

    Raises:
        ValueError: it has no samples.
    """
    return _described(log, _numbers_of(log, _samples(log)))


def read(rows: Iterator[Row], path: str) -> Iterator[Row]:
    """The samples of a `.json` log in the order of inspect.

    Raises:
        ValueError: it has none.
    """
    for log in rows:
        samples = _samples(log)
        numbers = _numbers_of(log, samples)
        yield from filter(None, _rows(samples, len(samples), path, numbers))


def _samples(log: Row) -> list[Row]:
    if not log.get("samples"):
        raise _no_samples(log)
    return sorted(log["samples"], key=lambda s: (s["epoch"], _in_order(str(s["id"]))))


def _no_samples(log: Row) -> ValueError:
    return ValueError(f"this inspect log has no samples (status: {log.get('status', 'started')})")


def _numbers_of(log: Row, samples: list[Row]) -> _Numbers:
    return _Numbers(log, samples[-1]["epoch"], _reductions(log))


def _reductions(log: Row) -> list[Row]:
    reductions = log.get("reductions") or (log.get("results") or {}).get("sample_reductions")
    return list(reductions or ())


def _described(log: Row, numbers: _Numbers) -> dict[str, Any]:
    return {
        "model": log["eval"].get("model"),
        "task": log["eval"].get("task"),
        "recorded": numbers.recorded,
        "reported": numbers.reported,
    }


class _Numbers:
    """The columns of what inspect recorded.

    Where samples have several epochs, inspect reduces the scores of each to one, by one or several
    reducers, before it takes the mean. These are columns of their own, such as `match.mode`.

    Attributes:
        recorded: What is known of each column.
        reported: The scores of all samples, by column.
        reduced: By id, the numbers of a sample to which its epochs were reduced.
    """

    def __init__(self, log: Row, epochs: int, reductions: Iterable[Row]) -> None:
        self.recorded: dict[str, dict[str, str]] = {}
        self.reported: dict[str, dict[str, float]] = {}
        self.reduced: dict[str, Row] = {}
        by_reducer = set()
        for reduction in reductions if epochs > 1 else ():
            scorer, reducer = reduction["scorer"], reduction.get("reducer")
            by_reducer.add((scorer, reducer))
            for sample in reduction["samples"]:
                values = _values(scorer, sample.get("value"), reducer or _MEAN)
                self.reduced.setdefault(str(sample["sample_id"]), {}).update(values)
        for score in (log.get("results") or {}).get("scores") or ():
            scorer, reducer = score["scorer"], score.get("reducer")
            reduced = (scorer, reducer) in by_reducer
            column = _column(scorer, score["name"], (reducer or _MEAN) if reduced else "")
            metrics = score.get("metrics") or {}
            self.recorded.setdefault(column, {"better": "higher"} if "accuracy" in metrics else {})
            values = {name: metric["value"] for name, metric in metrics.items()}
            self.reported.setdefault(column, {}).update(values)


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
        self._epochs = max((epoch for epoch, _ in places.values()), default=1)

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[Row | None]:
        if not self._names:
            raise _no_samples(self._header())
        numbers = self._numbers(self._header())
        return _rows(map(self.sample, self._names), len(self), self._path, numbers)

    def describe(self) -> dict[str, Any]:
        """The model, the task and the scores.

        Raises:
            ValueError: it has no samples.
        """
        header = self._header()
        if not self._names:
            raise _no_samples(header)
        return _described(header, self._numbers(header))

    def _header(self) -> Row:
        finished = "header.json" in self._members
        return self.sample("header.json" if finished else "_journal/start.json")

    def _numbers(self, header: Row) -> _Numbers:
        several = self._epochs > 1 and "reductions.json" in self._members
        reductions: Any = self.sample("reductions.json") if several else _reductions(header)
        return _Numbers(header, self._epochs, reductions)

    def sample(self, name: str) -> Row:
        """The sample, or the header, in a member of the archive."""
        try:
            sample: Row = json.loads(self._content(self._members[name]))
        except (OSError, ValueError, zipfile.BadZipFile, struct.error) as error:
            raise ValueError(f"its member {name} can't be read: {error}") from error
        return sample

    def _content(self, member: zipfile.ZipInfo) -> bytes:
        # The size that it claims may not be true: no more is read.
        most = most_unpacked(member.compress_size)
        if member.compress_type != _ZSTD:
            with self._zip.open(member) as unpacked:
                return _up_to(most, unpacked)
        try:
            import pyarrow
        except ImportError:
            raise MissingDependency("reading inspect logs", "pyarrow") from None
        stream: Any = self._zip.fp
        stream.seek(member.header_offset)
        names = sum(_HEADER.unpack(stream.read(_HEADER.size)))
        stream.seek(names, io.SEEK_CUR)
        packed = pyarrow.BufferReader(stream.read(member.compress_size))
        return _up_to(most, pyarrow.input_stream(packed, compression="zstd"))


def _up_to(most: int, stream: Any) -> bytes:
    content: bytes = stream.read(most + 1)
    if len(content) > most:
        raise ValueError(too_large(most, MAX_UNPACKED))
    return content


def _in_order(name: str) -> str:
    return name.zfill(20) if name.isdecimal() else name


def _rows(
    samples: Iterable[Row], expected: int, path: str, numbers: _Numbers
) -> Iterator[Row | None]:
    """The rows of samples; None for each that ended in an error, and at the end a warning.

    What epochs were reduced to is in the first row of their sample alone.
    """
    failed = 0
    nothing = dict.fromkeys(numbers.recorded)
    for sample in samples:
        # inspect counts one that was scored in spite of its error.
        if sample.get("error") and not sample.get("scores"):
            failed += 1
            yield None
        else:
            yield nothing | _row(sample) | numbers.reduced.pop(str(sample["id"]), {})
    if failed:
        warn(path, f"left out {failed} of {expected} samples, which ended in an error")


def _row(sample: Mapping[str, Any]) -> dict[str, Any]:
    """A sample's texts, messages, id, epoch, choices and scores, and what is short of its metadata.

    Names by which texts are found are left to the texts: a "summary" in the metadata isn't what
    was generated.
    """
    attached = sample.get("attachments") or {}
    texts = {
        "questions": _resolved(_text_of_input(sample.get("input")), attached),
        "predictions": _resolved(_completion(sample.get("output") or {}), attached),
        "references": _resolved(sample.get("target", ""), attached),
    }
    row = {
        name: value
        for name, value in (sample.get("metadata") or {}).items()
        if isinstance(value, (str, int, float)) and column_of_alias(name) not in TEXT
    }
    for scorer, score in (sample.get("scores") or {}).items():
        row |= _values(scorer, score.get("value"))
    row |= {"id": sample["id"], "epoch": sample["epoch"], **texts}
    for name in ("choices", "messages"):
        if sample.get(name):
            row[name] = _resolved(sample[name], attached)
    return row


def _values(scorer: str, value: Any, reducer: str = "") -> dict[str, Any]:
    """The numbers of a score by column; several are named after the scorer and their keys."""
    values = value if isinstance(value, Mapping) else {scorer: value}
    return {
        _column(scorer, name, reducer): _VALUES.get(item, item) if isinstance(item, str) else item
        for name, item in values.items()
    }


def _column(scorer: str, name: str, reducer: str = "") -> str:
    column = scorer if name == scorer else f"{scorer}.{name}"
    return score_column(f"{column}.{reducer}" if reducer else column)


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
