"""How far raters agree with one another: Krippendorff's alpha."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrichub.agreement.row_coefficients import as_numbers
from metrichub.errors import ParameterError
from metrichub.evaluation.kappa import beyond_chance, label_codes

Array = NDArray[np.float64]
RatingScale = Literal["nominal", "ordinal", "interval", "ratio"]


def krippendorff_alpha(
    ratings: ArrayLike | Sequence[Sequence[Any]], scale: RatingScale = "interval"
) -> float:
    """Krippendorff's alpha of ratings (N, R): a row per item, a column per rater.

    `nan` is a missing rating, and so is None; items with fewer than two are left out. Ratings are
    numbers, or on a nominal scale labels of any kind. The result is `nan` if all ratings are the
    same. Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability".

    Raises:
        InputError: they aren't.

    >>> round(krippendorff_alpha([[1, 1], [2, 2], [3, 3], [1, 2]]), 3)
    0.821
    """
    if scale not in ("nominal", "ordinal", "interval", "ratio"):
        raise ParameterError(None, "scale", scale, "'nominal', 'ordinal', 'interval' or 'ratio'")
    if scale == "nominal":
        labels = np.atleast_2d(np.array(ratings, object))
        numbers = np.array(label_codes(labels.ravel().tolist()), np.float64)
        table = np.where(numbers < 0, np.nan, numbers).reshape(labels.shape)
    else:
        table = np.atleast_2d(as_numbers("ratings (labels need scale='nominal')", ratings))
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
