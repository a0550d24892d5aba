"""Call: the record of a call to a model server: who waits for it, its requests, what they took."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from metrichub.errors import BudgetSpent, JudgeError
from metrichub.models.failures import AnswerPending, ServerFailure
from metrichub.models.limits import Limiter
from metrichub.models.usage import Answer, Prices, UsageTracker

_AGAIN = 2
"""Time-outs of a call whose requests were too many at once, after which it is sent again."""


@dataclass(eq=False)
class Call:
    """The record of a call: the answers that it is for, by their keys, who waits, its requests.

    `run` is the one that makes it, whose budget pays, and `waiting` are the runs that want an
    answer; None is a caller outside any run.
    """

    keys: Sequence[str]
    run: UsageTracker | None
    limiter: Limiter
    prices: Prices | None
    waiting: list[UsageTracker | None] = field(default_factory=list)
    task: asyncio.Task[Mapping[str, str]] = field(init=False)
    sent: float = 0.0
    _on_its_way: bool = False
    _held: Answer | None = None

    @contextmanager
    def sending(self, judge: str, tokens: int, reply_tokens: Callable[[], int]) -> Iterator[None]:
        """Count the requests inside, each of these tokens, with the estimated tokens of its reply.

        Raises:
            JudgeUnavailable: too many calls in a row were given up for the server's fault.
        """
        self._tokens, self._reply_tokens = tokens, reply_tokens
        self._requests = self._timeouts = 0
        # Answers of a batch are there or not, whatever becomes of others.
        budget = self.run.budget if self.run and not self.run.batch else None
        try:
            yield
            if budget:
                budget.given_up.pop(judge, None)
        except AnswerPending:
            # It will be sent and paid for, but isn't yet.
            self.end(counts=False)
            raise
        except ServerFailure as error:
            if budget:
                budget.give_up(judge, str(error))
            raise
        finally:
            self.end()

    async def begin(self) -> None:
        """Wait for the turn of the next request, and hold room for it in the run's budget.

        Raises:
            BudgetSpent: there is none.
            JudgeError: the error that ended the run, where no other run waits for the answer.
        """
        self._check_wanted()
        self.sent, self._on_its_way = await self.limiter.enter(self._tokens), True
        try:
            self._check_wanted()
            budget = self.run.budget if self.run else None
            if budget and budget.limits.of_usage():
                held = Answer("", self._tokens, self._reply_tokens())
                await budget.hold(held, self.prices)
                self._held = held
        except BaseException:
            self._on_its_way = False
            self.limiter.leave()
            raise

    def _check_wanted(self) -> None:
        errors = [run.over if run else None for run in self.waiting]
        if errors and errors[0] and None not in errors:
            raise errors[0]

    def end(self, took: Answer | None = None, *, counts: bool = True) -> None:
        """Settle and count the request on its way, if any; None is what was held for it."""
        if not self._on_its_way:
            return
        self._on_its_way = False
        self.limiter.leave()
        if self._held and self.run and self.run.budget:
            self.run.budget.settle(self._held, took or self._held, self.prices)
            self._held = None
        took = took or Answer("")
        # What was sent was counted as it went out.
        self.limiter.count_tokens(took.completion_tokens)
        if counts and self.run:
            self.run.count_spent(took, self.prices, int(self._requests == 0), 1)
            self._requests += 1

    def time_out(self, timeout: float) -> bool:
        """Let fewer go out; whether this one is sent again then; see `Limiter.time_out`."""
        self._timeouts += 1
        return self.limiter.time_out(self.sent, timeout, self) and self._timeouts <= _AGAIN

    def end_runs(self, error: JudgeError) -> None:
        """End the runs that wait, by an error that every later call would meet."""
        for run in self.waiting:
            # A budget is one run's; others that wait for the same answer ask for it themselves.
            if run and (run is self.run or not isinstance(error, BudgetSpent)):
                run.over = run.over or error


running_call: ContextVar[Call] = ContextVar("running_call")
"""The call that the running task makes."""
