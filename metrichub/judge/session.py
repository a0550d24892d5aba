"""Session: calls with a limit on those in flight, each made once however many ask for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from metrichub.evidence import Usage
from metrichub.judge.store import Answer, Store, key_of

Ask = Callable[[], Awaitable[Answer]]


@dataclass
class Tally:
    """The usage of a run so far."""

    usage: Usage = field(default_factory=Usage)

    def add(self, answer: Answer, cached: bool) -> None:
        """Count an answer that was there already, or one that was made."""
        if cached:
            self.usage += Usage(cached=1)
        else:
            tokens = (answer.prompt_tokens, answer.completion_tokens)
            self.usage += Usage(answer.calls, 0, *tokens)


_tally: ContextVar[Tally | None] = ContextVar("tally", default=None)


@contextmanager
def counting() -> Iterator[Tally]:
    """A tally of all calls that are made inside the block and by the tasks that start there."""
    tally = Tally()
    token = _tally.set(tally)
    try:
        yield tally
    finally:
        _tally.reset(token)


@dataclass
class _Flight:
    task: asyncio.Task[Answer]
    waiting: int = 0


class Session:
    """The calls of one judge on one event loop."""

    def __init__(self, limit: int) -> None:
        self.slots = asyncio.Semaphore(limit)
        self._flights: dict[str, _Flight] = {}

    async def once(
        self, request: Mapping[str, Any], ask: Ask, kept: Store | None, model: str
    ) -> str:
        """The reply to a request: out of the store, of a call in flight, or of `ask`."""
        key, tally = key_of(request), _tally.get()
        flight = self._flights.get(key)
        if flight is None:
            if kept is not None and (found := kept.get(key)):
                if tally:
                    tally.add(found, cached=True)
                return found.reply
            flight = _Flight(asyncio.create_task(self._made(key, ask, kept, model)))
            self._flights[key] = flight
        elif tally:
            tally.add(Answer("", calls=0), cached=True)
        flight.waiting += 1
        try:
            # Shielded, as one that gives up must not take the answer from the others.
            return (await asyncio.shield(flight.task)).reply
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                self._flights.pop(key)
                flight.task.cancel()

    async def _made(self, key: str, ask: Ask, kept: Store | None, model: str) -> Answer:
        try:
            answer = await ask()
            if kept is not None:
                kept.put(key, model, answer)
            if tally := _tally.get():
                tally.add(answer, cached=False)
            return answer
        finally:
            flight = self._flights.get(key)
            if flight and flight.task is asyncio.current_task():
                self._flights.pop(key)


_sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Any, Any]] = WeakKeyDictionary()


def here(owner: Any, make: Callable[[], Any]) -> Any:
    """What belongs to a judge on the running loop, made on first use; equal judges share it."""
    mine = _sessions.setdefault(asyncio.get_running_loop(), {})
    if owner not in mine:
        mine[owner] = make()
    return mine[owner]
