"""The two rows without which nobody can read a correlation: the human ceiling, and chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from metrichub.agreement.coefficients import Options
from metrichub.agreement.levels import LABELS, mean_of, value_at
from metrichub.agreement.soft_pairwise import soft_pairwise_chance

Array = NDArray[np.float64]


def ceiling(level: str, name: str, raters: list[Array], options: Options | None = None) -> float:
    """What a rater gets against the mean of the others, the mean over raters; `nan` of one rater.

    `raters` are matrices (S, I), `nan` where a rater gave no rating. A metric is compared with the
    mean of all, a rater with that of one fewer, so that the ceiling is a little low.
    """
    if len(raters) < 2:
        return float("nan")
    options = options or Options()
    if name == "balanced_accuracy":
        options = options._replace(cut=0.5)
    found = []
    for k, rater in enumerate(raters):
        rest = np.stack([other for at, other in enumerate(raters) if at != k])
        there = ~np.isnan(rest)
        with np.errstate(invalid="ignore"):
            others = np.where(there, rest, 0).sum(0) / there.sum(0)
        if name in LABELS:
            others = np.where(np.isnan(others), np.nan, others > 0.5)
        found.append(value_at(level, name, rater, others, options).value)
    return mean_of(np.array(found))


def chance(level: str, name: str, human: Array) -> float:
    """What a metric gets that knows nothing: a constant where ties can be right, else a coin.

    A constant is right about the pairs that people tie, which is all that a bad metric needs that
    ties everything. Correlations of a constant are undefined; a coin's are 0.
    """
    if name in ("acc_eq", "acc_eq_calibrated", "tau_23"):
        constant = np.where(np.isnan(human), np.nan, 0.0)
        return value_at(level, "tau_23" if name == "tau_23" else "acc_eq", constant, human).value
    if name == "soft_pairwise_accuracy":
        return soft_pairwise_chance(human)
    return 0.5 if name in LABELS else 0.0
