"""BatchFolder: the rounds that were asked for in a folder, and what was answered so far.

The files are those of OpenAI's Batch API and of `vllm run-batch`: a line for each request, which
holds a `custom_id`, and a line for each answer, which repeats it. Lines are told by what they hold,
not by the names of their files; a line that is cut off, or another's, counts as none.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

MOST_LINES, MOST_BYTES = 50_000, 200_000_000
"""Of a file, as OpenAI takes it."""
_REFUSED = (400, 404, 405, 413, 422, 501)
"""Answers that the same request would get again."""
_ROUND = re.compile(r"round-(\d+)")


class Round(NamedTuple):
    """A file of requests: its path, their ids, and the endpoint and the model of all of them."""

    path: Path
    ids: frozenset[str]
    url: str
    model: str

    @property
    def number(self) -> int:
        """The number in the file's name, or -1."""
        found = _ROUND.match(self.path.name)
        return int(found[1]) if found else -1

    @property
    def output(self) -> Path:
        """Where its answers are best put."""
        return self.path.with_name(f"{self.path.stem}.output.jsonl")


class BatchReply(NamedTuple):
    """What the server said to a request: a status, and a body in JSON."""

    status: int
    body: Mapping[str, Any]

    @property
    def is_final(self) -> bool:
        """Whether the same request would get the same again."""
        return 200 <= self.status < 300 or self.status in _REFUSED

    @property
    def counts(self) -> bool:
        """Whether the request was tried: a batch may end before it comes to all of its lines."""
        return not str(_error_of(self.body).get("code")).startswith("batch_")

    def __str__(self) -> str:
        """Why it failed, on one short line."""
        said = " ".join(str(_error_of(self.body).get("message") or self.status).split())
        return said if len(said) <= 100 else f"{said[:97]}..."


class _Place(NamedTuple):
    path: Path
    start: int
    length: int


class BatchFolder:
    """What a folder held when it was read. Answers stay in their files until they are needed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rounds: list[Round] = []
        self.failures: dict[str, list[BatchReply]] = {}
        self.unreadable: Counter[str] = Counter()
        self._answers: dict[str, _Place] = {}
        for file in sorted(path.glob("*.jsonl")):
            self._read(file)

    def reply(self, custom_id: str) -> BatchReply | None:
        """The answer to a request; None where there is none that counts."""
        place = self._answers.get(custom_id)
        if place is None:
            return None
        with place.path.open("rb") as file:
            file.seek(place.start)
            return _reply_in(json.loads(file.read(place.length)))

    def answered(self) -> Iterator[str]:
        """The ids of all that was answered."""
        return iter(self._answers)

    def is_open(self, one: Round) -> bool:
        """Whether there is no line yet that answers a request of this round."""
        return not any(name in self._answers or name in self.failures for name in one.ids)

    def write(self, lines: Mapping[str, tuple[str, str, str]]) -> list[Round]:
        """The files of a new round: by id the endpoint, the model and the line of each request."""
        parts = [part for one in _grouped(lines) for part in _cut(one, lines)]
        number = max((one.number for one in self.rounds), default=-1) + 1
        self.path.mkdir(parents=True, exist_ok=True)
        written = []
        for i, ids in enumerate(parts, 1):
            name = f"round-{number}" + (f"-part-{i}" if len(parts) > 1 else "")
            path = self.path / f"{name}.jsonl"
            # Whole or not at all, whenever the run is ended.
            unfinished = path.with_suffix(".unfinished")
            with unfinished.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{lines[one][2]}\n" for one in ids)
            os.replace(unfinished, path)
            url, model, _ = lines[ids[0]]
            written.append(Round(path, frozenset(ids), url, model))
        self.rounds += written
        return written

    def _read(self, path: Path) -> None:
        asked: dict[str, tuple[str, str]] = {}
        start = 0
        with path.open("rb") as file:
            for line in file:
                place = _Place(path, start, len(line))
                start += len(line)
                if not line.strip():
                    continue
                found = _read_line(line)
                name, body = found.get("custom_id"), found.get("body")
                if isinstance(name, str) and isinstance(body, dict):
                    asked[name] = (str(found.get("url")), str(body.get("model")))
                elif isinstance(name, str) and ("response" in found or "error" in found):
                    self._take(name, found, place)
                else:
                    self.unreadable[path.name] += 1
        if asked:
            self.rounds.append(Round(path, frozenset(asked), *next(iter(asked.values()))))

    def _take(self, custom_id: str, found: Mapping[str, Any], place: _Place) -> None:
        reply = _reply_in(found)
        if reply.is_final:
            self._answers.setdefault(custom_id, place)
        else:
            self.failures.setdefault(custom_id, []).append(reply)


def _read_line(line: bytes) -> Mapping[str, Any]:
    """The object of a line; an empty one where there is none."""
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _reply_in(found: Mapping[str, Any]) -> BatchReply:
    """What a line of an output says; OpenAI and vLLM write errors in several forms."""
    response, error = found.get("response"), found.get("error")
    response = response if isinstance(response, dict) else {}
    status, body = response.get("status_code"), response.get("body")
    status = status if isinstance(status, int) else 500
    if 200 <= status < 300:
        if isinstance(body, dict) and not error:
            return BatchReply(status, body)
        status = 500
    if isinstance(body, dict) and body.get("error"):
        return BatchReply(status, body)
    if isinstance(error, dict):
        return BatchReply(
            status, error if isinstance(error.get("error"), dict) else {"error": error}
        )
    return BatchReply(status, {"error": {"message": str(error or "a line without an answer")}})


def _error_of(body: Mapping[str, Any]) -> Mapping[str, Any]:
    error = body.get("error")
    return error if isinstance(error, dict) else {"message": error}


def _grouped(lines: Mapping[str, tuple[str, str, str]]) -> list[list[str]]:
    """The ids by endpoint and model, of which a file may have one."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name, (url, model, _) in lines.items():
        groups.setdefault((url, model), []).append(name)
    return list(groups.values())


def _cut(ids: Sequence[str], lines: Mapping[str, tuple[str, str, str]]) -> Iterator[list[str]]:
    """The ids in parts that fit into a file."""
    part: list[str] = []
    size = 0
    for name in ids:
        more = len(lines[name][2].encode()) + 1
        if part and (len(part) == MOST_LINES or size + more > MOST_BYTES):
            yield part
            part, size = [], 0
        part.append(name)
        size += more
    yield part
