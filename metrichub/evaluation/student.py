"""Student's t: its distribution and quantile."""

from __future__ import annotations

from functools import lru_cache
from math import exp, inf, isnan, lgamma, log, nan

_STEPS = 300


def t_tail(t: float, freedom: float) -> float:
    """P(T > t) of Student's t with so many degrees of freedom."""
    if freedom <= 0 or isnan(t):
        return nan
    if abs(t) == inf:
        return 0.0 if t > 0 else 1.0
    half = _beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2
    return half if t > 0 else 1 - half


@lru_cache(maxsize=64)
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
