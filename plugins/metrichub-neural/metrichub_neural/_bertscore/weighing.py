"""IdfCorpus: BERTScore of many predictions, with weights of the references that are there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metrichub.authoring import Array, Scores
from metrichub.text import Flags, Integers, offsets_of
from metrichub_neural._bertscore.matching import Match, f1, rescaled
from metrichub_neural._bertscore.tables import Baseline
from metrichub_neural.engine.batching import FloatArray

Row = Integers
"""A prediction's matches with its references in the smallest whole numbers that hold them, as those
of a million predictions stay in memory: how many they are, how many tokens weigh in the prediction
and in the reference of each, the flaws of these texts, all of these tokens, and the bits of the
best cosine of each."""


class IdfCorpus:
    """The rows of a corpus laid out flat, so that any counts of them are weighed at once.

    A token that no reference has weighs most, log(M + 1). A reference all of whose tokens weigh
    nothing, or that has none, is one of the M and scores nothing; a prediction of such tokens, or
    of none, has a precision of 0.
    """

    def __init__(self, rows: Sequence[Row], baseline: Baseline) -> None:
        self._base, self._size = baseline, len(rows)
        parts = [_parts(row) for row in rows]
        references = np.array([len(lengths) // 2 for lengths, _, _ in parts], np.int64)
        self._row, self._first = np.repeat(np.arange(len(rows)), references), offsets_of(references)
        self._lengths, tokens, self._best = map(np.concatenate, zip(*parts, strict=True))
        vocabulary = np.unique(tokens)
        self._tokens = len(vocabulary)
        self._ids = np.searchsorted(vocabulary, tokens).astype(np.int32)
        self._side = np.repeat(np.arange(len(self._lengths), dtype=np.int32), self._lengths)
        # Which tokens each reference has, each once.
        mine = self._side % 2 == 1
        owners = np.unique((self._side[mine] // 2) * np.int64(self._tokens) + self._ids[mine])
        self._has_pair, self._has_token = np.divmod(owners, max(1, self._tokens))

    def blank(self) -> Flags:
        """Which rows have no token in any reference, (R,)."""
        return np.asarray(np.bincount(self._row, self._lengths[1::2], self._size) == 0)

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
        return np.asarray(order[self._first[:-1]], np.int64)


def row_of(matches: Sequence[Match]) -> Row:
    """The row of a prediction's matches with its references."""
    ids = [side for m in matches for side in (m.ids[m.weighed], m.other_ids[m.other_weighed])]
    best = [side for m in matches for side in (m.best[m.weighed], m.other_best[m.other_weighed])]
    flaws = [of_side for match in matches for of_side in match.flaws]
    head = np.concatenate([[len(matches)], [len(side) for side in ids], flaws, *ids])
    kind = np.min_scalar_type(head.max())
    return np.concatenate([head.astype(kind), np.concatenate(best, dtype=np.float32).view(kind)])


def flaws_of(row: Row) -> Integers:
    """The flaws of the prediction and of the reference of each match, (n, 2)."""
    sides = 2 * int(row[0])
    return np.asarray(row[1 + sides : 1 + 2 * sides].reshape(-1, 2))


def _parts(row: Row) -> tuple[Integers, Integers, FloatArray]:
    """How many tokens each side of each match has, the tokens, and their best cosines."""
    sides = 2 * int(row[0])
    start, lengths = 1 + 2 * sides, row[1 : 1 + sides].astype(np.int64)
    end = start + int(lengths.sum())
    return lengths, row[start:end], row[end:].view(np.float32)


def mean(values: Array, counts: Array) -> float:
    """The mean of the values that are numbers, each counted so many times; `nan` of none."""
    scored = (counts > 0) & np.isfinite(values)
    return float(np.average(values[scored], weights=counts[scored])) if scored.any() else np.nan
