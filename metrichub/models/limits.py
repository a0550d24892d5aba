"""Limiter: how many requests to a model may be on their way, and when the next one goes out."""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections.abc import Mapping
from email.utils import mktime_tz, parsedate_tz

from metrichub.errors import JudgeUnavailable
from metrichub.models.usage import sharers

START = 4.0
"""Requests that may be on their way until answers come."""
BUSY = (425, 429, 498, 503, 529)
"""Statuses of a server that has too much to do: the request may be sent again later."""
_FAST, _SLOW = 0.25, 0.5
"""Up to which part of its timeout an answer lets one more go out, or one more a round."""
_ROUNDS, _CALLS = 10, 3
"""Rounds of time-outs without an answer that end a run, and how many calls they are of at least."""
FIRST, LONGEST = 1.0, 60.0
"""Seconds of the first pause, where the server names none, and of the longest; each doubles."""
PATIENCE = 600.0
"""Seconds without a success after which the run ends."""
_MINUTE = 60.0
_DURATION = re.compile(r"([\d.]+)(ms|s|m|h|d)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_AN_EPOCH = 1e9
"""Numbers from here on are a time rather than a wait."""


class Limiter:
    """The requests to one model of a server with one key, of all judges and runs.

    Of the requests and tokens a minute this process has its share; requests go out evenly, and
    tokens may go at once. Few requests go out at first. If others wait, each answer lets one more
    go out, which doubles them in each round of answers; one more a round if it took longer; none if
    it took half of its timeout, as requests may queue there. So a server with one slot gets no more
    than it can answer in time. After a time-out half as many go out, and from there on one more a
    round. After a 429, or another status of a busy server, all pause, and then one goes out.

    Args:
        model: For messages.
        slots: How many calls are made at the same time, while they wait for their turn, too.
        requests_per_minute: How many requests, retries too; None sets no limit.
        tokens_per_minute: How many tokens, sent and received.
    """

    def __init__(
        self,
        model: str,
        slots: int,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
    ) -> None:
        self.slots = asyncio.Semaphore(slots)
        self._model = model
        self._each_request = _MINUTE * sharers() / (requests_per_minute or math.inf)
        self._each_token = _MINUTE * sharers() / (tokens_per_minute or math.inf)
        self._next_request = self._tokens_until = 0.0
        self._allowed, self._fast_until = START, math.inf
        self._in_flight = self._waiting = 0
        self._unanswered: list[object] = []
        self._pause = FIRST
        self._began = self._until = 0.0
        self._since: float | None = None
        self._door, self._left = asyncio.Lock(), asyncio.Event()

    async def enter(self, tokens: int = 0) -> float:
        """Wait for the turn of a request; returns the time at which it came."""
        self._waiting += 1
        try:
            # One after another, in the order in which they came.
            async with self._door:
                while True:
                    # More than a whole minute's worth would never fit.
                    fitting = self._tokens_until + min(tokens * self._each_token, _MINUTE) - _MINUTE
                    wait = max(self._until, self._next_request, fitting) - _now()
                    if wait > 0:
                        await _sleep(wait)
                    elif self._in_flight + 1 > self._allowed:
                        self._left.clear()
                        await self._left.wait()
                    else:
                        break
                self._in_flight += 1
                self._next_request = max(self._next_request, _now()) + self._each_request
                self.count_tokens(tokens)
                return _now()
        finally:
            self._waiting -= 1

    def count_tokens(self, tokens: int) -> None:
        """Count tokens, such as a reply's, for the limit per minute: the next request waits."""
        self._tokens_until = max(self._tokens_until, _now()) + tokens * self._each_token

    def leave(self) -> None:
        """Let the next one go out."""
        self._in_flight -= 1
        self._left.set()

    def succeed(self, sent: float, timeout: float) -> None:
        """Let more go out if the answer to a request `sent` at this time came soon enough."""
        self._pause, self._since = FIRST, None
        self._unanswered.clear()
        took = (_now() - sent) / timeout
        if self._waiting and took < _SLOW:
            fast = took < _FAST and self._allowed < self._fast_until
            self._allowed += 1 if fast else 1 / self._allowed

    def time_out(self, sent: float, timeout: float, call: object) -> bool:
        """Let half as many go out after a time-out; returns whether that may help its call.

        Of the requests that were `sent` before the last change for the worse, none counts again.

        Raises:
            JudgeUnavailable: the server has answered nothing in many rounds.
        """
        if sent < self._began:
            return True
        self._unanswered.append(call)
        if len(self._unanswered) >= _ROUNDS and len(set(self._unanswered)) >= _CALLS:
            self._unanswered.clear()
            raise JudgeUnavailable(
                f"{self._model}: the server didn't answer within {timeout:g} s {_ROUNDS} times in "
                "a row, so the run stopped; check that it works, and lower concurrency or raise "
                "timeout; all answers are stored unless the cache is off, so the same run "
                "continues from here"
            )
        self._began = _now()
        self._allowed = self._fast_until = min(self._allowed, max(1.0, self._in_flight // 2))
        return self._in_flight > 1

    def limit(self, wait: float, sent: float, status: int = 429) -> None:
        """Pause for the seconds that a busy server asks for, if any.

        Of the requests that were `sent` before the last pause began, none makes the next longer.

        Raises:
            JudgeUnavailable: ten minutes would pass without a success.
        """
        now = _now()
        self._since = now if self._since is None else self._since
        if wait <= 0 and sent >= self._began:
            wait, self._pause = self._pause, min(2 * self._pause, LONGEST)
        if now + wait - self._since > PATIENCE:
            waited = now - self._since
            # Another run asks for itself.
            self._since, self._pause, self._until = None, FIRST, now + FIRST
            raise JudgeUnavailable(
                f"{self._model}: the server is busy: it has answered nothing but {status} (too "
                f"many requests, or overloaded) for {waited:.0f} s, and the next wait would take "
                f"{wait:.0f} s, so the run stopped; all answers are stored unless the cache is "
                "off, so the same run continues from here later"
            )
        self._began, self._allowed = now, 1.0
        self._until = max(self._until, now + wait)


def asked_wait(headers: Mapping[str, str]) -> float:
    """The seconds that a server asks to wait, or until a used-up limit starts anew; else 0."""
    named = {name.lower(): value for name, value in headers.items()}
    for name, unit in (("retry-after-ms", "ms"), ("retry-after", "s")):
        if _DURATION.fullmatch(named.get(name, "")):
            return _seconds(named[name] + unit)
    if date := parsedate_tz(named.get("retry-after", "")):
        return mktime_tz(date) - time.time()
    waits = [0.0]
    for name, value in named.items():
        left = named.get(name.replace("reset", "remaining", 1), "0").strip()
        if name.startswith("x-ratelimit-reset") and left in ("0", "0.0", ""):
            waits.append(_seconds(value))
    return max(waits)


def _seconds(duration: str) -> float:
    """The seconds of a duration ("6m0s", "20ms", "1.5") or until a time since 1970."""
    parts = _DURATION.findall(duration)
    try:
        seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    except ValueError:
        return 0.0
    if seconds >= 1000 * _AN_EPOCH:
        seconds /= 1000
    return seconds - time.time() if seconds >= _AN_EPOCH else seconds


def _now() -> float:
    return time.monotonic()


async def _sleep(seconds: float) -> None:
    await asyncio.sleep(seconds)
