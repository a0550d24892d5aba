"""Several candidate rows of one sample become one: as weights over rows, chosen by their scores.

Weights, not a function per column: precision, recall and F of a sample always come from the same
candidate, and the reduced statistics still add up.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrichub.errors import ParameterError
from metrichub.evaluation.observation import scores_of
from metrichub.evaluation.signature import Reduction, reduction_name
from metrichub.evaluation.stats import Stats, by_row, sums_of_groups
from metrichub.metric import Metric


def reduced(
    metric: Metric, rows: Stats, sample: NDArray[np.int64], size: int, how: Reduction | None
) -> Stats:
    """One row per sample out of its candidate rows; `sample` (R,) is sorted and below `size`.

    A sample is unscored if all of its candidates are; else unscored candidates don't count.
    """
    if callable(how):
        return _weighted(rows, sample, size, _custom(metric, rows, sample, how))
    name = reduction_name(metric, how)
    if name == "mean":
        scored = rows.scored.astype(np.float64)
        with np.errstate(all="ignore"):
            weights = scored / np.bincount(sample, scored, size)[sample]
        return _weighted(rows, sample, size, np.nan_to_num(weights))
    return _picked(rows, sample, size, _rank(metric, rows, name))


def _rank(metric: Metric, rows: Stats, name: str) -> NDArray[np.float64]:
    """One number per row; the smallest of a sample is picked, the first where several are equal."""
    if name == "first":
        return np.zeros(len(rows))
    better = metric.card.scores["score"].better
    largest = {
        "max": True,
        "min": False,
        "best": better == "higher",
        "worst": better == "lower",
    }[name]
    score = _row_scores(metric, rows)
    return np.where(np.isnan(score), np.inf, -score if largest else score)


def _row_scores(metric: Metric, rows: Stats) -> NDArray[np.float64]:
    return scores_of(metric, rows.arrays, rows.scored.astype(np.float64))["score"]


def _picked(rows: Stats, sample: NDArray[np.int64], size: int, rank: NDArray[np.float64]) -> Stats:
    order = np.lexsort((rank, ~rows.scored, sample))
    first = np.searchsorted(sample, np.arange(size))
    counts = np.bincount(sample, minlength=size)
    if counts.all():
        return rows.take(order[first])
    return _weighted(rows, sample, size, np.isin(np.arange(len(rows)), order[first[counts > 0]]))


def _weighted(rows: Stats, sample: NDArray[np.int64], size: int, weights: NDArray[Any]) -> Stats:
    arrays = {
        name: sums_of_groups(array * by_row(weights, array), sample, size)
        for name, array in rows.arrays.items()
    }
    scored = np.bincount(sample, rows.scored, size) > 0
    reasons: dict[int, str] = {}
    undefined_for: dict[int, str] = {}
    for of_sample, words in ((reasons, rows.reasons), (undefined_for, rows.undefined_for)):
        for row, word in words.items():
            if not scored[sample[row]]:
                of_sample.setdefault(int(sample[row]), word)
    for empty in np.flatnonzero(np.bincount(sample, minlength=size) == 0).tolist():
        reasons[empty] = "the sample has no candidate"
    return Stats(arrays, scored, reasons, undefined_for)


def _custom(
    metric: Metric,
    rows: Stats,
    sample: NDArray[np.int64],
    how: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> NDArray[np.float64]:
    weights = np.zeros(len(rows))
    score = _row_scores(metric, rows)
    candidates = np.flatnonzero(rows.scored)
    starts = np.flatnonzero(np.diff(sample[candidates], prepend=-1)).tolist()
    for start, stop in pairwise([*starts, len(candidates)]):
        group = candidates[start:stop]
        chosen = np.asarray(how(score[group]), np.float64)
        if chosen.shape != group.shape or not (chosen >= 0).all() or not 0 < chosen.sum() < np.inf:
            raise ParameterError(
                metric.name,
                "reduce",
                how,
                f"a function from the {len(group)} scores of a sample to as many weights, "
                "none negative and not all 0",
            )
        # A sample counts once, whatever its weights: one that counts twice would bend every mean.
        weights[group] = chosen / chosen.sum()
    return weights
