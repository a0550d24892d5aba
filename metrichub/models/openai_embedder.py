"""The embedder behind an OpenAI-compatible server; texts of a run go out in few calls."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from itertools import count
from typing import Annotated, Any, TypeVar

import numpy as np

from metrichub.catalog.parameters import Range
from metrichub.errors import JudgeError
from metrichub.models.client import Connection, clean
from metrichub.models.client_state import ClientState, per_loop
from metrichub.models.embedders import Vectors
from metrichub.models.failures import Refused
from metrichub.models.run_store import AnyStore
from metrichub.models.session import Request, join_call
from metrichub.models.usage import (
    Answer,
    UsageTracker,
    batch_of_run,
    cuts_of_row,
    spent_on,
    tokens_in,
    tracker_of_run,
)

T = TypeVar("T")
BATCH = 256
"""How many texts one call holds at most."""
WINDOW = 0.5
"""Seconds that a text waits at most for others to come, while its run waits for other answers."""
_LOOK_AGAIN = 0.02
_TURNS = 10
"""Turns of the loop within which an answer that has come leads to the next request, if to any."""


@dataclass(frozen=True, kw_only=True, repr=False)
class OpenAIEmbedder(Connection):
    """An embedder that asks a model; equal texts are sent only once.

    Attributes:
        dimensions: The length of a vector, if the model supports a choice.
    """

    model: str = "text-embedding-3-small"
    dimensions: Annotated[int, Range(1)] | None = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of the texts, (n, d)."""
        if not texts:
            return np.zeros((0, 0))
        # Servers refuse the empty text.
        cleaned = [clean(text) or " " for text in texts]
        store, guessed = await self._store(), count()

        def calls() -> int:
            """How many calls an estimate counts for a text: what comes together goes together."""
            return int(next(guessed) % BATCH == 0)

        unique = dict.fromkeys(cleaned)
        replies = await _gather_all(*(self._reply(text, store, calls) for text in unique))
        vectors = {text: _unpacked(reply)[0] for text, reply in zip(unique, replies, strict=True)}
        return np.array([vectors[text] for text in cleaned], np.float64)

    async def _reply(self, text: str, store: AnyStore | None, calls: Callable[[], int]) -> str:
        """The reply with the vector of one text, which goes out with those of other samples."""
        live = self._live()
        coalescer: Coalescer = per_loop(("coalescer", self), lambda: self._coalescer(live))
        request = {"embedder": self.label, "input": [text], "parameters": self._parameters()}
        request |= self._endpoint()
        return await live.session.once(
            Request(
                request,
                # There is a `calls` for each call of `embed`.
                lambda: coalescer.answer(text, group=calls),
                # A vector is the same for every text where only the calls count.
                lambda: ("[[1.0]]", text),
                self.model,
                _fits,
                calls,
            ),
            store,
        )

    def _parameters(self) -> dict[str, Any]:
        return {} if self.dimensions is None else {"dimensions": self.dimensions}

    def _coalescer(self, live: ClientState) -> Coalescer:
        async def send(waiting: Sequence[WaitingText]) -> None:
            def answered(*_: str) -> Awaitable[bool]:
                return self._answered(live, coalescer, waiting)

            await live.negotiated(answered, answered)

        # Which texts meet in a call is chance, and a line of a batch has to be the same each time.
        coalescer = Coalescer(send, 1 if batch_of_run() else BATCH)
        return coalescer

    async def _answered(
        self, live: ClientState, coalescer: Coalescer, waiting: Sequence[WaitingText]
    ) -> bool:
        """Whether all that still waited were answered, each by itself if need be."""
        try:
            await self._embed_pending(live, waiting)
            return True
        except Refused as error:
            left = [request for request in waiting if not request.answer.done()]
            if len(left) <= 1:
                if error.for_its_texts:
                    raise
                row = (left or waiting)[0].context.get(cuts_of_row)
                raise live.refusal(error, row, "does this server offer embeddings?") from None
            known = live.form is not None or error.for_its_texts
        except JudgeError as error:
            if error.ends_the_run or len(groups := _grouped(waiting)) < 2:
                raise
            # A failure costs no other sample: each is asked for as if it were alone.
            return all(await _gather_all(*(self._part(live, coalescer, group) for group in groups)))
        # It may be one of the texts, or how many they are; while nothing worked, one text tells.
        middle = len(left) // 2 if known else 1
        parts = (left[:middle], left[middle:])
        fine = [await self._part(live, coalescer, part) for part in parts]
        if known and all(fine):
            coalescer.most = min(coalescer.most, len(parts[1]))
        return all(fine)

    async def _part(
        self, live: ClientState, coalescer: Coalescer, waiting: Sequence[WaitingText]
    ) -> bool:
        """Whether a part of a call was answered; its failure isn't that of the others."""
        try:
            return await self._answered(live, coalescer, waiting)
        except JudgeError as error:
            if error.ends_the_run:
                raise
            for request in waiting:
                if not request.answer.done():
                    request.answer.set_exception(error)
            return False

    async def _embed_pending(self, live: ClientState, waiting: Sequence[WaitingText]) -> None:
        """One call for all texts that still need one."""
        pending = list(waiting)
        parameters = self._parameters()
        if self.extra_body:
            parameters |= {"extra_body": self.extra_body}

        def each(step: Callable[[], None]) -> None:
            pending[:] = [request for request in pending if request.after(step)]
            if not pending:
                raise NothingToAsk

        join_call(request.context for request in waiting)
        try:
            done = await self._sent(
                live,
                # In the client's own encoding: reading lists of numbers takes it seven times as
                # long.
                lambda client: client.embeddings.create(
                    model=self.model, input=[request.text for request in pending], **parameters
                ),
                lambda: sum(tokens_in(request.text) for request in pending),
                each=each,
            )
        except NothingToAsk:
            return
        took = spent_on(done)
        live.session.count_spent(took, calls=0)
        if (vectors := _vectors(done, len(pending))) is None:
            raise JudgeError(f"{self.label} returned no finite vectors for {len(pending)} texts")
        live.form = "embeddings"
        for i, (request, vector) in enumerate(zip(pending, vectors, strict=True)):
            if not request.answer.done():
                share = _share(took.prompt_tokens, i, len(pending))
                request.answer.set_result(Answer(_packed(vector[None]), share))


