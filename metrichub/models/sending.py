"""Sending: the requests of one call, retries too, counted and with room in the run's budget."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar

from metrichub.errors import BudgetSpent
from metrichub.models.pace import Pace
from metrichub.models.usage import Answer, Prices, tracker_of_run

_AGAIN = 2
"""Time-outs of a call whose requests were too many at once, after which it is sent again."""


class Sending:
    """The requests of one call: each is counted, and has room in the run's budget.

    `tokens` are those sent each time, and `reply_tokens` gives those that come back at most, or
    about as many; `wait` waits for the limits a minute. `sent` is when the last request went out.
    Tokens that a request is held to have taken count until `end` says better.
    """

    def __init__(
        self,
        prices: Prices | None,
        tokens: int,
        reply_tokens: Callable[[], int],
        wait: Callable[[int], Awaitable[None]],
        pace: Pace | None = None,
    ) -> None:
        self.pace, self._entered, self.sent = pace, False, 0.0
        self._tracker, self._prices, self._wait = tracker_of_run(), prices, wait
        self._tokens, self._reply_tokens = tokens, reply_tokens
        self._held: Answer | None = None
        self._requests = self._counted = self._timeouts = 0

    async def enter(self) -> None:
        """Wait for the turn of the next request."""
        if self.pace and not self._entered:
            self.sent, self._entered = await self.pace.enter(), True

    async def begin(self) -> None:
        """Hold room for the next request, and count it.

        Requests on their way may take less than is held for them, and are paid for: it waits for
        them where the budget has too little left.

        Raises:
            BudgetSpent: there is none.
        """
        if self._requests:
            # The limits a minute let the first one pass before.
            await self._wait(self._tokens)
        self._requests += 1
        await self.enter()
        try:
            await self._hold()
        except BaseException:
            self.end()
            raise

    async def _hold(self) -> None:
        if (tracker := self._tracker) is None:
            return
        if (budget := tracker.budget) and budget.limits.of_usage():
            held = Answer("", self._tokens, self._reply_tokens())
            landed = tracker.landed = tracker.landed or asyncio.Event()
            while True:
                try:
                    budget.take(held, self._prices)
                    break
                except BudgetSpent:
                    if not tracker.in_flight:
                        raise
                    landed.clear()
                    await landed.wait()
            tracker.in_flight += 1
            self._held = held
        tracker.count_spent(Answer(""), self._prices, int(self._counted == 0), 1)
        self._counted += 1

    def end(self, took: Answer | None = None) -> None:
        """Settle the last request, unless it is settled; None is what was held for it."""
        if self.pace and self._entered:
            self._entered = False
            self.pace.leave()
        held, tracker = self._held, self._tracker
        if held is None or tracker is None or tracker.budget is None or tracker.landed is None:
            return
        self._held = None
        tracker.budget.settle(held, took or held, self._prices)
        tracker.in_flight -= 1
        tracker.landed.set()

    def time_out(self, timeout: float) -> bool:
        """Let fewer go out; whether this one is sent again then; see `Pace.time_out`."""
        self._timeouts += 1
        again = self.pace is not None and self.pace.time_out(self.sent, timeout, self)
        return again and self._timeouts <= _AGAIN

    def forget(self) -> None:
        """Count none of the requests as made yet; their room stays held."""
        self.end()
        if self._tracker and self._counted:
            self._tracker.count_spent(Answer(""), self._prices, -1, -self._counted)


sending_of_call: ContextVar[Sending | None] = ContextVar("sending", default=None)
"""The requests of the call that the running task makes."""
