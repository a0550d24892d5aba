"""The mean that people would give, from a judge's scores of all samples and few human labels.

Where labels are yes or no, the share of yes is that among the judge's yes and that among its no,
each by how often the judge says so (post-stratification). Elsewhere the judge's mean is corrected
by how far it is off on the labels (prediction-powered). Both believe the judge as far as the labels
bear it out. `benchmarks/coverage_calibrated.py` measures how often the intervals hold the mean.
"""

from __future__ import annotations

from math import isnan, nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrichub.agreement.row_coefficients import as_numbers
from metrichub.agreement.shares import Share, agresti_coull, weighted_sum
from metrichub.errors import InputError
from metrichub.evaluation.distributions import quantile, student
from metrichub.evaluation.kappa import cohen_kappa
from metrichub.evaluation.resample import check_confidence

Array = NDArray[np.float64]
LEAST_YES_NO, LEAST_OTHERS = 10, 8
"""Yes/no labels that an interval takes, and ratings that differ from the most common one."""
_YES = 0.5


class CalibratedMean(NamedTuple):
    """The mean that people would give, with its interval.

    `weight` says how far the judge was believed, from 0 (the labels alone) to 1, and below 0 where
    its yes and no contradict the labels. `raw` is the mean of the judge on all samples,
    `labels_alone` that of the labels, with the interval that they alone give. `rarer` counts the
    labels that aren't the most common one: of yes/no the rarer answer. Where the labels carry no
    interval, its ends are `nan`, and `why` says the reason. `judged` is the judge's mean on the
    labeled samples, of yes/no the share of its yes; `same` and `kappa` are the share of labels
    that it gives, too, and Cohen's kappa, `nan` for ratings.
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
    rarer: int
    why: str | None = None
    judged: float = nan
    same: float = nan
    kappa: float = nan

    @property
    def lean(self) -> str:
        """How far the judge leans to one side on the labeled samples, in words."""
        if isnan(self.same):
            side = "above" if self.judged > self.labels_alone else "below"
            off = abs(self.judged - self.labels_alone)
            return f"on {self.labelled} labels the judge is {off:.3g} {side} people on average"
        shares = f"says yes to {self.judged:.0%} and people to {self.labels_alone:.0%}"
        kappa = "" if isnan(self.kappa) else f", Cohen's kappa {self.kappa:.2f}"
        return f"on {self.labelled} labels the judge {shares}; they agree on {self.same:.0%}{kappa}"

    @property
    def few(self) -> bool:
        """Whether so few labels differ from the most common one that the mean rests on those."""
        return self.rarer < LEAST_OTHERS


def calibrated_mean(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    confidence: float = 0.95,
    weight: float | None = None,
) -> CalibratedMean:
    """The mean of people's ratings over all samples; `human` is `nan` where nobody rated.

    The samples that people rated have to be a random choice of all. Samples without a score of the
    judge are left out. Labels are yes or no if all are 1 or 0 and the scores lie in 0..1; a score
    of at least .5 is the judge's yes. Other ratings are corrected by prediction-powered estimation
    (Angelopoulos et al. 2023, "PPI++"), with the weight that makes the interval narrowest. A given
    `weight` does so with yes and no too: 1 is its plain form, 0 the labels alone.

    >>> result = calibrated_mean([4, 5, 4, 5, 3, 4, 5, 4], [3, 4, 3, 4, *[float("nan")] * 4])
    >>> result.raw, result.mean, result.weight  # the judge is a point too generous
    (4.25, 3.375, 0.25)
    >>> result.why
    '2 of 4 labels differ from the most common one: an interval takes 8'
    """
    check_confidence(confidence)
    scores, ratings = as_numbers("scores", judge), as_numbers("ratings", human)
    if scores.shape != ratings.shape or scores.ndim != 1:
        raise InputError(f"{scores.shape} scores and {ratings.shape} ratings don't match")
    scored, rated = ~np.isnan(scores), ~np.isnan(ratings)
    y, f, u = ratings[scored & rated], scores[scored & rated], scores[scored & ~rated]
    if len(y) < 2:
        raise InputError(f"calibration needs at least 2 labeled samples, better 100, not {len(y)}")
    every = np.concatenate([f, u])
    shares = weight is None and np.isin(y, (0, 1)).all() and 0 <= every.min() <= every.max() <= 1
    if shares:
        estimate = _of_yes_and_no(y, f, u, confidence)
    else:
        estimate = _of_ratings(y, f, u, confidence, weight)
    rarer = len(y) - int(np.unique(y, return_counts=True)[1].max())
    why = None
    if shares and len(y) < LEAST_YES_NO:
        why = f"{len(y)} yes/no labels: an interval takes {LEAST_YES_NO}"
    elif not shares and rarer < LEAST_OTHERS:
        few = f"{rarer} of {len(y)} labels differ from the most common one"
        why = f"{few}: an interval takes {LEAST_OTHERS}"
    mean, labels = estimate.all_samples, estimate.labels
    if why:
        mean, labels = mean._replace(low=nan, high=nan), labels._replace(low=nan, high=nan)
    judged = f >= _YES if shares else f
    return CalibratedMean(
        mean=mean.value,
        low=mean.low,
        high=mean.high,
        weight=estimate.weight,
        labelled=len(y),
        unlabelled=len(u),
        raw=float(every.mean()),
        labels_alone=labels.value,
        labels_low=labels.low,
        labels_high=labels.high,
        rarer=rarer,
        why=why,
        judged=float(judged.mean()),
        same=float((judged == y).mean()) if shares else nan,
        kappa=cohen_kappa(judged.tolist(), (y == 1).tolist()) if shares else nan,
    )


class _Estimate(NamedTuple):
    """The mean of all samples and that of the labels alone, with their ends."""

    all_samples: Share
    weight: float
    labels: Share


def _of_yes_and_no(y: Array, f: Array, u: Array, confidence: float) -> _Estimate:
    """The share of yes among the judge's yes and no, by how often it says yes of all samples."""
    alone = agresti_coull(int(y.sum()), len(y), confidence)
    if not len(u):
        return _Estimate(alone, 0.0, alone)
    judged_yes, of_others = f >= _YES, u >= _YES
    total = len(y) + len(u)
    often = float(judged_yes.sum() + of_others.sum()) / total
    yes, no = (
        agresti_coull(int(y[part].sum()), int(part.sum()), confidence)
        for part in (judged_yes, ~judged_yes)
    )
    # Nobody labeled a sample of which the judge says so: it counts as the others do.
    yes, no = (
        share._replace(value=alone.value) if isnan(share.value) else share for share in (yes, no)
    )
    slope = yes.value - no.value
    uncertain = (quantile(confidence) * slope) ** 2 * often * (1 - often) / total
    mean = weighted_sum([(often, yes), (1 - often, no)], uncertain)
    return _Estimate(mean, slope * len(u) / total, alone)


