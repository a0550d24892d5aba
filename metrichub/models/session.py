"""Session: calls with a limit on those in flight, each made once however many ask for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import Context, ContextVar
from dataclasses import dataclass, field
from typing import Any

from metrichub.errors import BudgetSpent, JudgeError
from metrichub.models.failures import AnswerPending, ServerFailure
from metrichub.models.pace import Pace
from metrichub.models.run_store import AnyStore, Claims
from metrichub.models.sending import Sending, sending_of_call
from metrichub.models.store import key_of
from metrichub.models.usage import (
    Answer,
    Prices,
    UsageTracker,
    limiter_of,
    recorded_keys,
    tokens_in,
    tracker_of_run,
)

Ask = Callable[[], Awaitable[Answer]]
_LOOK_AGAIN = 0.1
"""Seconds until the store is asked again for what another process is asking for."""


@dataclass
class _Flight:
    """A request on its way, and the runs that wait for it; None is a caller outside any run.

    `by` is the run that makes it, whose budget pays.
    """

    key: str
    store: AnyStore | None
    by: UsageTracker | None
    waiting: list[UsageTracker | None] = field(default_factory=list)
    task: asyncio.Task[Answer] = field(init=False)


class _Answered(Exception):
    """The answer to a request that needs no call any more."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer


class _AskedElsewhere(Exception):
    """Another process asks for the answer at this moment."""


_joined: ContextVar[tuple[_Flight, ...]] = ContextVar("joined", default=())
"""The requests that the running task makes a call for."""
_turn: ContextVar[int] = ContextVar("turn", default=0)


@contextmanager
def separate_answers(turn: int) -> Iterator[None]:
    """What is asked inside has answers of its own for each turn; those of turn 0 are the usual."""
    token = _turn.set(turn)
    try:
        yield
    finally:
        _turn.reset(token)


def join_call(contexts: Iterable[Context]) -> None:
    """Let the running task make a call for all requests of other tasks, by their contexts."""
    _joined.set(tuple(flight for context in contexts for flight in context.get(_joined, ())))


def key_of_call() -> str:
    """The key of the request that the running task makes a call for."""
    return next((flight.key for flight in _joined.get()), "")


@dataclass
class Request:
    """One request: what makes it what it is, how it is made, and what it would likely give.

    `likely` gives the reply and the texts that would be sent, for estimates; `fits` says whether a
    reply out of the store is of the form that is read today. `calls` is how many calls an estimate
    counts for it.
    """

    body: Mapping[str, Any]
    ask: Ask
    likely: Callable[[], tuple[str, object]]
    model: str
    fits: Callable[[str], bool] = bool
    calls: Callable[[], int] = lambda: 1


