"""Usage: the calls, tokens and money that runs take, and their limits."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from metrichub.errors import (
    BudgetSpent,
    JudgeError,
    JudgeUnavailable,
    ParameterError,
    TooManyErrors,
    listed,
)

if TYPE_CHECKING:
    import asyncio

    from metrichub.models.batch_files import BatchRun

T = TypeVar("T")
BYTES_A_TOKEN = 4
"""The bytes of UTF-8 that an estimate counts as a token, as usual for English prose."""
_IN_A_ROW = 20
"""Calls given up for a server's fault, without a success in between, that end a run."""
REPAIRED = "repaired: a reply that wasn't quite the JSON that was asked for"
"""The remark on a row for each reply that was repaired."""
_sharers = 1


class Answer(NamedTuple):
    """An answer as JSON, its tokens, the models that gave it, and how many replies were repaired.

    `models` are names as the server gives them.
    """

    reply: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    models: tuple[str, ...] = ()
    repairs: int = 0

    @property
    def tokens(self) -> int:
        """The tokens sent and received."""
        return self.prompt_tokens + self.completion_tokens


def spent_on(done: object) -> Answer:
    """The tokens and the model of a server's answer; 0 tokens if it doesn't say."""
    usage = getattr(done, "usage", None)
    tokens = [getattr(usage, name, 0) for name in ("prompt_tokens", "completion_tokens")]
    names = (getattr(done, name, None) for name in ("model", "system_fingerprint"))
    model = " ".join(name for name in names if isinstance(name, str))
    prompt, completion = (max(number, 0) if isinstance(number, int) else 0 for number in tokens)
    return Answer("", prompt, completion, (model,) if model else ())


@dataclass(frozen=True)
class Usage:
    """Usage of models: calls made, stored answers, tokens, time, cost and requests sent.

    A call that is tried again takes several requests. `cached` counts answers from the call store
    or shared within the run. `seconds` is how long the run waited. `money` is in the currency of
    the judge's prices, and None if a call went to a judge without prices. `models` counts the
    replies by the model that was asked for and the one that the server says replied, with its
    `system_fingerprint`, stored replies too.
    """

    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    money: float | None = 0.0
    seconds: float = field(default=0.0, compare=False)
    requests: int = 0
    models: Mapping[str, Mapping[str, int]] = field(default_factory=dict, compare=False)

    def __add__(self, other: Usage) -> Usage:
        """The sum of both."""
        unknown = self.money is None or other.money is None
        return Usage(
            self.calls + other.calls,
            self.cached + other.cached,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            None if unknown else (self.money or 0.0) + (other.money or 0.0),
            self.seconds + other.seconds,
            self.requests + other.requests,
            {
                asked: Counter(self.models.get(asked, {})) + Counter(other.models.get(asked, {}))
                for asked in {**self.models, **other.models}
            },
        )

    def __str__(self) -> str:
        """One line: "12 calls, 3 answers reused, 1,000 + 200 tokens, 0.0042 in 3.1 s"."""
        line = f"{self.calls:,} calls"
        if self.requests > self.calls:
            line += f" in {self.requests:,} requests"
        line += f", {self.cached:,} answers reused"
        line += f", {self.prompt_tokens:,} + {self.completion_tokens:,} tokens"
        if self.money is not None and self.calls:
            line += f", {self.money:,.4f} at the judge's prices"
        line = f"{line}, {self.seconds:,.1f} s" if self.seconds else line
        return f"{line}; answered by {named}" if (named := self.answered_by) else line

    @property
    def answered_by(self) -> str:
        """The models that replied: "gpt-4o-2024-08-06 (30) and gpt-4o-2024-05-13 (10)"."""
        counts = [count for counts in self.models.values() for count in counts.items()]
        return listed(f"{name} ({number:,})" for name, number in counts) if counts else ""


class Prices(NamedTuple):
    """The prices of a million prompt tokens and of a million completion tokens."""

    prompt: float
    completion: float

    def of(self, answer: Answer) -> float:
        """The price of an answer."""
        prompt, completion = answer.prompt_tokens, answer.completion_tokens
        return (prompt * self.prompt + completion * self.completion) / 1e6


