"""Quantiles and tails of the normal and of Student's t distribution, and intervals of shares."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import erfc, exp, lgamma, log, sqrt

_STEPS = 300
"""Terms of a continued fraction, at most."""


def quantile(confidence: float) -> float:
    """How many standard deviations a two-sided normal interval reaches."""
    # Scoring alone needs no intervals, and this loads decimal.
    from statistics import NormalDist

    return NormalDist().inv_cdf((1 + confidence) / 2)


def t_tail(t: float, freedom: float) -> float:
    """P(T > t) of Student's t with these degrees of freedom, above 0."""
    half = _beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2
    return half if t > 0 else 1 - half


@lru_cache(maxsize=64)
def student(freedom: float, confidence: float) -> float:
    """How many standard errors a two-sided interval reaches, with these degrees of freedom.

    >>> round(student(4, 0.95), 3)
    2.776
    """
    low, high = 0.0, 1.0
    while 2 * t_tail(high, freedom) > 1 - confidence:
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        if 2 * t_tail(middle, freedom) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def normal_score(p: float) -> float:
    """The distance from 0, in standard deviations, that a normal value exceeds with this p."""
    from statistics import NormalDist

    return -NormalDist().inv_cdf(max(p / 2, 1e-300))


def normal_tail(value: float) -> float:
    """P(Z > value) of the standard normal distribution."""
    return erfc(value / sqrt(2)) / 2


def mcnemar_mid_p(more: int, less: int) -> float:
    """McNemar's two-sided mid-p of samples that only one, or only the other, of two has right.

    Fagerland, Lydersen and Laake (2013): the exact binomial p without half of the probability of
    what was observed. It is 1 where no sample differs.

    >>> round(mcnemar_mid_p(1, 7), 4)
    0.0391
    """
    differing, fewer = more + less, min(more, less)
    log_observed = lgamma(differing + 1) - lgamma(fewer + 1) - lgamma(differing - fewer + 1)
    observed = exp(log_observed - differing * log(2))
    if not differing:
        return 1.0
    if more == less:
        return 1 - observed / 2
    return 2 * _beta(0.5, differing - fewer, fewer + 1) - observed


def _beta(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function, by Lentz's continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x)) / a
    value, c, d = 1.0, 1.0, 0.0
    for m in range(_STEPS):
        k = m // 2
        if m == 0:
            step = 1.0
        elif m % 2:
            step = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
        else:
            step = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))
        d = 1 / (1 + step * d or 1e-300)
        c = 1 + step / c or 1e-300
        value *= c * d
        if m and abs(1 - c * d) < 1e-15:
            break
    return front * (value - 1)


def wilson_ends(share: float, of: float, reach: float) -> tuple[float, float]:
    """Wilson's (1927) interval of a share of `of` cases; `reach` is in standard errors."""
    square = reach * reach
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = reach / (1 + square / of) * sqrt(share * (1 - share) / of + square / (4 * of * of))
    # Rounding must not put an end on the other side of the share.
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))


def tango(more: float, less: float, number: float, reach: float) -> tuple[float, float]:
    """Tango's (1998) score interval of a paired difference of shares.

    `more` and `less` are the shares of samples that only one system has right.
    """

    def distance(difference: float) -> float:
        """How many standard errors the observed difference is above this one."""
        above, error = more - less - difference, tango_error(more, less, number, difference)
        return above / error if error > 0 else above * float("inf")

    observed = more - less
    low = _root(lambda d: distance(d) - reach, -1.0, observed)
    return low, _root(lambda d: distance(d) + reach, observed, 1.0)


def tango_error(more: float, less: float, number: float, difference: float) -> float:
    """The standard error of a paired difference of shares, if this is the true one."""
    a = 2.0
    b = difference * (2 - (more - less)) - more - less
    c = -less * difference * (1 - difference)
    wrong = (-b + sqrt(max(0.0, b * b - 4 * a * c))) / (2 * a)
    return sqrt(max(0.0, 2 * wrong + difference * (1 - difference)) / number)


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function passes zero, or the end that is nearest to it."""
    for _ in range(60):
        middle = (low + high) / 2
        if falling(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
