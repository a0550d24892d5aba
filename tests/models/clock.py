"""A clock for tests of limits."""

from __future__ import annotations

import asyncio


class Clock:
    """A clock that moves only where somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        until = self.now + seconds
        self.slept.append(seconds)
        await asyncio.sleep(0)
        self.now = max(self.now, until)
