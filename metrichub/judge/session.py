"""Session: calls with a limit on those in flight, each made once however many ask for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from metrichub.errors import JudgeError
from metrichub.evidence import Usage
from metrichub.judge.store import Answer, Store, key_of

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

Ask = Callable[[], Awaitable[Answer]]
BYTES_A_TOKEN = 4
"""What an estimate takes a token to be, in UTF-8: English prose under usual tokenizers."""
_MINUTE = 60.0


class Prices(NamedTuple):
    """What a million prompt tokens and a million completion tokens cost."""

    prompt: float
    completion: float

    def of(self, answer: Answer) -> float:
        """What an answer cost."""
        prompt, completion = answer.prompt_tokens, answer.completion_tokens
        return (prompt * self.prompt + completion * self.completion) / 1e6


@dataclass(eq=False)
class Tally:
    """The usage of a run so far.

    `repeat` is the number of the run where runs are repeated: each asks for answers of its own.
    While `estimating`, nothing is sent, and every answer is guessed. `replies` holds what was
    guessed, or asked for and kept nowhere else, so that all metrics of a run see the same.
    `over` is the error that ended the run: nothing more is sent for it.
    """

    repeat: int = 0
    estimating: bool = False
    usage: Usage = field(default_factory=Usage)
    replies: dict[str, str] = field(default_factory=dict)
    over: JudgeError | None = None

    def kept(self) -> None:
        """Count an answer that was there already."""
        self.usage += Usage(cached=1)

    def spent(self, answer: Answer, prices: Prices | None, calls: int = 1) -> None:
        """Count what so many calls took."""
        tokens = (answer.prompt_tokens, answer.completion_tokens)
        self.usage += Usage(calls, 0, *tokens, prices.of(answer) if prices else None)


_tally: ContextVar[Tally | None] = ContextVar("tally", default=None)
_keys: ContextVar[list[str] | None] = ContextVar("keys", default=None)


@contextmanager
def counting(repeat: int = 0, estimating: bool = False) -> Iterator[Tally]:
    """A tally of all calls that are made inside the block and by the tasks that start there."""
    tally = Tally(repeat, estimating)
    token = _tally.set(tally)
    try:
        yield tally
    finally:
        _tally.reset(token)


@contextmanager
def noting() -> Iterator[list[str]]:
    """The keys of the requests that are made inside the block and by the tasks that start there."""
    keys: list[str] = []
    token = _keys.set(keys)
    try:
        yield keys
    finally:
        _keys.reset(token)


def tokens_in(*texts: object) -> int:
    """About how many tokens texts are, or anything as JSON."""
    said = "".join(json.dumps(text, ensure_ascii=False) for text in texts)
    return -(-len(said.encode("utf-8", "replace")) // BYTES_A_TOKEN)


@dataclass
class _Flight:
    """A request on its way, and the runs that wait for it; None is a caller outside any run."""

    waiting: list[Tally | None] = field(default_factory=list)
    task: asyncio.Task[Answer] = field(init=False)


_flight: ContextVar[_Flight | None] = ContextVar("flight", default=None)


@dataclass
class Request:
    """One request: what makes it what it is, how it is made, and what it would likely give.

    `likely` gives the reply and the texts that would be sent, for estimates.
    """

    body: Mapping[str, Any]
    ask: Ask
    likely: Callable[[], tuple[str, object]]
    model: str


class Session:
    """The calls of one judge on one event loop."""

    def __init__(
        self,
        limit: int,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        prices: Prices | None = None,
    ) -> None:
        self.slots = asyncio.Semaphore(limit)
        self.prices = prices
        self._requests = _limiter(requests_per_minute)
        self._tokens = _limiter(tokens_per_minute)
        self._flights: dict[str, _Flight] = {}

    async def permitted(self, tokens: int, requests: int = 1) -> None:
        """Wait until the limits a minute allow so many more requests and tokens."""
        for limiter, amount in ((self._requests, requests), (self._tokens, tokens)):
            if limiter is not None and amount:
                # More than a whole minute's worth would never fit.
                await limiter.acquire(min(amount, limiter.max_rate))

    def still_wanted(self) -> None:
        """Look again before a request is sent: its turn may come when its run has ended.

        Raises:
            JudgeError: the error that ended the run, where no other run waits for the answer.
        """
        runs = flight.waiting if (flight := _flight.get()) else []
        errors = [run.over if run else None for run in runs]
        if errors and errors[0] and None not in errors:
            raise errors[0]

    def ended_by(self, error: JudgeError) -> None:
        """Tell the runs that wait for a request of an error that no later call can mend.

        They learn of it before the slot is free again, and so before another request gets it.
        """
        if error.ends_the_run and (flight := _flight.get()):
            for run in flight.waiting:
                if run:
                    run.over = run.over or error

    def spent(self, answer: Answer, calls: int = 1) -> None:
        """Count calls and their tokens, whether or not the answer turns out to be of use."""
        if tally := _tally.get():
            tally.spent(answer, self.prices, calls)

    async def once(self, request: Request, kept: Store | None) -> str:
        """The reply to a request: out of the store, of a call in flight, or a new one."""
        tally = _tally.get()
        body = request.body
        if tally and tally.repeat:
            body = {**body, "repeat": tally.repeat}
        key = key_of(body)
        if (keys := _keys.get()) is not None:
            keys.append(key)
        flight = self._flights.get(key)
        if flight is None:
            if kept is not None and (found := kept.get(key)):
                if tally:
                    tally.kept()
                return found.reply
            if tally and key in tally.replies:
                tally.kept()
                return tally.replies[key]
            if tally and tally.estimating:
                return self._guessed(key, request, tally)
            flight = self._flights[key] = _Flight()
            flight.task = asyncio.create_task(self._made(key, request, kept, flight))
        elif tally:
            tally.kept()
        flight.waiting.append(tally)
        try:
            # Shielded, as one that gives up must not take the answer from the others.
            return (await asyncio.shield(flight.task)).reply
        finally:
            flight.waiting.remove(tally)
            if not flight.waiting and not flight.task.done():
                self._flights.pop(key)
                flight.task.cancel()
                # A run isn't over while a request of its own may still be on its way.
                await asyncio.wait([flight.task])

    def _guessed(self, key: str, request: Request, tally: Tally) -> str:
        reply, sent = request.likely()
        tally.replies[key] = reply
        self.spent(Answer(reply, tokens_in(sent), tokens_in(json.loads(reply))))
        return reply

    async def _made(
        self, key: str, request: Request, kept: Store | None, flight: _Flight
    ) -> Answer:
        _flight.set(flight)
        try:
            answer = await request.ask()
            if kept is not None:
                kept.put(key, request.model, answer)
            elif tally := _tally.get():
                tally.replies[key] = answer.reply
            return answer
        finally:
            if self._flights.get(key) is flight:
                self._flights.pop(key)


def _limiter(rate: int | None) -> AsyncLimiter | None:
    if rate is None:
        return None
    from aiolimiter import AsyncLimiter

    return AsyncLimiter(rate, _MINUTE)


_sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Any, Any]] = WeakKeyDictionary()


def here(owner: Any, make: Callable[[], Any]) -> Any:
    """What belongs to a judge on the running loop, made on first use; equal judges share it."""
    mine = _sessions.setdefault(asyncio.get_running_loop(), {})
    if owner not in mine:
        mine[owner] = make()
    return mine[owner]