class Session:
    """The calls of one judge on one event loop."""

    def __init__(
        self,
        limit: int,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        prices: Prices | None = None,
        pace: Pace | None = None,
    ) -> None:
        self.pace = pace
        self.slots = asyncio.Semaphore(limit)
        self.prices = prices
        self._requests = limiter_of(requests_per_minute, evenly=True)
        self._tokens = limiter_of(tokens_per_minute)
        self._flights: dict[str, _Flight] = {}
        self._claims = Claims()

    async def wait_for_limits(self, tokens: int, requests: int = 1) -> None:
        """Wait until the limits a minute allow so many more requests and tokens."""
        for limiter, amount in ((self._requests, requests), (self._tokens, tokens)):
            if limiter is not None and amount:
                # More than a whole minute's worth would never fit.
                await limiter.acquire(min(amount, limiter.max_rate))

    def check_still_wanted(self) -> None:
        """Look again before a request is sent: its turn may come when its run has ended.

        Raises:
            JudgeError: the error that ended the run, where no other run waits for the answer.
        """
        runs = [run for flight in _joined.get() for run in flight.waiting]
        errors = [run.over if run else None for run in runs]
        if errors and errors[0] and None not in errors:
            raise errors[0]

    def check_store(self) -> None:
        """Look into the store again: another process may have the answer, or be asking for it.

        Raises:
            _Answered: it has.
            _AskedElsewhere: it is.
        """
        for flight, store in _stored_joined():
            if answer := store.get(flight.key):
                raise _Answered(answer)
            if self._claims.held_elsewhere(flight.key, store):
                raise _AskedElsewhere

    def claim(self) -> None:
        """Tell other processes that this one asks; raises as `check_store`."""
        for flight, store in _stored_joined():
            if answer := store.get(flight.key):
                raise _Answered(answer)
            if not self._claims.take(flight.key, store):
                raise _AskedElsewhere

    @contextmanager
    def sharing_errors(self) -> Iterator[None]:
        """Tell the runs that wait for a request of an error that every later call would meet.

        Inside a slot, they learn of it before it is free again, and so before another request gets
        it.
        """
        try:
            yield
        except JudgeError as error:
            # A budget is one run's; others that wait for the same answer ask for it themselves.
            own = tracker_of_run() if isinstance(error, BudgetSpent) else None
            if error.ends_the_run:
                for run in (run for flight in _joined.get() for run in flight.waiting):
                    if run and own in (None, run):
                        run.over = run.over or error
            raise

    @contextmanager
    def sending(
        self, judge: str, tokens: int, reply_tokens: Callable[[], int]
    ) -> Iterator[Sending]:
        """The requests of a call that is made inside, for the transport, which sees each.

        Raises:
            JudgeUnavailable: too many calls in a row were given up for the server's fault.
        """
        tracker = tracker_of_run()
        # Answers of a batch are there or not, whatever becomes of others.
        budget = tracker.budget if tracker and not tracker.batch else None
        sending = Sending(self.prices, tokens, reply_tokens, self.wait_for_limits, self.pace)
        token = sending_of_call.set(sending)
        try:
            yield sending
            if budget:
                budget.given_up.pop(judge, None)
        except ServerFailure as error:
            if budget:
                budget.give_up(judge, str(error))
            raise
        finally:
            sending.end()
            sending_of_call.reset(token)

    def count_spent(self, answer: Answer, calls: int = 1) -> None:
        """Count calls and their tokens, whether or not the answer turns out to be of use."""
        if tracker := tracker_of_run():
            tracker.count_spent(answer, self.prices, calls)

    async def once(self, request: Request, store: AnyStore | None) -> str:
        """The reply to a request: out of the store, of a call in flight, or a new one."""
        tracker = tracker_of_run()
        key = key_of({**request.body, **_repeat_and_turn(tracker)})
        if (keys := recorded_keys()) is not None:
            keys.append(key)
        flight = self._flights.get(key)
        if flight is None:
            if (reply := self._without_call(request, store, key, tracker)) is not None:
                return reply
            flight = self._flights[key] = _Flight(key, store, tracker)
            flight.task = asyncio.create_task(self._make(request, flight))
        elif tracker:
            tracker.count_reused()
        flight.waiting.append(tracker)
        try:
            # Shielded, as one that gives up must not take the answer from the others.
            return (await asyncio.shield(flight.task)).reply
        except AnswerPending:
            if tracker and tracker.batch:
                # One that gives up may give up others that belong to the same round.
                await tracker.batch.wait_until_quiet(lambda: tracker.asking)
            raise
        except BudgetSpent:
            if flight.by is tracker:
                raise
        finally:
            flight.waiting.remove(tracker)
            if not flight.waiting and not flight.task.done():
                self._flights.pop(key)
                flight.task.cancel()
                # A run isn't over while a request of its own may still be on its way.
                await asyncio.wait([flight.task])
        return await self.once(request, store)

    def _without_call(
        self, request: Request, store: AnyStore | None, key: str, tracker: UsageTracker | None
    ) -> str | None:
        """The reply that is kept, in the store or by the run, or that an estimate assumes."""
        if store is not None and (answer := _fitting(request, store, key)):
            if tracker and tracker.batch and (calls := tracker.batch.paid_calls(key)):
                tracker.count_spent(answer, self.prices, calls, calls)
            elif tracker:
                tracker.count_reused()
            return answer.reply
        if tracker and key in tracker.replies:
            tracker.count_reused()
            return tracker.replies[key]
        if tracker and tracker.estimating:
            return self._guess(key, request, tracker)
        return None

    def _guess(self, key: str, request: Request, tracker: UsageTracker) -> str:
        reply, sent = request.likely()
        tracker.replies[key] = reply
        answer = Answer(reply, tokens_in(sent), tokens_in(json.loads(reply)))
        self.count_spent(answer, request.calls())
        return reply

    async def _make(self, request: Request, flight: _Flight) -> Answer:
        _joined.set((flight,))
        tracker = tracker_of_run()
        if tracker:
            tracker.asking += 1
        try:
            with self.sharing_errors():
                answer = await _asked(request)
            if tracker and tracker.batch:
                tracker.batch.paid_calls(flight.key)
            stored = flight.store is not None and flight.store.put(
                flight.key, request.model, answer
            )
            if not stored and tracker:
                tracker.replies[flight.key] = answer.reply
            return answer
        except _Answered as answered:
            if tracker:
                tracker.count_reused()
            return answered.answer
        finally:
            if tracker:
                tracker.asking -= 1
            self._claims.release(flight.key)
            if self._flights.get(flight.key) is flight:
                self._flights.pop(flight.key)


def _stored_joined() -> Iterator[tuple[_Flight, AnyStore]]:
    """The requests that the running task makes a call for and that are kept, and where."""
    for flight in _joined.get():
        if flight.store is not None:
            yield flight, flight.store


def _repeat_and_turn(tracker: UsageTracker | None) -> dict[str, int]:
    """The number of the repeat and of the vote, where they aren't the first, as parts of a key.

    Equal requests of other numbers get answers of their own.
    """
    which = {"repeat": tracker.repeat if tracker else 0, "turn": _turn.get()}
    return {name: number for name, number in which.items() if number}


def _fitting(request: Request, store: AnyStore, key: str) -> Answer | None:
    """The answer that is kept, if it is of the form that is read today; else it is forgotten."""
    answer = store.get(key)
    if answer is None or request.fits(answer.reply):
        return answer
    store.drop(key)
    return None


async def _asked(request: Request) -> Answer:
    """The answer to a request, once no other process asks for the same."""
    while True:
        try:
            return await request.ask()
        except _AskedElsewhere:
            await asyncio.sleep(_LOOK_AGAIN)
