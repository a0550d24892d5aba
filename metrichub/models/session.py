"""Session: the calls to a model server; equal requests share one."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from metrichub.errors import BudgetSpent, JudgeError, JudgeUnavailable
from metrichub.models.call import Call, running_call
from metrichub.models.failures import AnswerPending, Refused
from metrichub.models.limits import Limiter
from metrichub.models.store import Store, key_of
from metrichub.models.usage import (
    Answer,
    Prices,
    UsageTracker,
    batch_of_run,
    keys_of_row,
    tokens_in,
    tracker_of_run,
)

if TYPE_CHECKING:
    from openai import AsyncOpenAI

T = TypeVar("T")


@dataclass
class Request:
    """A question to a model: its content, by which answers are stored, and its likely reply.

    `likely` returns the reply and the texts that would be sent, for estimates; `fits` says whether
    a stored reply has the form that is read today.
    """

    body: Mapping[str, Any]
    model: str
    likely: Callable[[], tuple[str, object]]
    fits: Callable[[str], bool] = bool


Ask = Callable[[Sequence[Request]], Awaitable[Sequence[Answer]]]
"""A function that makes a call for the answers to requests."""
OpenStore = Callable[[], Store | None]
"""A function that opens the call store, or returns None if answers aren't kept."""


@dataclass
class Session:
    """The calls to one server with the same parameters on one event loop, and its known limits."""

    connect: Callable[[], AsyncOpenAI]
    limiter: Limiter
    prices: Prices | None = None
    form: str | None = None
    """The form of request that the server accepts, once one has worked."""
    refused: set[str] = field(default_factory=set)
    """The forms that it refused while none has worked."""
    accepted: bool = False
    """Whether it accepted a request, be its reply of use or not."""
    doubted: bool = False
    """Whether the last reply was of use only without a schema, which may be chance."""
    refused_row: object = None
    """The row of the request that it refused in every form, while it had accepted none."""
    bounded: bool = True
    """Whether schemas bound lists and numbers; some servers know no such words."""
    system: bool = True
    """Whether there is a role for instructions; some models know users and assistants alone."""
    largest_reply: int = 0
    """The tokens of the largest reply so far."""
    most_texts: int | None = None
    """How many texts the server was found to take in one request."""
    probing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    """Held while a request tries the forms, so that each is tried once."""
    _calls: dict[str, Call] = field(default_factory=dict)

    @cached_property
    def client(self) -> AsyncOpenAI:
        """The client, made on first use: an estimate needs none, and so no key."""
        return self.connect()

    async def replies(self, requests: Sequence[Request], ask: Ask, store: OpenStore) -> list[str]:
        """The replies to different requests: stored ones, those of calls in flight, or new ones.

        All that need a new call are asked for together.
        """
        run = tracker_of_run()
        # Each repeat has answers of its own; the first has those of a single run.
        repeat = {"repeat": run.repeat} if run and run.repeat else {}
        by_key = {key_of({**each.body, **repeat}): each for each in requests}
        if (keys := keys_of_row.get()) is not None:
            keys += by_key
        in_flight: dict[str, Call] = {}
        replies: dict[str, str] = {}
        missing: dict[str, Request] = {}
        for key, request in by_key.items():
            if key in self._calls:
                in_flight[key] = self._calls[key]
            elif (reply := self._stored_reply(key, request, store)) is not None:
                replies[key] = reply
            else:
                missing[key] = request
        if run:
            run.count_reused(len(in_flight))
        if missing and run and run.estimating:
            replies |= self._guessed(missing, run)
        elif missing:
            call = Call(tuple(missing), run, self.limiter, self.prices)
            call.task = asyncio.create_task(self._call(call, missing, ask, store))
            # Its error is noted, though all who waited may have given up by then.
            call.task.add_done_callback(lambda task: task.cancelled() or task.exception())
            in_flight |= dict.fromkeys(missing, call)
            self._calls |= dict.fromkeys(missing, call)
        if await self._wait(list(dict.fromkeys(in_flight.values())), run):
            return await self.replies(requests, ask, store)
        replies |= {key: call.task.result()[key] for key, call in in_flight.items()}
        return [replies[key] for key in by_key]

    async def _wait(self, calls: Sequence[Call], run: UsageTracker | None) -> bool:
        """Wait for calls; returns whether to ask again, as another run had no budget left for one.

        A run that stops waiting leaves the call to others; one without a run that waits is
        cancelled.
        """
        for call in calls:
            call.waiting.append(run)
        try:
            if calls:
                await asyncio.wait([call.task for call in calls])
            for call in calls:
                call.task.result()
        except AnswerPending:
            if run and run.batch:
                # One that gives up may give up others that belong to the same round.
                await run.batch.wait_until_quiet(lambda: run.asking)
            raise
        except BudgetSpent:
            if any(call.run is run for call in calls if call.task.exception()):
                raise
            return True
        finally:
            for call in calls:
                call.waiting.remove(run)
                if not call.waiting and not call.task.done():
                    self._forget(call)
                    call.task.cancel()
                    # A run isn't over while a request of its own may still be on its way.
                    await asyncio.wait([call.task])
        return False

    async def _call(
        self, call: Call, requests: Mapping[str, Request], ask: Ask, store: OpenStore
    ) -> Mapping[str, str]:
        """The replies of a new call, by their keys; they are stored."""
        running_call.set(call)
        run = call.run
        if run:
            run.asking += 1
        try:
            answers = await ask(list(requests.values()))
            for (key, request), answer in zip(requests.items(), answers, strict=True):
                put = partial(Store.put, key=key, model=request.model, answer=answer)
                is_stored = _use_store(put, store, run)
                if run and run.batch:
                    run.batch.paid_calls(key)
                if run and not is_stored:
                    run.replies[key] = answer.reply
            return {key: answer.reply for key, answer in zip(requests, answers, strict=True)}
        except JudgeError as error:
            if error.ends_the_run:
                call.end_runs(error)
            raise
        finally:
            if run:
                run.asking -= 1
            self._forget(call)

    def _forget(self, call: Call) -> None:
        for key in call.keys:
            if self._calls.get(key) is call:
                del self._calls[key]

    def _stored_reply(self, key: str, request: Request, store: OpenStore) -> str | None:
        """The reply in the store or the run; a stored one of another form is dropped."""

        def get(answers: Store) -> Answer | None:
            answer = answers.get(key)
            if answer and not request.fits(answer.reply):
                answers.drop(key)
                return None
            return answer

        run = tracker_of_run()
        answer = _use_store(get, store, run)
        reply = answer.reply if answer else run.replies.get(key) if run else None
        if run and reply is not None:
            calls = run.batch.paid_calls(key) if run.batch and answer else 0
            if answer and calls:
                run.count_spent(answer, self.prices, calls, calls)
            else:
                run.count_reused()
        return reply

    def _guessed(self, requests: Mapping[str, Request], run: UsageTracker) -> dict[str, str]:
        """The replies that an estimate assumes, from one call for all requests."""
        for key, request in requests.items():
            reply, sent = request.likely()
            run.replies[key] = reply
            took = Answer(reply, tokens_in(sent), tokens_in(json.loads(reply)))
            run.count_spent(took, self.prices, calls=0)
        run.count_spent(Answer(""), self.prices)
        return {key: run.replies[key] for key in requests}

    async def negotiated(
        self, first: Callable[[], Awaitable[T]], others: Callable[[str], Awaitable[T]]
    ) -> T:
        """The result of `first` while no form has worked, and then that of `others`.

        The first request is made alone, until the server accepts it, and so is the next where the
        form is in doubt. After each that fails for another reason than its form one more is made at
        a time, so that a slow failure holds up few.
        """
        if not self._is_form_known():
            async with self.probing:
                if not self._is_form_known():
                    try:
                        return await first()
                    except JudgeError as error:
                        if not isinstance(error, Refused) or error.for_its_texts:
                            self.probing.release()
                        raise
        return await (others(self.form) if self.form else first())

    def _is_form_known(self) -> bool:
        return self.form is not None or (self.accepted and not self.doubted)

    def refusal(self, error: Refused, row: object, so: str) -> JudgeError:
        """The error of a request that was refused in every form, or one that ends the run.

        A server that has accepted none so far may dislike the texts of one row, whatever it says,
        but hardly those of a second one. Outside of a run, each request counts as a row.
        """
        if self.accepted or self.form is not None:
            return error
        before, self.refused_row = self.refused_row, object() if row is None else row
        if before is None or before is row:
            return error
        return JudgeUnavailable(f"{error}; {so}")


def _use_store(use: Callable[[Store], T], store: OpenStore, run: UsageTracker | None) -> T | None:
    """The result of a use of the store, or None without one; if it fails, the run goes on."""
    try:
        answers = None if run and run.without_store else store()
        return None if answers is None else use(answers)
    except JudgeUnavailable as error:
        _warn_once(str(error))
        if run:
            run.without_store = True
        return None


@cache
def _warn_once(failure: str) -> None:
    """Warn once that the call store failed."""
    logging.getLogger("metrichub").warning("%s; the run goes on without it", failure)


_sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Any, Any]] = WeakKeyDictionary()


def per_loop(owner: Any, make: Callable[[], T]) -> T:
    """The object of an owner on the running loop, made on first use; equal owners share it.

    A run over a batch has objects of its own.
    """
    batch = batch_of_run()
    objects = batch.states if batch else _sessions.setdefault(asyncio.get_running_loop(), {})
    if owner not in objects:
        objects[owner] = make()
    shared: T = objects[owner]
    return shared