def _of_ratings(y: Array, f: Array, u: Array, confidence: float, weight: float | None) -> _Estimate:
    """The prediction-powered mean and the mean of labels, both by Student's t."""
    powered, variance, freedom = powered_mean(y, f, u, weight)
    mean = _by_student(powered.mean, variance, freedom, confidence)
    alone = _by_student(float(y.mean()), float(y.var(ddof=1)) / len(y), len(y) - 1, confidence)
    return _Estimate(mean, powered.weight, alone)


def powered_mean(
    y: Array, f: Array, u: Array, weight: float | None = None
) -> tuple[PredictionPowered, float, float]:
    """The prediction-powered mean, and its variance with the degrees of freedom."""
    powered, n, others = prediction_powered(y, f, u, weight), len(y), len(u)
    # A weight that the labels chose takes a degree of freedom, as the slope of a regression does.
    chosen = weight is None and powered.weight > 0
    freedom = max(n - 1 - chosen, 1)
    of_labels = powered.of_labels * n / freedom
    variance, squares = of_labels, of_labels**2 / freedom
    if others > 1:
        of_others = powered.of_others * others / (others - 1)
        variance, squares = variance + of_others, squares + of_others**2 / (others - 1)
    # Satterthwaite's (1946) degrees of freedom of a sum of two variances.
    return powered, variance, variance**2 / squares if squares else 1.0


def _by_student(mean: float, variance: float, freedom: float, confidence: float) -> Share:
    half = student(freedom, confidence) * sqrt(variance)
    return Share(mean, mean - half, mean + half)


class PredictionPowered(NamedTuple):
    """The mean, the judge's weight, and what labels and others add to the mean's variance.

    Variances are those of the samples themselves, divided by n.
    """

    mean: float
    weight: float
    of_labels: float
    of_others: float


def prediction_powered(
    y: Array, f: Array, u: Array, weight: float | None = None
) -> PredictionPowered:
    """The mean from labels y, the judge's scores f of the same and u of other samples."""
    if not len(u):
        return PredictionPowered(float(y.mean()), 0.0, float(y.var()) / len(y), 0.0)
    lam = _best_weight(y, f, u) if weight is None else weight
    residuals = y - lam * f
    return PredictionPowered(
        float(lam * u.mean() + residuals.mean()),
        lam,
        float(residuals.var()) / len(y),
        lam**2 * float(u.var()) / len(u),
    )


def _best_weight(y: Array, f: Array, u: Array) -> float:
    """The weight of the judge that makes the variance least, within 0..1."""
    n, others = len(y), len(u)
    pooled = float(np.concatenate([f, u]).var(ddof=1))
    if not pooled > 0:
        return 0.0
    together = float(((y - y.mean()) * (f - f.mean())).mean())
    return float(np.clip(together / ((1 + n / others) * pooled), 0, 1))
