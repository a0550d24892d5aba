"""What is known of a server on one event loop: its client, and the form that it accepts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from metrichub.errors import BudgetSpent, JudgeError
from metrichub.models.session import Session

if TYPE_CHECKING:
    from openai import AsyncOpenAI

T = TypeVar("T")


@dataclass
class ClientState:
    """The client of a connection on one event loop, and what is known of its server."""

    connect: Callable[[], AsyncOpenAI]
    session: Session
    form: str | None = None
    """The form of request that the server accepts, once one has worked."""
    refused: set[str] = field(default_factory=set)
    """The forms that it refused while none has worked."""
    ended: JudgeError | None = None
    """What the last request that tried the forms met, where every later one would meet it."""
    probing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a first request tries the forms, so that each is tried once."""

    async def asked(
        self, first: Callable[[], Awaitable[T]], others: Callable[[str], Awaitable[T]]
    ) -> T:
        """What `first` gives while no form has worked, one at a time; then what `others` does.

        An error of the first that every later call would meet is that of all that waited for it.
        """
        if self.form is None:
            before = self.ended
            async with self.probing:
                if self.ended and self.ended is not before:
                    raise self.ended
                if self.form is None:
                    return await self._first(first)
        return await others(self.form)

    async def _first(self, first: Callable[[], Awaitable[T]]) -> T:
        try:
            return await first()
        except JudgeError as error:
            # A budget is one run's.
            if error.ends_the_run and not isinstance(error, BudgetSpent):
                self.ended = error
            raise

    @cached_property
    def client(self) -> AsyncOpenAI:
        """The client, made on first use: an estimate needs none, and so no key."""
        return self.connect()
