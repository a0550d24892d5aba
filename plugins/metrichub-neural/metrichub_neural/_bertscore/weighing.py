"""IdfCorpus: BERTScore of many predictions, with weights of the references that are there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from metrichub.authoring import Array, Scores
from metrichub.text import Integers, offsets_of
from metrichub_neural._bertscore.matching import f1, rescaled
from metrichub_neural._bertscore.tables import Baseline

Side = tuple[tuple[int, ...], tuple[float, ...]]
"""One text's tokens, without those that frame it, and the best cosine of each."""


class IdfCorpus:
    """The rows of a corpus laid out flat, so that any counts of them are weighed at once.

    Each row has a prediction's match with each of its references. A token that no reference has
    weighs most, log(M + 1). A reference all of whose tokens weigh nothing is left out; a prediction
    of such tokens, or of none, has a precision of 0.
    """

    def __init__(self, rows: Sequence[Sequence[tuple[Side, Side]]], baseline: Baseline) -> None:
        self._base, self._size = baseline, len(rows)
        pairs = list(chain.from_iterable(rows))
        self._row = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        self._first = offsets_of(np.array([len(row) for row in rows], np.int64))[:-1]
        vocabulary, flat = np.unique(
            np.array([token for pair in pairs for side in pair for token in side[0]], np.int64),
            return_inverse=True,
        )
        self._tokens = len(vocabulary)
        lengths = np.array([[len(side[0]) for side in pair] for pair in pairs], np.int64)
        self._lengths = lengths.reshape(len(pairs), 2).ravel()
        best = [value for pair in pairs for side in pair for value in side[1]]
        self._ids, self._best = flat, np.array(best, np.float64)
        self._side = np.repeat(np.arange(len(self._lengths)), self._lengths)
        # Which tokens each reference has, each once.
        mine = self._side % 2 == 1
        owners = np.stack([self._side[mine] // 2, flat[mine]])
        self._has_pair, self._has_token = np.unique(owners, axis=1)

    def scores(self) -> dict[str, Array]:
        """Score, precision and recall of each row, (R,); `nan` without a reference that weighs."""
        return self._weighed(np.ones(self._size))

    def resampled(self, counts: Array) -> Scores:
        """The means of resamples, which have each row so many times: (b, R) -> (b,) each."""
        resamples = [self._weighed(count) for count in counts]
        return {
            name: np.array(
                [mean(scores[name], count) for scores, count in zip(resamples, counts, strict=True)]
            )
            for name in ("score", "precision", "recall")
        }

    def _weighed(self, counts: Array) -> dict[str, Array]:
        weights = self._weights(counts)[self._ids]
        sums = np.bincount(self._side, weights, len(self._lengths))
        weighted = np.bincount(self._side, weights * self._best, len(self._lengths))
        with np.errstate(all="ignore"):
            means = np.where(sums > 0, weighted / sums, 0.0).reshape(-1, 2)
        means[self._lengths[::2] == 0] = 0.0
        means[sums[1::2] == 0] = np.nan
        precision, recall = means.T
        score = np.where(np.isnan(recall), np.nan, f1(precision, recall))
        best = self._best_of(score)
        return {
            "score": rescaled(score[best], self._base.f1),
            "precision": rescaled(precision[best], self._base.precision),
            "recall": rescaled(recall[best], self._base.recall),
        }

    def _weights(self, counts: Array) -> Array:
        """The weight of each token of the vocabulary."""
        times = counts[self._row]
        having = np.bincount(self._has_token, times[self._has_pair], self._tokens)
        return np.asarray(np.log((times.sum() + 1) / (having + 1)))

    def _best_of(self, score: Array) -> Integers:
        """The pair of each row with the best score, the first of equal ones; `nan` comes last."""
        order = np.lexsort((np.arange(len(score)), -score, self._row))
        return np.asarray(order[self._first], np.int64)


def mean(values: Array, counts: Array) -> float:
    """The mean of the values that are numbers, each counted so many times; `nan` of none."""
    scored = (counts > 0) & np.isfinite(values)
    return float(np.average(values[scored], weights=counts[scored])) if scored.any() else np.nan
