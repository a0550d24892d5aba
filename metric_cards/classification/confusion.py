"""Confusion: how often each label was predicted for each reference, and the scores of that."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from metric_cards._bases.label_rates import RATES, LabelCounts, divided
from metric_cards._bases.resampling import Sparse
from metrichub.authoring import Array, Scores
from metrichub.text import Integers

SHOWN = 30
"""How many labels the matrix shows, and the rest as one."""


class Confusion(NamedTuple):
    """P different pairs of labels: the numbers of both, (P,), and how often each occurs, (b, P).

    A prediction without a label has the number K. `fixed` says that all labels count, present or
    not.
    """

    labels: Sequence[str]
    expected: Integers
    predicted: Integers
    times: Array
    fixed: bool

    def counts(self) -> LabelCounts:
        """The counts of every label, (b, K)."""
        right = self.expected == self.predicted
        return LabelCounts(
            self._summed(self.expected, right),
            self._summed(self.predicted, self.predicted < len(self.labels)),
            self._summed(self.expected, np.ones(len(right), np.bool_)),
        )

    def scores(self) -> Scores:
        """All scores, (b,)."""
        counts = self.counts()
        among = np.ones_like(counts.right) if self.fixed else None
        size, right = self.times.sum(axis=1), counts.right.sum(axis=1)
        expected = np.where(counts.expected > 0, 1.0, 0.0)
        recall = counts.rates()["recall"]
        return {
            "accuracy": right / size,
            "balanced_accuracy": (recall * expected).sum(axis=1) / expected.sum(axis=1),
            **counts.averages(among),
            "mcc": self._correlation(counts, size),
            **self._kappas(counts, size, counts.present if among is None else among > 0),
        }

    def rates_of(self, label: str) -> Scores:
        """Precision, recall and F1 of one label, (b,); `nan` if no pair has it."""
        if label not in self.labels:
            return dict.fromkeys(RATES, np.full(len(self.times), np.nan))
        place = self.labels.index(label)
        return {name: values[:, place] for name, values in self.counts().rates().items()}

    def _summed(self, label: Integers, which: Array) -> Array:
        pairs = np.flatnonzero(which)
        shape = (len(self.labels), len(self.expected))
        return Sparse(label[pairs], pairs, np.ones(len(pairs)), shape).times(self.times)

    def _correlation(self, counts: LabelCounts, size: Array) -> Array:
        """Matthews' coefficient of several classes (Gorodkin 2004); no label is one more."""
        none = size - counts.predicted.sum(axis=1)
        both = size * counts.right.sum(axis=1) - (counts.expected * counts.predicted).sum(axis=1)
        by_prediction = size**2 - (counts.predicted**2).sum(axis=1) - none**2
        by_reference = size**2 - (counts.expected**2).sum(axis=1)
        return divided(both, np.sqrt(by_prediction * by_reference))

    def _kappas(self, counts: LabelCounts, size: Array, present: Array) -> Scores:
        """Cohen's kappa, `nan` for one class: without weights and by the distance of the labels.

        The distance is that of the places among the labels present; no label is as far as can be.
        """
        places = np.cumsum(present, axis=1) - 1.0
        farthest = np.maximum(places[:, -1:], 1)
        ends = np.hstack([places, places[:, -1:]])
        distance = np.abs(places[:, self.expected] - ends[:, self.predicted])
        distance = np.where(self.predicted == len(self.labels), farthest, distance)
        none = size - counts.predicted.sum(axis=1)
        agreed = (counts.expected * counts.predicted).sum(axis=1)
        predicted = counts.predicted.sum(axis=1)
        # Sums over all pairs of labels of |i - j| and (i - j)^2, without a matrix of them.
        below, above = np.cumsum(counts.expected, axis=1), np.cumsum(counts.predicted, axis=1)
        steps = below * (predicted[:, None] - above) + above * (size[:, None] - below)
        last = farthest[:, 0]
        linear = (steps * present).sum(axis=1) + size * none * last
        square = (
            predicted * (counts.expected * places**2).sum(axis=1)
            + size * (counts.predicted * places**2).sum(axis=1)
            - 2 * (counts.expected * places).sum(axis=1) * (counts.predicted * places).sum(axis=1)
        ) + size * none * last**2
        wrong = {
            "kappa": (self.expected != self.predicted, size**2 - agreed),
            "kappa_linear": (distance, linear),
            "kappa_quadratic": (distance**2, square),
        }
        with np.errstate(invalid="ignore", divide="ignore"):
            return {
                name: 1 - size * (self.times * weights).sum(axis=1) / by_chance
                for name, (weights, by_chance) in wrong.items()
            }

    def table(self) -> Sequence[Sequence[str | float | None]]:
        """The matrix of the most frequent labels, references down, predictions across."""
        counts, none = self.counts(), len(self.labels)
        order = np.argsort(-(counts.predicted + counts.expected)[0], kind="stable")
        chosen = np.sort(order[:SHOWN])
        place = np.full(none + 1, len(chosen))
        place[chosen] = np.arange(len(chosen))
        place[none] = len(chosen) + 1
        matrix = np.zeros((len(chosen) + 2, len(chosen) + 2), np.int64)
        np.add.at(
            matrix, (place[self.expected], place[self.predicted]), self.times[0].astype(np.int64)
        )
        names = [*(self.labels[label] for label in chosen), "other labels", "no label"]
        used = matrix.sum(axis=0) + matrix.sum(axis=1) > 0
        used[: len(chosen)] = True
        rows = np.flatnonzero(used[:-1]).tolist()
        columns = np.flatnonzero(used).tolist()
        head = ["reference", *(f"predicted {names[column]}" for column in columns)]
        return [head, *([names[row], *matrix[row, columns].tolist()] for row in rows)]


def numbered(items: Sequence[Hashable], labels: Sequence[Hashable]) -> Integers:
    """The place of each item among the known ones; their number for any other."""
    places = {item: place for place, item in enumerate(labels)}
    return np.array([places.get(item, len(labels)) for item in items], np.int64)
