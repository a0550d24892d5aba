"""The mean that people would give, from a judge's scores of all samples and few human labels."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrichub.agreement.shares import check_confidence, quantile
from metrichub.errors import InputError

Array = NDArray[np.float64]
FEW_LABELS = 30


class CalibratedMean(NamedTuple):
    """The prediction-powered mean with its interval.

    `weight` says how far the judge was believed, from 0 (the labels alone) to 1. `raw` is the mean
    of the judge on all samples, `labels_alone` that of the labels, with the interval that they
    alone give. `few` says that there are fewer than 30 labels, with which the interval is too
    narrow.
    """

    mean: float
    low: float
    high: float
    weight: float
    labelled: int
    unlabelled: int
    raw: float
    labels_alone: float
    labels_low: float
    labels_high: float

    @property
    def few(self) -> bool:
        """Whether there are too few labels for the interval to be trusted."""
        return self.labelled < FEW_LABELS


def calibrated_mean(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    confidence: float = 0.95,
    weight: float | None = None,
) -> CalibratedMean:
    """The mean of people's ratings over all samples; `human` is `nan` where nobody rated.

    The samples that people rated have to be a random choice of all. Samples without a score of the
    judge are left out. Without a `weight`, it is the one that makes the interval narrowest; 1 is
    plain prediction-powered estimation, 0 the labels alone. Angelopoulos et al. (2023, "PPI++").

    >>> found = calibrated_mean([4, 5, 4, 5, 3, 4, 5, 4], [3, 4, 3, 4, *[float("nan")] * 4])
    >>> found.raw, found.mean, found.weight  # the judge is a point too generous
    (4.25, 3.375, 0.25)
    """
    check_confidence(confidence)
    scores, ratings = np.asarray(judge, np.float64), np.asarray(human, np.float64)
    if scores.shape != ratings.shape or scores.ndim != 1:
        raise InputError(f"{scores.shape} scores and {ratings.shape} ratings don't pair")
    scored, rated = ~np.isnan(scores), ~np.isnan(ratings)
    y, f, u = ratings[scored & rated], scores[scored & rated], scores[scored & ~rated]
    if len(y) < 2:
        raise InputError(f"calibration takes 2 labelled samples or more, better 100, not {len(y)}")
    return prediction_powered(y, f, u, confidence, weight)


def prediction_powered(
    y: Array, f: Array, u: Array, confidence: float, weight: float | None = None
) -> CalibratedMean:
    """The mean from labels y, the judge's scores f of the same and u of other samples."""
    z, n = quantile(confidence), len(y)
    lam = (_best_weight(y, f, u) if weight is None else weight) if len(u) else 0.0
    rest = float(lam * u.mean()) if len(u) else 0.0
    mean = rest + float((y - lam * f).mean())
    variance = float((y - lam * f).var()) / n
    if len(u):
        variance += lam**2 * float(u.var()) / len(u)
    half, alone = z * sqrt(variance), z * sqrt(float(y.var()) / n)
    middle = float(y.mean())
    return CalibratedMean(
        mean,
        mean - half,
        mean + half,
        lam,
        n,
        len(u),
        float(np.concatenate([f, u]).mean()),
        middle,
        middle - alone,
        middle + alone,
    )


def _best_weight(y: Array, f: Array, u: Array) -> float:
    """The weight of the judge that makes the variance least, within 0..1."""
    n, others = len(y), len(u)
    spread = float(np.concatenate([f, u]).var(ddof=1))
    if not spread > 0:
        return 0.0
    together = float(((y - y.mean()) * (f - f.mean())).mean())
    return float(np.clip(together / ((1 + n / others) * spread), 0, 1))
