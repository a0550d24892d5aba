"""Aggregates: pure functions from verdicts and vectors to a score; 0/0 is `nan`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.judge.protocol import Verdict, WeighedVerdict

Weights = str | Mapping[str, float]
"""The verdict that counts 1, or what each verdict counts."""


def values(verdicts: Iterable[Verdict], weights: Weights = "yes") -> list[float]:
    """The weight of each verdict; a word without a weight counts 0.

    A weighed verdict counts the mean of its words' weights, by their fractions.
    """
    weigh = {weights: 1.0} if isinstance(weights, str) else weights
    return [
        sum(weigh.get(word, 0.0) * part for word, part in verdict.weights.items())
        if isinstance(verdict, WeighedVerdict)
        else weigh.get(verdict.verdict, 0.0)
        for verdict in verdicts
    ]


def are_yes(verdicts: Iterable[Verdict], word: str = "yes") -> list[bool]:
    """Whether each verdict is this word, for metrics that count whole items."""
    return [verdict.verdict == word for verdict in verdicts]


def ratio(verdicts: Sequence[Verdict], weights: Weights = "yes") -> float:
    """The sum of the verdicts' weights divided by their number."""
    return sum(values(verdicts, weights)) / len(verdicts) if verdicts else float("nan")


def average_precision(relevant: Sequence[float]) -> float:
    """The mean, over the relevant ranks k, of the fraction of relevant items in the first k.

    `relevant` holds 0 or 1 by rank, or the fraction of a panel that found it relevant. The result
    is 0 if nothing is relevant, and `nan` without ranks.
    """
    labels = np.asarray(relevant, np.float64)
    if not labels.size:
        return float("nan")
    precision = labels.cumsum() / np.arange(1, labels.size + 1)
    total = labels.sum()
    return float((precision * labels).sum() / total) if total else 0.0


class ClaimCounts(NamedTuple):
    """Right and wrong claims of a prediction, and claims of the reference that it lacks.

    `f_beta` computes the score from them.
    """

    true: float
    false: float
    missed: float

    @classmethod
    def of(cls, prediction: Sequence[Verdict], reference: Sequence[Verdict]) -> ClaimCounts:
        """The counts, from the verdicts on the claims of both texts."""
        true, covered = sum(values(prediction)), sum(values(reference))
        return cls(true, len(prediction) - true, len(reference) - covered)


def f_beta(true: float, false_positive: float, false_negative: float, beta: float = 1.0) -> float:
    """F-beta from counts; `nan` if all three are 0."""
    weight = beta * beta
    total = (1 + weight) * true + weight * false_negative + false_positive
    return (1 + weight) * true / total if total else float("nan")


def cosine(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosine of every vector of one (n, d) with every vector of the other (m, d): (n, m).

    A zero vector has the cosine `nan`. Twelve decimals are kept: processors differ in the last
    ones, so that equal texts would have other ranks on another machine.
    """
    with np.errstate(invalid="ignore"):
        # Scaled first, as the squares of tiny or huge numbers are 0 or infinite.
        scaled = (v / np.abs(v).max(axis=-1, keepdims=True, initial=0.0) for v in (one, other))
        a, b = (v / np.linalg.norm(v, axis=-1, keepdims=True) for v in scaled)
    return np.asarray(np.clip(a @ b.T, -1.0, 1.0).round(12), np.float64)
