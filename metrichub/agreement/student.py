"""Student's t: its distribution and quantile, and Williams' test of two correlations."""

from __future__ import annotations

from math import exp, inf, isnan, lgamma, log, nan, sqrt

from metrichub.errors import InputError

_STEPS = 300


def t_tail(t: float, freedom: float) -> float:
    """P(T > t) of Student's t with so many degrees of freedom."""
    if freedom <= 0 or isnan(t):
        return nan
    if abs(t) == inf:
        return 0.0 if t > 0 else 1.0
    half = _beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2
    return half if t > 0 else 1 - half


def student(freedom: float, confidence: float) -> float:
    """How many standard errors a two-sided interval reaches, with so many degrees of freedom.

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


def williams_test(
    first_human: float, second_human: float, first_second: float, items: int
) -> float:
    """The one-sided p-value that metric 1 correlates better with people than metric 2.

    Takes Pearson's r of metric 1 and of metric 2 with people and of the two with each other, and
    the number of items. It assumes normal values; the permutation tests don't. Williams (1959), as
    in Graham and Baldwin (2014).
    """
    if items < 4:
        raise InputError(f"Williams' test needs at least 4 items, not {items}")
    r12, r13, r23, n = first_human, second_human, first_second, items
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    spread = 2 * k * (n - 1) / (n - 3) + ((r12 + r13) ** 2) / 4 * (1 - r23) ** 3
    if spread <= 0:
        return nan
    return t_tail((r12 - r13) * sqrt((n - 1) * (1 + r23)) / sqrt(spread), n - 3)


def _beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by Lentz's continued fraction."""
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
