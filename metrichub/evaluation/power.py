"""Power: what the samples of a paired test can show, and how many it would take to show more.

All of it follows from the standard error of the difference at hand and Student's t (Bloom 1995,
Evaluation Review 19:547; Miller 2024, arXiv 2411.00640). Nothing follows from the difference that
was observed: its power is its p in other words (Hoenig and Heisey 2001).
"""

from __future__ import annotations

from math import ceil, isfinite, nan, sqrt

from metrichub.evaluation.distributions import quantile, student

POWER = 0.8
"""The share of cases in which a difference is to be significant: four of five."""
_SAMPLES, _CLUSTERS = 100, 30
"""Units from which on the error of a difference is known well enough."""
LEAST_UNITS, LEAST_DIFFERING, LEAST_TABLE = 8, 10, 5
"""Units, and samples of shares that differ, from which on anything is said; and the smallest number
of samples, all one way, that McNemar's mid-p calls significant."""


def smallest_difference(
    se: float, units: int, confidence: float, power: float = POWER, critical: float | None = None
) -> float:
    """The smallest true difference that is significant in this share of cases.

    `critical` is how many standard errors are significant after a correction; without, what
    Student's t says for one test.

    >>> round(smallest_difference(0.2 / 50**0.5, 50, 0.95), 4)
    0.0809
    """
    reach = student(units - 1, confidence) if critical is None else critical
    return (reach + student(units - 1, 2 * power - 1)) * se


def needed_units(
    se: float, units: int, difference: float, confidence: float, power: float = POWER
) -> int:
    """How many units like these a true difference takes to be significant in this share of cases.

    >>> needed_units(0.2 / 50**0.5, 50, 0.05, 0.95)
    128
    """
    ratio = units * (se / difference) ** 2
    needed = ratio * (quantile(confidence) + quantile(2 * power - 1)) ** 2
    for _ in range(3):
        freedom = max(needed - 1, 1.0)
        needed = ratio * (student(freedom, confidence) + student(freedom, 2 * power - 1)) ** 2
    return max(2, ceil(needed - 1e-9))


def shown_by(
    se: float, units: int, confidence: float, critical: float | None, differing: int | None = None
) -> float:
    """The smallest true difference that these units would show; `nan` where that is unclear.

    That is of few units, and of shares of which few samples are `differing`.
    """
    if units < LEAST_UNITS or not se > 0 or not isfinite(se):
        return nan
    shown = smallest_difference(se, units, confidence, critical=critical)
    if differing is None:
        return shown
    return nan if differing < LEAST_DIFFERING else max(shown, LEAST_TABLE / units)


def units_in_words(number: int, cluster: str | None) -> str:
    """A number of samples, or of clusters by a column."""
    return f"{number:,} {f'clusters by {cluster}' if cluster else 'samples'}"


def roughly(units: int, cluster: str | None) -> str:
    """The word before a number that follows from these units: of few, it is rather too small."""
    return "about" if units >= (_CLUSTERS if cluster else _SAMPLES) else "at least"


def se_of_shares(more: int, less: int, samples: int) -> float:
    """The standard error of a paired difference of shares."""
    if samples < 2:
        return nan
    difference = (more - less) / samples
    return sqrt(max(0.0, (more + less) / samples - difference * difference) / (samples - 1))
