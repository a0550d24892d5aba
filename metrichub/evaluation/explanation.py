"""Traces: what a metric's scores were made from, sample by sample, and the errors."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import chain
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from metrichub.data.values import json_value
from metrichub.metric import TraceItem
from metrichub.models.usage import Usage

_COUPLE = 2
CUT = "cut"
"""The part of a step that says what a judge left out."""


Status = Literal["ok", "unscored", "unanswered", "error", "pending"]


class Failed(NamedTuple):
    """A row without a score because a call failed, or waits for a batch, and the cause."""

    cause: str
    pending: bool = False


class Explanation(NamedTuple):
    """Why one sample has its scores, with one step per candidate.

    The status is "ok", "error" if a call failed, "pending" while a call waits for a batch, and
    otherwise what `Report.scores` counts the sample as: "unanswered" if its prediction has no score
    by the metric's definition, else "unscored". `reason` says why.
    """

    status: Status
    reason: str | None
    scores: Mapping[str, float]
    steps: Sequence[TraceItem]

    def _repr_html_(self) -> str:
        """The scores, the status if there is no score, and what the steps hold, for notebooks."""
        scores = "".join(
            f"<tr><td>{escape(n)}</td><td>{v:.4g}</td></tr>" for n, v in self.scores.items()
        )
        why = "" if self.status == "ok" else f"<p>{escape(f'{self.status}: {self.reason}')}</p>"
        steps = json.dumps(json_value([*self.steps]), ensure_ascii=False, indent=2)
        return f"{why}<table>{scores}</table><pre>{escape(steps)}</pre>"


@dataclass(frozen=True)
class Trace:
    """The steps and errors of one metric by sample, and the errors counted.

    `calls` holds the keys of the requests that were made for a sample, `votes` how often the judges
    of a panel voted so on an item, and `cuts` what judges left out. `pending` are the samples that
    wait for a batch, with the reasons, and are counted, too.
    """

    steps: Mapping[int, Sequence[TraceItem]] = field(default_factory=dict)
    errors: Mapping[int, str] = field(default_factory=dict)
    errors_by_cause: Counter[str] = field(default_factory=Counter, metadata={"saved_as": "causes"})
    calls: Mapping[int, Sequence[str]] = field(default_factory=dict)
    votes: Counter[str] = field(default_factory=Counter)
    pending: Mapping[int, str] = field(default_factory=dict)
    pending_by_cause: Counter[str] = field(default_factory=Counter, metadata={"saved_as": "waits"})
    cuts: Counter[str] = field(default_factory=Counter)

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
        votes = votes_in(steps.values())
        all_steps = chain.from_iterable(steps.values())
        cuts = Counter([what for step in all_steps for what in step.get(CUT, ())])
        return cls(steps, errors, causes, calls, votes, dict(pending), waits, cuts)

    def status(self, sample: int) -> Literal["ok", "error", "pending"]:
        """The status of a sample, as far as its calls are concerned."""
        return "pending" if sample in self.pending else "error" if sample in self.errors else "ok"

    @staticmethod
    def joined(parts: Sequence[tuple[int, Trace]]) -> Trace:
        """The trace of parts that start at these samples."""
        return Trace(
            {start + i: step for start, part in parts for i, step in part.steps.items()},
            {start + i: why for start, part in parts for i, why in part.errors.items()},
            sum((part.errors_by_cause for _, part in parts), Counter()),
            {start + i: keys for start, part in parts for i, keys in part.calls.items()},
            sum((part.votes for _, part in parts), Counter()),
            {start + i: why for start, part in parts for i, why in part.pending.items()},
            sum((part.pending_by_cause for _, part in parts), Counter()),
            sum((part.cuts for _, part in parts), Counter()),
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
        return Trace(
            errors_by_cause=self.errors_by_cause,
            votes=self.votes,
            pending_by_cause=self.pending_by_cause,
            cuts=self.cuts,
        )


@dataclass(frozen=True)
class Observed:
    """The observations of a block: rows and traces by metric, and the usage of models."""

    rows: Mapping[str, list[Any]]
    traces: Mapping[str, Trace]
    usage: Usage


def error_line(error: BaseException) -> str:
    """An exception on one line: its type and its text."""
    return " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")


def votes_in(steps: Iterable[Any]) -> Counter[str]:
    """How often a panel's judges voted so on an item: '["yes", "no", null]' -> 3.

    `null` stands for a judge whose call failed.
    """
    return Counter(json.dumps([vote["verdict"] for vote in item]) for item in _votes(steps))


def agreement_notes(votes: Mapping[str, int]) -> list[str]:
    """How far a panel's judges agree, from what `votes_in` gives.

    Items that a judge gave no verdict on are counted apart.
    """
    patterns = [(json.loads(pattern), n) for pattern, n in votes.items()]
    judges = max(len(pattern) for pattern, _ in patterns)
    complete = [
        item for item, n in patterns if len(item) == judges and None not in item for _ in range(n)
    ]
    gave_none = Counter(
        f"judge {place}"
        for item, n in patterns
        for place, verdict in enumerate(item, 1)
        if verdict is None
        for _ in range(n)
    )
    lacking = "".join(f"; {judge} gave no verdict on {n} more" for judge, n in gave_none.items())
    if not complete:
        return [f"no item has all {judges} votes of the panel{lacking}"]
    same = sum(len(set(item)) == 1 for item in complete) / len(complete)
    return [
        f"the {judges} votes of the panel agree on {same:.1%} of {len(complete)} items, "
        f"{_kappa(complete)}{lacking}"
    ]


def _kappa(votes: Sequence[Sequence[str]]) -> str:
    """Cohen's kappa of two judges and Fleiss' of more, by its name."""
    from metrichub.evaluation.kappa import cohen_kappa, fleiss_kappa

    couple = len(votes[0]) == _COUPLE
    pair = [[item[k] for item in votes] for k in (0, 1)]
    kappa = cohen_kappa(pair[0], pair[1]) if couple else fleiss_kappa(votes)
    name = "Cohen's" if couple else "Fleiss'"
    return f"{name} kappa {'undefined' if math.isnan(kappa) else f'{kappa:.3f}'}"


def _votes(steps: Iterable[Any]) -> Iterator[Sequence[Mapping[str, Any]]]:
    """The votes on every item, wherever they stand in steps."""
    for part in steps:
        if isinstance(part, Mapping):
            if isinstance(part.get("votes"), list) and "verdict" in part:
                yield part["votes"]
            else:
                yield from _votes(part.values())
        elif isinstance(part, (list, tuple)):
            yield from _votes(part)