@dataclass(frozen=True)
class Limits:
    """The limits of a run: failed samples, calls, tokens and money; None sets no limit.

    Each request counts as a call, retries too. Its tokens are those of the prompt and of the reply,
    as `hub.estimate` counts them, until the server says how many there were.

    Raises:
        ParameterError: a limit of usage isn't positive.
    """

    max_errors: int | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None

    def __post_init__(self) -> None:
        """Check the limits of usage."""
        for name, most in self.of_usage().items():
            if isinstance(most, bool) or not most > 0:
                raise ParameterError(None, name, most, "a number above 0")

    def of_usage(self) -> dict[str, float]:
        """The limits of calls, tokens and money that are set."""
        names = ("max_calls", "max_tokens", "max_cost")
        return {name: most for name in names if (most := getattr(self, name)) is not None}


@dataclass
class Budget:
    """The usage of a run within its limits, with what is held for requests in flight.

    `scored` counts the samples that are done in each repeat, `given_up` the calls to each judge
    that were given up in a row for its server's fault. `in_flight` counts the requests that room is
    held for, and `landed` is set as one ends.
    """

    limits: Limits = field(default_factory=Limits)
    errors: int = 0
    scored: Counter[int] = field(default_factory=Counter)
    given_up: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    in_flight: int = 0
    landed: asyncio.Event | None = None

    def fail(self, cause: str) -> None:
        """Count a failed sample.

        Raises:
            TooManyErrors: that was one too many.
        """
        self.errors += 1
        most = self.limits.max_errors
        if most is not None and self.errors > most:
            raise TooManyErrors(
                f"more than {most} samples failed, so the run stopped (unless the cache is "
                f"off, all answers are stored); the last failure: {cause}"
            )

    def give_up(self, judge: str, cause: str) -> None:
        """Count a call that was given up for the server's fault.

        Raises:
            JudgeUnavailable: it was one of too many in a row, and nobody said how many may fail.
        """
        self.given_up[judge] += 1
        if self.given_up[judge] >= _IN_A_ROW and self.limits.max_errors is None:
            raise JudgeUnavailable(
                f"{_IN_A_ROW} calls in a row failed because of the server, so the run stopped; the "
                f"last failure: {cause}; all answers are stored unless the cache is off, so the "
                "same run continues from here once the server works; or set max_errors to continue "
                "despite failures"
            )

    def progress(self, repeat: int) -> str:
        """The end of a message on how many samples of a repeat are scored; empty if none is."""
        scored = self.scored[repeat]
        if not scored:
            return ""
        samples = "1 sample" if scored == 1 else f"{scored:,} samples"
        which = f" of repeat {repeat + 1}" if repeat else ""
        where = " in this process" if _sharers > 1 else ""
        return f"; {samples}{which} had been scored{where} by then"

    async def hold(self, answer: Answer, prices: Prices | None) -> None:
        """Hold room for a request, once those on their way leave enough: they may take less.

        Raises:
            BudgetSpent: there is none, or the judge has no prices to count money by.
        """
        import asyncio

        if "max_cost" in self.limits.of_usage() and prices is None:
            raise BudgetSpent("max_cost needs the judge's prices: openai(model='…', prices=[…, …])")
        self.landed = self.landed or asyncio.Event()
        while lacking := self._lacking(answer, prices):
            if not self.in_flight:
                raise BudgetSpent(lacking)
            self.landed.clear()
            await self.landed.wait()
        self.calls += 1
        self.in_flight += 1
        self._count(answer, prices, 1)

    def settle(self, held: Answer, took: Answer, prices: Prices | None) -> None:
        """Count the usage of a request in place of the usage that was held for it."""
        self._count(held, prices, -1)
        self._count(took, prices, 1)
        self.in_flight -= 1
        if self.landed:
            self.landed.set()

    def _lacking(self, answer: Answer, prices: Prices | None) -> str:
        """The limit that a request would exceed, as a message; empty if there is none."""
        amounts = {
            "max_calls": (self.calls, 1),
            "max_tokens": (self.tokens, answer.tokens),
            "max_cost": (self.cost, prices.of(answer) if prices else 0.0),
        }
        for name, most in self.limits.of_usage().items():
            so_far, more = amounts[name]
            if so_far + more > most:
                return (
                    f"the next call would exceed {name}={most:,} ({so_far:,.6g} so far, retries "
                    "counted), so the run stopped; all answers are stored unless the cache is off, "
                    "so a run with a higher limit continues from here"
                )
        return ""

    def _count(self, answer: Answer, prices: Prices | None, times: int) -> None:
        self.tokens += times * answer.tokens
        self.cost += times * prices.of(answer) if prices else 0.0


