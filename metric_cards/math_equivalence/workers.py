"""Processes that compare expressions, each of which is killed if it doesn't answer."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Timer
from typing import Any, NamedTuple

from metrichub.authoring import processes
from metrichub.errors import MetricError

MEMORY = 1 << 30
"""Bytes that a process may have, where the system can hold it to that."""
MOST = 8
"""Processes at the same time."""
_PROGRAM = Path(__file__).with_name("comparer.py")
_START = 120.0

Pair = tuple[str, str]


class Verdict(NamedTuple):
    """Whether two texts are equivalent, None if undecided; which were read in part or not at all.

    `unread` has the reference first.
    """

    equal: bool | None
    unread: tuple[bool, bool]


_UNDECIDED = Verdict(None, (False, False))


class Comparer:
    """One process, asked for one pair at a time."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._asked = 0
        self._process = subprocess.Popen(
            # Without the folder of the program among those that modules are imported from.
            [sys.executable, "-P", str(_PROGRAM), repr(seconds), str(MEMORY)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            # Ctrl-C is for this process, which ends its own.
            start_new_session=True,
        )
        if self._line(_START) != "ready\n":
            self.end()
            raise MetricError("math_equivalence: a process that compares expressions doesn't start")

    def verdict(self, pair: Pair, options: Mapping[str, Any]) -> Verdict:
        """Whether a reference and a prediction are equivalent.

        Raises:
            EOFError: the process had ended, or was ended for taking too long.
        """
        self._asked += 1
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps([self._asked, *pair, options]) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise EOFError from None
        # The process itself counts the processor's seconds, where the system can.
        limit = 60 + 20 * self._seconds if hasattr(os, "fork") else self._seconds
        while line := self._line(limit):
            reply = json.loads(line)
            if reply is None:
                return _UNDECIDED
            if reply[0] == self._asked:
                return Verdict(reply[1], tuple(reply[2]))
        raise EOFError

    @property
    def ended(self) -> bool:
        """Whether the process is gone, for example as nobody asked for a while."""
        return self._process.poll() is not None

    def _line(self, limit: float) -> str:
        timer = Timer(limit, self.end)
        timer.start()
        assert self._process.stdout
        try:
            return self._process.stdout.readline()
        finally:
            timer.cancel()

    def end(self) -> None:
        """End the process and its forks."""
        if self._process.poll() is None:
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, 9)
        self._process.wait()


_idle: defaultdict[float, list[Comparer]] = defaultdict(list)


def verdicts(pairs: Sequence[Pair], options: Mapping[str, Any], seconds: float) -> list[Verdict]:
    """The verdict on each pair, several at a time; processes are kept for the next call."""

    def verdict(pair: Pair) -> Verdict:
        while True:
            try:
                comparer = _idle[seconds].pop()
            except IndexError:
                comparer = Comparer(seconds)
            if comparer.ended:
                continue
            try:
                verdict = comparer.verdict(pair, options)
            except EOFError:
                comparer.end()
                return _UNDECIDED
            except BaseException:
                comparer.end()
                raise
            _idle[seconds].append(comparer)
            return verdict

    side_by_side = max(1, min(MOST, len(pairs), (os.cpu_count() or 1) // processes()))
    threads = ThreadPoolExecutor(side_by_side)
    try:
        return list(threads.map(verdict, pairs))
    finally:
        threads.shutdown(cancel_futures=True)


def close() -> None:
    """End all processes that wait."""
    while _idle:
        for comparer in _idle.popitem()[1]:
            comparer.end()


atexit.register(close)
if hasattr(os, "register_at_fork"):
    # A copy of this process would ask the same ones.
    os.register_at_fork(after_in_child=_idle.clear)
