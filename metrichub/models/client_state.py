"""What is known of a server on one event loop: its client, and the form that it accepts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from metrichub.errors import BudgetSpent, JudgeError, JudgeUnavailable
from metrichub.models.failures import Refused
from metrichub.models.session import Session
from metrichub.models.usage import batch_of_run

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
    accepted: bool = False
    """Whether it accepted a request, be its reply of use or not."""
    doubted: bool = False
    """Whether the last reply was of use only without a schema, which may be chance."""
    refused_row: object = None
    """The row of the request that it refused in every form, while it had accepted none."""
    bounded: bool = True
    """Whether schemas bound lists and numbers; some servers know no such words."""
    largest_reply: int = 0
    """The tokens of the largest reply so far."""
    probing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    """Held while a request tries the forms, so that each is tried once."""

    async def negotiated(
        self, first: Callable[[], Awaitable[T]], others: Callable[[str], Awaitable[T]]
    ) -> T:
        """What `first` gives while no form has worked; then what `others` does.

        The first request is made alone, until the server accepts it, and so is the next where the
        form is in doubt. After each that fails for another reason one more is made at a time, so
        that a slow failure holds up few. An error that every later call would meet is that of all
        that waited for it.
        """
        if not self._known():
            before = self.ended
            async with self.probing:
                if self.ended and self.ended is not before:
                    raise self.ended
                if not self._known():
                    return await self._first(first)
        return await (others(self.form) if self.form else first())

    def _known(self) -> bool:
        return self.form is not None or (self.accepted and not self.doubted)

    async def _first(self, first: Callable[[], Awaitable[T]]) -> T:
        try:
            return await first()
        except JudgeError as error:
            if not error.ends_the_run:
                # Whether the next one is refused, too, is known at once.
                if not isinstance(error, Refused) or error.for_its_texts:
                    self.probing.release()
            elif not isinstance(error, BudgetSpent):
                # A budget is one run's.
                self.ended = error
            raise

    def refusal(self, error: Refused, row: object, so: str) -> JudgeError:
        """The error of a request that was refused in every form: its own, or that of all requests.

        A server that has accepted none so far may dislike the texts of one row, whatever it says,
        but hardly those of a second one. No row is known outside of a run.
        """
        if self.accepted or self.form is not None:
            return error
        before, self.refused_row = self.refused_row, object() if row is None else row
        if before is None or before is row:
            return error
        return JudgeUnavailable(f"{error}; {so}")

    @cached_property
    def client(self) -> AsyncOpenAI:
        """The client, made on first use: an estimate needs none, and so no key."""
        return self.connect()


_sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Any, Any]] = WeakKeyDictionary()


def per_loop(owner: Any, make: Callable[[], Any]) -> Any:
    """What belongs to a judge on the running loop, made on first use; equal judges share it.

    A run over a batch has its own.
    """
    batch = batch_of_run()
    mine = batch.states if batch else _sessions.setdefault(asyncio.get_running_loop(), {})
    if owner not in mine:
        mine[owner] = make()
    return mine[owner]