@dataclass(eq=False)
class UsageTracker:
    """The usage of a run so far.

    `repeat` is the number of the run where runs are repeated: each asks for answers of its own.
    While `estimating`, nothing is sent, and every answer is guessed. `replies` holds what was
    guessed, or asked for and kept nowhere else, so that all metrics of a run see the same. `asking`
    counts the answers that it waits for. `over` is the error that ended the run: nothing more is
    sent for it. `budget` is what it may take. With a `batch` answers come out of its folder alone.
    `without_store` is set once the call store has failed.
    """

    repeat: int = 0
    estimating: bool = False
    usage: Usage = field(default_factory=Usage)
    replies: dict[str, str] = field(default_factory=dict)
    asking: int = 0
    over: JudgeError | None = None
    budget: Budget | None = None
    batch: BatchRun | None = None
    without_store: bool = False

    def count_reused(self, answers: int = 1) -> None:
        """Count answers that were stored or shared."""
        self.usage += Usage(cached=answers)

    def count_spent(
        self, answer: Answer, prices: Prices | None, calls: int = 1, requests: int = 0
    ) -> None:
        """Count calls and requests with their answer."""
        if self.batch and self.batch.reported:
            self.usage += Usage(cached=calls)
            return
        tokens = (answer.prompt_tokens, answer.completion_tokens)
        money = prices.of(answer) if prices else None
        self.usage += Usage(calls, 0, *tokens, money, requests=requests)


_tracker: ContextVar[UsageTracker | None] = ContextVar("tracker", default=None)
keys_of_row: ContextVar[list[str] | None] = ContextVar("keys", default=None)
"""The list to which the running task adds the keys of its requests, if there is one."""
cuts_of_row: ContextVar[list[str] | None] = ContextVar("cuts", default=None)
"""The list to which judges add remarks on a row, such as texts that they left out."""


def count_replies(asked: str, answer: Mapping[str, Any]) -> None:
    """Count the models of an answer in the run, and its repaired replies in the row."""
    if (run := _tracker.get()) and (models := answer.get("models")):
        run.usage += Usage(models={asked: Counter(models)})
    if (cuts := cuts_of_row.get()) is not None:
        cuts += [REPAIRED] * answer.get("repairs", 0)


def tracker_of_run() -> UsageTracker | None:
    """The tracker of the run that the running task belongs to; None outside any run."""
    return _tracker.get()


def batch_of_run() -> BatchRun | None:
    """The batch that answers the run that the running task belongs to, if one does."""
    tracker = _tracker.get()
    return tracker.batch if tracker else None


def track_usage(
    repeat: int = 0,
    estimating: bool = False,
    budget: Budget | None = None,
    batch: BatchRun | None = None,
) -> AbstractContextManager[UsageTracker]:
    """A tracker of all calls that are made inside the block and by the tasks that start there."""
    return _within(_tracker, UsageTracker(repeat, estimating, budget=budget, batch=batch))


def record_keys() -> AbstractContextManager[list[str]]:
    """The keys of the requests that are made inside the block and by the tasks that start there."""
    return _within(keys_of_row, [])


@contextmanager
def _within(variable: ContextVar[Any], value: T) -> Iterator[T]:
    """The value of a variable inside the block."""
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)


def tokens_in(*texts: object) -> int:
    """The estimated number of tokens of texts, or of anything as JSON."""
    sent = "".join(json.dumps(text, ensure_ascii=False) for text in texts)
    return -(-len(sent.encode("utf-8", "replace")) // BYTES_A_TOKEN)


def share_limits(processes: int) -> None:
    """Set the number of processes that share the limits per minute."""
    global _sharers  # of the process, like the environment
    _sharers = processes


def sharers() -> int:
    """The number of processes that share the limits per minute."""
    return _sharers
