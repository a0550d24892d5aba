"""Batches: a run that takes answers out of a folder, and notes what else it would ask.

No server is asked: the requests of a round are written to a file, for OpenAI's Batch API or
`vllm run-batch`, and the run is made again once the answers lie beside it. What a run asks depends
on answers (the verdicts on claims on the claims), so that it takes a few rounds.

A file has a line for each request, which holds a `custom_id`, or for each answer, which repeats it.
Lines are told by what they hold, not by the names of their files; a line that is cut off, or
another's, counts as none.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from metrichub.errors import ParameterError, Pending, listed

_TURNS = 20
"""Turns of the loop within which an answer that has come leads to the next request, if to any."""
_LOOK_AGAIN = 0.01
_KEY, _BODY = 24, 32
"""Letters of the two hashes in an id, of which OpenAI takes 64."""
MOST_LINES, MOST_BYTES = 50_000, 200_000_000
"""Of a file, as OpenAI takes it."""
_REFUSED = (400, 404, 405, 413, 422, 501)
"""Answers that the same request would get again."""
_FINISHED = "finished"
"""The file that marks a folder in which a run found all of its answers."""
_ROUND = re.compile(r"round-(\d+)")


class BatchRun(os.PathLike[str]):
    """One run over a folder, or several that share their rounds; `states` holds their clients."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Read the folder, if there is one.

        Raises:
            ParameterError: it is a file.
        """
        if not (path := os.fspath(folder)) or (Path(path).exists() and not Path(path).is_dir()):
            raise ParameterError(None, "batch", path, "a folder, which will be created")
        self.states: dict[Any, Any] = {}
        self._folder = BatchFolder(Path(path))
        self.reported = self._folder.finished.exists()
        """Whether an earlier run reported all calls of the folder."""
        answered = () if self.reported else self._folder.answered()
        self._paid = Counter(name[:_KEY] for name in answered)
        self._unanswered: dict[str, tuple[str, str, str]] = {}
        self._quiet: asyncio.Task[None] | None = None

    def __fspath__(self) -> str:
        """The folder."""
        return str(self._folder.path)

    def reply(self, key: str, url: str, content: bytes, tries: int) -> BatchReply | None:
        """The reply to a request, or None, and then it is noted.

        `key` tells requests with the same body that want answers of their own. What failed so many
        `tries` fails here, too.
        """
        body = json.loads(content)
        digest = hashlib.sha256(json.dumps([url, body], sort_keys=True).encode()).hexdigest()
        custom_id = f"{key[:_KEY]}-{digest[:_BODY]}"
        if reply := self._folder.reply(custom_id):
            return reply
        failures = [f for f in self._folder.failures.get(custom_id, ()) if f.counts]
        if len(failures) >= tries:
            return failures[-1]
        line = {"custom_id": custom_id, "method": "POST", "url": url, "body": body}
        text = json.dumps(line, ensure_ascii=False)
        self._unanswered[custom_id] = (url, str(body.get("model")), text)
        return None

    def paid_calls(self, key: str) -> int:
        """The number of calls of the folder that a stored answer took, once.

        It is 0 if the answer was stored before, or if an earlier run reported the folder's calls.
        """
        return self._paid.pop(key[:_KEY], 0)

    async def wait_until_quiet(self, asking: Callable[[], int]) -> None:
        """Wait until the run makes no request any more, so that all of a round are noted."""

        async def quieted() -> None:
            turns = 0
            while turns < _TURNS:
                await asyncio.sleep(_LOOK_AGAIN if asking() else 0)
                turns = 0 if asking() else turns + 1

        if self._quiet is None or self._quiet.done():
            self._quiet = asyncio.create_task(quieted())
        await asyncio.shield(self._quiet)

    def finish(self, report: object) -> None:
        """Write the requests of the run that aren't in the folder yet.

        Raises:
            Pending: there are new requests, or answers haven't come yet.
        """
        if not self._unanswered:
            if self._folder.rounds:
                self._folder.finished.touch()
            return
        waiting = [
            file
            for file in self._folder.rounds
            if self._folder.is_open(file) and not file.ids.isdisjoint(self._unanswered)
        ]
        sent = frozenset[str]().union(*(file.ids for file in waiting))
        new = {name: line for name, line in self._unanswered.items() if name not in sent}
        files = [*waiting, *(self._folder.write(new) if new else [])]
        number, calls = max(file.number for file in files), sum(len(file.ids) for file in files)
        wait = "wait" if new else "still wait"
        message = f"{calls:,} calls of round {number} {wait} for answers: send "
        message += listed(f"{file.path} ({len(file.ids):,} × {file.model})" for file in files)
        message += f" as {'a batch' if len(files) == 1 else 'batches'} to "
        message += listed(dict.fromkeys(file.url for file in files))
        message += ", put the answers next to it as " + listed(file.output.name for file in files)
        message += " (or any other .jsonl), and run the same command again"
        failures = self._folder.failures
        if failed := Counter(str(failures[name][-1]) for name in new if name in failures):
            reasons = "; ".join(f"{n:,} × {why}" for why, n in failed.items())
            message += f"; some of them failed before: {reasons}"
        for name, n in self._folder.unreadable.items():
            message += f"; {n:,} lines of {name} can't be read"
        raise Pending(message, calls, number, tuple(str(file.path) for file in files), report)


def batch_run(folder: str | os.PathLike[str], workers: int = 1) -> BatchRun:
    """The run over a folder; one that several systems share stands for itself.

    Raises:
        ParameterError: it is a file, or several processes would write it.
    """
    if workers != 1:
        raise ParameterError(None, "workers", workers, "1 with a batch, as one process writes it")
    return folder if isinstance(folder, BatchRun) else BatchRun(folder)


class Round(NamedTuple):
    """A file of requests: its path, their ids, and the endpoint and the model of all of them."""

    path: Path
    ids: frozenset[str]
    url: str
    model: str

    @property
    def number(self) -> int:
        """The number in the file's name, or -1."""
        match = _ROUND.match(self.path.name)
        return int(match[1]) if match else -1

    @property
    def output(self) -> Path:
        """Where its answers are best put."""
        return self.path.with_name(f"{self.path.stem}.output.jsonl")


