"""Measures: what a ranking is worth, of the grades of what was retrieved and what was relevant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from metric_cards._bases.label_rates import divided
from metrichub.authoring import Array
from metrichub.text import Integers

AT = ("success", "precision", "recall", "rr", "ap", "ndcg", "judged")
"""The measures with a cut-off."""
WHOLE = ("rr", "ap", "ndcg", "r_precision", "rbp")
"""The measures of whole rankings."""


class Graded(NamedTuple):
    """The rankings of N queries, flat: the query, the rank from 1 on, and the grade of each item.

    A grade is `nan` for an item that nobody judged.
    """

    query: Integers
    rank: Integers
    grade: Array
    size: int

    @classmethod
    def of(cls, grades: Sequence[Sequence[float]]) -> Graded:
        """The rankings with these grades."""
        lengths = np.array([len(row) for row in grades], np.int64)
        query = np.repeat(np.arange(len(grades)), lengths)
        starts = np.cumsum(lengths) - lengths
        rank = np.arange(len(query)) - starts[query] + 1
        flat = np.array([grade for row in grades for grade in row], np.float64)
        return cls(query, rank, flat, len(grades))

    def top(self, values: Array, most: float | Array) -> Array:
        """The sum of each query's values down to a rank, (N,)."""
        depth = np.broadcast_to(most, (self.size,))[self.query]
        # Of no query, the sums would be whole numbers.
        return np.bincount(self.query, values * (self.rank <= depth), self.size).astype(np.float64)


class Measures:
    """The measures of N rankings against the grades of all items that were judged, (N,) each."""

    def __init__(
        self, retrieved: Graded, judged: Graded, exponential: bool, persistence: float
    ) -> None:
        self._all, self._ideal, self._persistence = retrieved, judged, persistence
        self._gains = [
            np.exp2(gains) - 1 if exponential else gains
            for gains in (np.maximum(np.nan_to_num(g.grade), 0) for g in (retrieved, judged))
        ]
        self._hits = (retrieved.grade > 0).astype(np.float64)
        self.relevant = judged.top(judged.grade > 0, np.inf)
        """How many relevant items each query has, (N,)."""

    def named(self, name: str) -> Array:
        """A measure by its name, such as "ndcg_10" or "ap"."""
        measure, _, cutoff = name.rpartition("_")
        if measure in AT and cutoff.isdecimal():
            return self._at(measure, float(cutoff))
        if name == "r_precision":
            return divided(self._all.top(self._hits, self.relevant), self.relevant)
        if name == "rbp":
            seen = self._hits * self._persistence ** (self._all.rank - 1.0)
            return (1 - self._persistence) * self._all.top(seen, np.inf)
        return self._at(name, np.inf)

    def _at(self, measure: str, most: float) -> Array:
        """A measure of what is ranked at `most` or higher."""
        ranking, hits = self._all, self._hits
        if measure == "judged":
            shown = ranking.top(np.ones(len(hits)), most)
            return divided(ranking.top(~np.isnan(ranking.grade), most), shown)
        if measure == "ndcg":
            ideal = self._discounted(self._ideal, self._gains[1], most)
            return divided(self._discounted(ranking, self._gains[0], most), ideal)
        so_far = np.cumsum(hits)
        before = np.concatenate(([0.0], so_far))[np.searchsorted(ranking.query, ranking.query)]
        precision = (so_far - before) / ranking.rank
        if measure == "rr":
            first = hits * (so_far - before == 1)
            return ranking.top(first * precision, most)
        number = ranking.top(hits, most)
        if measure == "success":
            return (number > 0).astype(np.float64)
        if measure == "precision":
            return number / most
        total = number if measure == "recall" else ranking.top(hits * precision, most)
        return divided(total, self.relevant)

    @staticmethod
    def _discounted(ranking: Graded, gains: Array, most: float) -> Array:
        return ranking.top(gains / np.log2(ranking.rank + 1.0), most)
