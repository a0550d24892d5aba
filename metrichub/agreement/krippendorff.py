"""How far raters agree with one another: Krippendorff's alpha."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrichub.errors import ParameterError
from metrichub.evaluation.kappa import beyond_chance

Array = NDArray[np.float64]
RatingScale = Literal["nominal", "ordinal", "interval", "ratio"]


def krippendorff_alpha(ratings: ArrayLike, scale: RatingScale = "interval") -> float:
    """Krippendorff's alpha of ratings (N, R): a row per item, a column per rater.

    `nan` is a missing rating; items with fewer than two are left out. The result is `nan` if all
    ratings are the same. Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability".

    >>> round(krippendorff_alpha([[1, 1], [2, 2], [3, 3], [1, 2]]), 3)
    0.821
    """
    table = np.atleast_2d(np.asarray(ratings, np.float64))
    if scale not in ("nominal", "ordinal", "interval", "ratio"):
        raise ParameterError(None, "scale", scale, "'nominal', 'ordinal', 'interval' or 'ratio'")
    values, codes = np.unique(table[~np.isnan(table)], return_inverse=True)
    counts = np.zeros((len(table), len(values)))
    np.add.at(counts, (np.nonzero(~np.isnan(table))[0], codes), 1)
    counts = counts[counts.sum(1) > 1]
    if not counts.size:
        return float("nan")
    per_item = counts.sum(1)
    # Pairs of ratings of one item, each item weighing as many as it has ratings.
    coincidences = (counts / (per_item - 1)[:, None]).T @ counts
    coincidences -= np.diag((counts / (per_item - 1)[:, None]).sum(0))
    totals = coincidences.sum(1)
    expected = (np.outer(totals, totals) - np.diag(totals)) / (totals.sum() - 1)
    cost = _distance(values, totals, scale)
    return beyond_chance(float((cost * coincidences).sum()), float((cost * expected).sum()))


def _distance(values: Array, totals: Array, scale: RatingScale) -> Array:
    """The squared distance of each pair of values."""
    if scale == "nominal":
        return np.asarray(values[:, None] != values, np.float64)
    if scale == "ordinal":
        # Ranks in the middle of each value's share of all ratings.
        values = np.cumsum(totals) - totals / 2
    difference = values[:, None] - values
    if scale == "ratio":
        total = values[:, None] + values
        difference = np.divide(difference, total, where=total != 0, out=np.zeros_like(difference))
    return np.asarray(np.square(difference))
