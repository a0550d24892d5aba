"""Coalescing: what samples of a run ask for at about the same time goes out in one call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field

from metrichub.models.usage import Answer, UsageTracker, tracker_of_run

WINDOW = 0.5
"""Seconds that a text waits at most for others to come, while its run waits for other answers."""
_LOOK_AGAIN = 0.02
_TURNS = 10
"""Turns of the loop within which an answer that has come leads to the next request, if to any."""


@dataclass(eq=False)
class Waiting:
    """A text that waits for its answer, and the context of the request for it.

    Texts of the same `group` were asked for together.
    """

    text: str
    group: object
    context: Context
    answer: asyncio.Future[Answer]

    def after(self, step: Callable[[], None]) -> bool:
        """Whether it is still waiting after a step of its request, whose error is its answer."""
        if not self.answer.done():
            try:
                self.context.run(step)
            except Exception as error:  # noqa: BLE001  # it is passed on
                self.answer.set_exception(error)
        return not self.answer.done()


@dataclass(eq=False)
class _Call:
    """What goes out together."""

    waiting: list[Waiting] = field(default_factory=list)
    task: asyncio.Task[None] = field(init=False)

    def left(self) -> list[Waiting]:
        """What still waits."""
        return [one for one in self.waiting if not one.answer.done()]


class Gathering:
    """Texts of the same run in one call, at most `most`.

    Where a run waits for nothing else, nothing waits here: no other text can come.
    """

    def __init__(self, send: Callable[[Sequence[Waiting]], Awaitable[None]], most: int) -> None:
        self.most = most
        self._send = send
        self._open: dict[UsageTracker | None, _Call] = {}

    async def answer(self, text: str, group: object) -> Answer:
        """The answer that `send` gave this text."""
        run = tracker_of_run()
        one = Waiting(text, group, copy_context(), asyncio.get_running_loop().create_future())
        call = self._open.get(run)
        if call is None or len(call.waiting) >= self.most:
            call = self._open[run] = _Call()
            call.task = asyncio.create_task(self._sent(run, call))
        call.waiting.append(one)
        try:
            return await one.answer
        except asyncio.CancelledError:
            if not call.left() and not call.task.done():
                call.task.cancel()
                # Its run isn't over while the call may still be on its way.
                await asyncio.wait([call.task])
            raise

    async def _sent(self, run: UsageTracker | None, call: _Call) -> None:
        try:
            await self._filled(run, call)
            if self._open.get(run) is call:
                del self._open[run]
            await self._send(call.waiting)
        except Exception as error:  # noqa: BLE001  # it is passed on
            for one in call.left():
                one.answer.set_exception(error)
        finally:
            for one in call.left():
                one.answer.cancel()

    async def _filled(self, run: UsageTracker | None, call: _Call) -> None:
        """Wait until no other text is likely to come soon."""
        loop, quiet = asyncio.get_running_loop(), 1
        until = loop.time() + WINDOW
        while True:
            # On a busy machine, any time may pass between two turns: a pause alone says nothing.
            for _ in range(_TURNS):
                await asyncio.sleep(0)
            if not run or len(call.waiting) >= self.most or loop.time() >= until:
                return
            quiet = quiet + 1 if run.asking <= len(call.left()) else 0
            if quiet > 1:
                return
            await asyncio.sleep(_LOOK_AGAIN)
