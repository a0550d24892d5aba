"""Turns: who is served next, so that no client keeps all others waiting."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

from metrichub.app.problem import problem


@dataclass(eq=False)
class _Turn:
    client: str
    come: anyio.Event = field(default_factory=anyio.Event)


class Turns:
    """A client has up to `share` turns at a time, and one more is there for the others.

    Up to `waiting` of a client's wait, and twice as many of all. Next is who has the fewest, and
    among those who came first.
    """

    def __init__(self, share: int, waiting: int) -> None:
        self._share, self._most = share, waiting
        self._waiting: list[_Turn] = []
        self._taken: Counter[str] = Counter()

    def taken(self, client: str) -> int:
        """How many turns a client has now."""
        return self._taken[client]

    @asynccontextmanager
    async def turn(self, client: str) -> AsyncIterator[None]:
        """A turn, once it has come.

        Raises:
            Problem: too many wait (503).
        """
        turn = _Turn(client)
        self._waiting.append(turn)
        self._next()
        try:
            if not turn.come.is_set() and self._is_crowded(client):
                raise problem(503, "Busy", "too many requests are waiting; try again in a moment")
            await turn.come.wait()
            yield
        finally:
            if turn.come.is_set():
                self._taken[client] -= 1
                self._taken = +self._taken
            else:
                self._waiting.remove(turn)
            self._next()

    def _next(self) -> None:
        while self._taken.total() <= self._share:
            free = [turn for turn in self._waiting if self._taken[turn.client] < self._share]
            if not free:
                return
            turn = min(free, key=lambda turn: self._taken[turn.client])
            self._waiting.remove(turn)
            self._taken[turn.client] += 1
            turn.come.set()

    def _is_crowded(self, client: str) -> bool:
        own = sum(turn.client == client for turn in self._waiting)
        return own > self._most or len(self._waiting) > 2 * self._most
