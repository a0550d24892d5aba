"""How far raters agree with one another and a judge with itself; whether it could replace a rater.

One that gives other verdicts when it is asked again can't agree with people either.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan, sqrt
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrichub.agreement.row_coefficients import as_numbers
from metrichub.agreement.shares import Share, wilson
from metrichub.errors import InputError, ParameterError
from metrichub.evaluation.distributions import t_tail
from metrichub.evaluation.kappa import beyond_chance, fleiss_kappa, label_codes

Array = NDArray[np.float64]
_NONE = Share(nan, nan, nan)
_VERDICTS = (0.0, 0.5, 1.0)
RatingScale = Literal["nominal", "ordinal", "interval", "ratio"]


class JudgeConsistency(NamedTuple):
    """How consistent a judge's scores of the same samples are.

    `same` is the share of samples to which all `runs` gave the same score, `alpha` Krippendorff's
    alpha for intervals, and `kappa` Fleiss' kappa if scores are verdicts (only 0, 0.5 and 1).
    `order` is the share of pairs with the same verdict in both orders. Shares have Wilson
    intervals; `nan` means not measured.
    """

    metric: str
    runs: int
    same: Share
    alpha: float
    kappa: float
    order: Share

    def as_dict(self) -> dict[str, Any]:
        """Its numbers by flat names: "same", "same_low", "same_high"."""
        numbers: dict[str, Any] = {}
        for name, value in self._asdict().items():
            if isinstance(value, Share):
                numbers |= {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
            else:
                numbers[name] = value
        return numbers


def judge_consistency(
    metric: str,
    runs: ArrayLike,
    kept_order: ArrayLike | None = None,
    confidence: float = 0.95,
) -> JudgeConsistency:
    """How consistent the scores of several runs (R, N) are, and verdicts in both orders (N,).

    `kept_order` is 1 if both orders led to the same verdict, and 0 if not. Only samples that all
    runs scored count; from a single run, only the order can be computed.

    >>> judge_consistency("mine", [[1, 0, 1, 1], [1, 1, 1, 0]]).same.value
    0.5
    """
    scores = np.atleast_2d(as_numbers("scores", runs))
    order = _NONE
    if kept_order is not None:
        same_order = as_numbers("kept_order", kept_order)
        same_order = same_order[~np.isnan(same_order)]
        order = wilson(round(float(same_order.sum())), len(same_order), confidence)
    if len(scores) < 2:
        return JudgeConsistency(metric, len(scores), _NONE, nan, nan, order)
    complete = scores[:, ~np.isnan(scores).any(0)].T
    same = int((complete == complete[:, :1]).all(1).sum())
    verdicts = bool(len(complete)) and bool(np.isin(complete, _VERDICTS).all())
    return JudgeConsistency(
        metric,
        len(scores),
        wilson(same, len(complete), confidence),
        krippendorff_alpha(scores.T),
        fleiss_kappa(complete.tolist()) if verdicts else float("nan"),
        order,
    )


class AlternativeTest(NamedTuple):
    """How well a judge could replace a rater.

    `winning_rate` is the share of raters whom it can replace, `advantage_probability` the mean
    share of items on which it is at least as close to the others as a rater is; `p_values` has one
    p-value per rater. The test measures closeness, not ranking: a judge that always returns the
    usual grade does well.
    """

    winning_rate: float
    advantage_probability: float
    p_values: tuple[float, ...]


def alternative_test(
    judge: ArrayLike,
    raters: ArrayLike,
    *,
    score: Literal["accuracy", "neg_rmse"] = "accuracy",
    epsilon: float = 0.2,
    rate: float = 0.05,
) -> AlternativeTest:
    """Whether a judge's labels (N,) are as close to the other raters' (N, R) as each rater's are.

    Each rater is left out in turn; `epsilon` is what a rater's labour is worth (0.2 for experts,
    0.1 for crowds), `rate` the false discovery rate over raters (Benjamini and Yekutieli). `nan` is
    a missing label. Calderon, Reichart and Dror (2025).

    Raises:
        InputError: rated are fewer than three raters, or the shapes don't match.
    """
    labels, table = as_numbers("labels", judge), as_numbers("labels", raters)
    if table.ndim != 2 or labels.shape != (len(table),):
        raise InputError(
            f"a judge's {labels.shape} and the raters' {table.shape} labels don't match"
        )
    if table.shape[1] < 3:
        raise InputError(f"the test needs at least three raters, not {table.shape[1]}")
    if score not in ("accuracy", "neg_rmse"):
        raise ParameterError(None, "score", score, "'accuracy' or 'neg_rmse'")
    p_values, shares = [], []
    for k in range(table.shape[1]):
        rater, others = table[:, k], np.delete(table, k, axis=1)
        rated = ~(np.isnan(rater) | np.isnan(labels) | np.isnan(others).all(1))
        of_judge = _closeness(labels[rated], others[rated], score)
        of_rater = _closeness(rater[rated], others[rated], score)
        lead = (of_rater >= of_judge).astype(float) - (of_judge >= of_rater)
        p_values.append(_less_than(lead, epsilon))
        shares.append(float((of_judge >= of_rater).mean()) if len(lead) else float("nan"))
    rejected = _rejected(p_values, rate)
    return AlternativeTest(rejected / len(p_values), float(np.mean(shares)), tuple(p_values))


def _closeness(label: Array, others: Array, score: str) -> Array:
    differences = label[:, None] - others
    if score == "accuracy":
        same = np.where(np.isnan(differences), np.nan, differences == 0)
        return np.asarray(np.nanmean(same, axis=1))
    return np.asarray(-np.sqrt(np.nanmean(differences**2, axis=1)))


def _less_than(values: Array, bound: float) -> float:
    """The one-sided p-value of the t-test that the mean is below a bound."""
    n = len(values)
    if n < 2:
        return float("nan")
    difference, error = float(values.mean()) - bound, float(values.std(ddof=1)) / sqrt(n)
    if error == 0:
        return 0.0 if difference < 0 else 1.0
    return t_tail(-difference / error, n - 1)


def _rejected(p_values: list[float], rate: float) -> int:
    """How many hypotheses Benjamini and Yekutieli's procedure rejects."""
    m = len(p_values)
    factor = m * sum(1 / k for k in range(1, m + 1))
    ranked = sorted(p for p in p_values if not isnan(p))
    return max((k for k, p in enumerate(ranked, 1) if p <= k * rate / factor), default=0)


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