async def _gather_all(*asks: Coroutine[Any, Any, T]) -> list[T]:
    """What all of them give; where one fails, the others are given up."""
    tasks = [asyncio.create_task(ask) for ask in asks]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


def _grouped(waiting: Sequence[WaitingText]) -> list[list[WaitingText]]:
    """What still waits, by what was asked for together."""
    groups: dict[object, list[WaitingText]] = {}
    for request in waiting:
        if not request.answer.done():
            groups.setdefault(request.group, []).append(request)
    return list(groups.values())


class NothingToAsk(Exception):
    """No text needs a call any more."""


def _share(tokens: int, i: int, n: int) -> int:
    """The part of a call's tokens that is counted for the i-th of its n texts; they add up."""
    return tokens * (i + 1) // n - tokens * i // n


def _packed(vectors: Vectors) -> str:
    """The bytes of the vectors as JSON, exactly: numbers in decimal take ten times as long."""
    rows = vectors.astype("<f8")
    return json.dumps([base64.b64encode(row.tobytes()).decode("ascii") for row in rows])


def _unpacked(reply: str) -> Vectors:
    """The vectors of a reply, be they bytes or, in an estimate, numbers."""
    rows = json.loads(reply)
    unpacked = [
        np.frombuffer(base64.b64decode(row), "<f8") if isinstance(row, str) else row for row in rows
    ]
    return np.array(unpacked, np.float64)


def _fits(reply: str) -> bool:
    """Whether what was kept holds a vector."""
    try:
        vectors = _unpacked(reply)
    except (TypeError, ValueError):
        return False
    return vectors.ndim == 2 and len(vectors) == 1


def _vectors(done: Any, number: int) -> Vectors | None:
    """The vectors in the order of the texts; None if they are none, or not as many."""
    try:
        rows = sorted(done.data, key=lambda row: row.index)
        vectors = np.array([row.embedding for row in rows], np.float64)
    except (AttributeError, TypeError, ValueError):
        return None
    whole = vectors.ndim == 2 and vectors.size and np.isfinite(vectors).all()
    if not whole or [row.index for row in rows] != list(range(number)):
        return None
    return vectors


@dataclass(eq=False)
class WaitingText:
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

    waiting: list[WaitingText] = field(default_factory=list)
    task: asyncio.Task[None] = field(init=False)

    def left(self) -> list[WaitingText]:
        """What still waits."""
        return [waiting for waiting in self.waiting if not waiting.answer.done()]


class Coalescer:
    """Texts of the same run in one call, at most `most`.

    Where a run waits for nothing else, nothing waits here: no other text can come.
    """

    def __init__(self, send: Callable[[Sequence[WaitingText]], Awaitable[None]], most: int) -> None:
        self.most = most
        self._send = send
        self._open: dict[UsageTracker | None, _Call] = {}

    async def answer(self, text: str, group: object) -> Answer:
        """The answer that `send` gave this text."""
        run = tracker_of_run()
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        waiting = WaitingText(text, group, copy_context(), answer)
        call = self._open.get(run)
        if call is None or len(call.waiting) >= self.most:
            call = self._open[run] = _Call()
            call.task = asyncio.create_task(self._sent(run, call))
        call.waiting.append(waiting)
        try:
            return await answer
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
            for waiting in call.left():
                waiting.answer.set_exception(error)
        finally:
            for waiting in call.left():
                waiting.answer.cancel()

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
