"""BatchRun: a run that takes answers out of a folder, and notes what else it would ask.

No server is asked: the requests of a round are written to a file, for OpenAI's Batch API or
`vllm run-batch`, and the run is made again once the answers lie beside it. What a run asks depends
on answers (the verdicts on claims on the claims), so that it takes a few rounds.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from metrichub.errors import ParameterError, Pending, listed
from metrichub.models.batch_folder import BatchFolder, BatchReply, Round

_TURNS = 20
"""Turns of the loop within which an answer that has come leads to the next request, if to any."""
_LOOK_AGAIN = 0.01
_KEY, _BODY = 24, 32
"""Letters of the two hashes in an id, of which OpenAI takes 64."""


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
        self._paid = Counter(name[:_KEY] for name in self._folder.answered())
        self._wanted: dict[str, tuple[str, str, str]] = {}
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
        known = hashlib.sha256(json.dumps([url, body], sort_keys=True).encode()).hexdigest()
        custom_id = f"{key[:_KEY]}-{known[:_BODY]}"
        if found := self._folder.reply(custom_id):
            return found
        failures = [one for one in self._folder.failures.get(custom_id, ()) if one.counts]
        if len(failures) >= tries:
            return failures[-1]
        line = {"custom_id": custom_id, "method": "POST", "url": url, "body": body}
        text = json.dumps(line, ensure_ascii=False)
        self._wanted[custom_id] = (url, str(body.get("model")), text)
        return None

    def paid(self, key: str) -> int:
        """How many calls of the folder a kept answer took; 0 if it was there already, or told."""
        return self._paid.pop(key[:_KEY], 0)

    async def quiet(self, asking: Callable[[], int]) -> None:
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
        """Write what the run would ask, unless it lies there already.

        Raises:
            Pending: there is something to ask, or answers haven't come yet.
        """
        if not self._wanted:
            return
        waiting = [
            one
            for one in self._folder.rounds
            if self._folder.is_open(one) and not one.ids.isdisjoint(self._wanted)
        ]
        there = frozenset[str]().union(*(one.ids for one in waiting))
        new = {name: line for name, line in self._wanted.items() if name not in there}
        failed = Counter(
            str(self._folder.failures[name][-1]) for name in new if name in self._folder.failures
        )
        self._raise(waiting, self._folder.write(new) if new else [], failed, report)

    def _raise(
        self,
        waiting: Sequence[Round],
        written: Sequence[Round],
        failed: Mapping[str, int],
        report: object,
    ) -> NoReturn:
        files = [*waiting, *written]
        number, calls = max(one.number for one in files), sum(len(one.ids) for one in files)
        one = len(files) == 1
        still = "" if written else "still "
        said = f"{calls:,} calls of round {number} {still}wait for answers: send "
        said += listed(f"{file.path} ({len(file.ids):,} × {file.model})" for file in files)
        said += f" as {'a batch' if one else 'batches'} to {_endpoints(files)}, put the "
        said += "answers next to it as " + listed(file.output.name for file in files)
        said += " (or any other .jsonl), and run the same command again"
        if failed:
            reasons = "; ".join(f"{n:,} × {why}" for why, n in failed.items())
            said += f"; some of them failed before: {reasons}"
        for name, n in self._folder.unreadable.items():
            said += f"; {n:,} lines of {name} can't be read"
        raise Pending(said, calls, number, tuple(str(file.path) for file in files), report)


def _endpoints(files: Sequence[Round]) -> str:
    return listed(dict.fromkeys(one.url for one in files))


def batch_run(folder: str | os.PathLike[str], workers: int = 1) -> BatchRun:
    """The run over a folder; one that several systems share stands for itself.

    Raises:
        ParameterError: it is a file, or several processes would write it.
    """
    if workers != 1:
        raise ParameterError(None, "workers", workers, "1 with a batch, as one process writes it")
    return folder if isinstance(folder, BatchRun) else BatchRun(folder)