class BatchReply(NamedTuple):
    """The server's reply to a request: a status, and a body in JSON."""

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
        line = " ".join(str(_error_of(self.body).get("message") or self.status).split())
        return line if len(line) <= 100 else f"{line[:97]}..."


class _Place(NamedTuple):
    path: Path
    start: int
    length: int


class BatchFolder:
    """The contents of a folder as it was read; answers stay in their files until needed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.finished = path / _FINISHED
        self.rounds: list[Round] = []
        self.failures: dict[str, list[BatchReply]] = {}
        self.unreadable: Counter[str] = Counter()
        self._answers: dict[str, _Place] = {}
        for file in sorted(path.glob("*.jsonl")):
            self._read(file)

    def reply(self, custom_id: str) -> BatchReply | None:
        """The answer to a request, or None."""
        place = self._answers.get(custom_id)
        if place is None:
            return None
        with place.path.open("rb") as file:
            file.seek(place.start)
            return _reply_in(json.loads(file.read(place.length)))

    def answered(self) -> Iterator[str]:
        """The ids of all that was answered."""
        return iter(self._answers)

    def is_open(self, file: Round) -> bool:
        """Whether there is no line yet that answers a request of this round."""
        return not any(name in self._answers or name in self.failures for name in file.ids)

    def write(self, lines: Mapping[str, tuple[str, str, str]]) -> list[Round]:
        """The files of a new round: by id the endpoint, the model and the line of each request."""
        parts = _parts(lines)
        number = max((file.number for file in self.rounds), default=-1) + 1
        self.path.mkdir(parents=True, exist_ok=True)
        self.finished.unlink(missing_ok=True)
        written = []
        for i, ids in enumerate(parts, 1):
            name = f"round-{number}" + (f"-part-{i}" if len(parts) > 1 else "")
            path = self.path / f"{name}.jsonl"
            # Whole or not at all, whenever the run is ended.
            unfinished = path.with_suffix(".unfinished")
            with unfinished.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{lines[name][2]}\n" for name in ids)
            os.replace(unfinished, path)
            url, model, _ = lines[ids[0]]
            written.append(Round(path, frozenset(ids), url, model))
        self.rounds += written
        return written

    def _read(self, path: Path) -> None:
        requests: dict[str, tuple[str, str]] = {}
        start = 0
        with path.open("rb") as file:
            for line in file:
                place = _Place(path, start, len(line))
                start += len(line)
                if not line.strip():
                    continue
                try:
                    entry = json.loads(line)
                except ValueError:
                    entry = None
                entry = entry if isinstance(entry, dict) else {}
                name, body = entry.get("custom_id"), entry.get("body")
                if isinstance(name, str) and isinstance(body, dict):
                    requests[name] = (str(entry.get("url")), str(body.get("model")))
                elif isinstance(name, str) and ("response" in entry or "error" in entry):
                    reply = _reply_in(entry)
                    if reply.is_final:
                        self._answers.setdefault(name, place)
                    else:
                        self.failures.setdefault(name, []).append(reply)
                else:
                    self.unreadable[path.name] += 1
        if requests:
            endpoint = next(iter(requests.values()))
            self.rounds.append(Round(path, frozenset(requests), *endpoint))


def _reply_in(entry: Mapping[str, Any]) -> BatchReply:
    """The reply on a line of an output; OpenAI and vLLM write errors in several forms."""
    response, error = entry.get("response"), entry.get("error")
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


def _parts(lines: Mapping[str, tuple[str, str, str]]) -> list[list[str]]:
    """The ids of each file: of one endpoint and model, and as many as fit."""
    parts: list[list[str]] = []
    last: dict[tuple[str, str], tuple[list[str], int]] = {}
    for name, (url, model, line) in lines.items():
        more = len(line.encode()) + 1
        part, size = last.get((url, model), ([], 0))
        if not part or len(part) == MOST_LINES or size + more > MOST_BYTES:
            part, size = [], 0
            parts.append(part)
        part.append(name)
        last[url, model] = part, size + more
    return parts
