"""Traces: what a metric's scores were made from, sample by sample, and the errors."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from metrichub.evaluation.votes import votes_in
from metrichub.models.usage import Usage

TraceItem = Mapping[str, Any]


class WithTrace(NamedTuple):
    """A row together with what it was computed from: {"claims": [Verdict(...), ...]}.

    `row` is anything that `observe` may return; `step` holds texts, numbers, lists, mappings,
    dataclasses and named tuples, which are stored as JSON types.
    """

    row: Any
    step: TraceItem


class Failed(NamedTuple):
    """A row without a score because a call failed, or waits for a batch, and the cause."""

    cause: str
    pending: bool = False


class Explanation(NamedTuple):
    """Why one sample has its scores, with one step per candidate.

    The status is "ok", "undefined" if the metric has no score for the sample, "error" if a call
    failed, or "pending" while a call waits for a batch; `reason` says why.
    """

    status: Literal["ok", "undefined", "error", "pending"]
    reason: str | None
    scores: Mapping[str, float]
    steps: Sequence[TraceItem]


@dataclass(frozen=True)
class Trace:
    """The steps and errors of one metric by sample; `causes` counts the errors.

    `calls` holds the keys of the requests that were made for a sample, `votes` how often the judges
    of a panel voted so on an item. `pending` are the samples that wait for a batch, with the
    reasons, which `waits` counts.
    """

    steps: Mapping[int, Sequence[TraceItem]] = field(default_factory=dict)
    errors: Mapping[int, str] = field(default_factory=dict)
    causes: Counter[str] = field(default_factory=Counter)
    calls: Mapping[int, Sequence[str]] = field(default_factory=dict)
    votes: Counter[str] = field(default_factory=Counter)
    pending: Mapping[int, str] = field(default_factory=dict)
    waits: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(
        cls,
        steps: Mapping[int, Sequence[TraceItem]],
        errors: Mapping[int, str],
        calls: Mapping[int, Sequence[str]],
        pending: Mapping[int, str] = MappingProxyType({}),
    ) -> Trace:
        """The trace with its errors, votes and waiting samples counted."""
        causes, waits = Counter(errors.values()), Counter(pending.values())
        return cls(steps, errors, causes, calls, votes_in(steps.values()), dict(pending), waits)

    def status(self, sample: int) -> Literal["ok", "error", "pending"]:
        """The status of a sample, as far as its calls are concerned."""
        return "pending" if sample in self.pending else "error" if sample in self.errors else "ok"

    @property
    def failed(self) -> int:
        """The number of samples with an error."""
        return self.causes.total()

    @staticmethod
    def joined(parts: Sequence[tuple[int, Trace]]) -> Trace:
        """The trace of parts that start at these samples."""
        return Trace(
            {start + i: step for start, part in parts for i, step in part.steps.items()},
            {start + i: why for start, part in parts for i, why in part.errors.items()},
            sum((part.causes for _, part in parts), Counter()),
            {start + i: keys for start, part in parts for i, keys in part.calls.items()},
            sum((part.votes for _, part in parts), Counter()),
            {start + i: why for start, part in parts for i, why in part.pending.items()},
            sum((part.waits for _, part in parts), Counter()),
        )

    def take(self, index: Sequence[int]) -> Trace:
        """The trace of the samples at `index`, in that order."""
        return Trace.of(
            {new: self.steps[old] for new, old in enumerate(index) if old in self.steps},
            {new: self.errors[old] for new, old in enumerate(index) if old in self.errors},
            {new: self.calls[old] for new, old in enumerate(index) if old in self.calls},
            {new: self.pending[old] for new, old in enumerate(index) if old in self.pending},
        )

    def pool(self) -> Trace:
        """The counts without the samples."""
        return Trace(causes=self.causes, votes=self.votes, waits=self.waits)


@dataclass(frozen=True)
class Observed:
    """What metrics observed of a block: rows and traces by metric, and what it took."""

    rows: Mapping[str, list[Any]]
    traces: Mapping[str, Trace]
    usage: Usage


def error_line(error: BaseException) -> str:
    """An exception on one line: its type and its text."""
    return " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")


def json_value(value: Any) -> Any:
    """A value in the types of JSON; a dataclass or named tuple is a mapping of its fields.

    Numbers that aren't finite become None, and what JSON doesn't know its text.
    """
    if type(value) in (str, int):  # Most are, and the page asks a million times.
        return value
    if is_dataclass(value):
        value = {f.name: getattr(value, f.name) for f in fields(value)}
    elif hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (str, int, float)) else str(value)
