"""Shares with their intervals, and sums of shares with theirs."""

from __future__ import annotations

from collections.abc import Iterable
from math import nan, sqrt
from typing import NamedTuple

from metrichub.errors import ParameterError
from metrichub.evaluation.distributions import quantile, wilson_ends
from metrichub.evaluation.resample import check_confidence


class Share(NamedTuple):
    """A share of counted cases and its interval; `nan` without cases."""

    value: float
    low: float
    high: float


def wilson(count: int, of: int, confidence: float = 0.95) -> Share:
    """The share and its Wilson (1927) interval, which is always within 0..1.

    >>> share = wilson(30, 40)
    >>> round(share.low, 4), round(share.high, 4)
    (0.5981, 0.8581)
    """
    check_confidence(confidence)
    if not 0 <= count <= of:
        raise ParameterError(None, "count", count, f"a number from 0 to {of}, that of all cases")
    if not of:
        return Share(nan, nan, nan)
    low, high = wilson_ends(count / of, of, quantile(confidence))
    return Share(count / of, low, high)


def agresti_coull(count: int, of: int, confidence: float = 0.95) -> Share:
    """The share and its interval by Agresti and Coull (1998), which is 0 to 1 of no case at all.

    Wilson's holds the true share as often as it says on average over all shares; this one, never
    narrower, does for nearly every share, also for those near 0 and 1.

    >>> share = agresti_coull(20, 20)
    >>> round(share.low, 4), share.high
    (0.8102, 1.0)
    """
    check_confidence(confidence)
    z = quantile(confidence)
    more = of + z * z
    middle = (count + z * z / 2) / more
    half = z * sqrt(middle * (1 - middle) / more)
    value = count / of if of else nan
    return Share(value, max(0.0, middle - half), min(1.0, middle + half))


def weighted_sum(parts: Iterable[tuple[float, Share]], variance: float = 0.0) -> Share:
    """The sum of independent shares times their weights, and its interval from theirs.

    The distances from each share to its ends add up by their squares: Zou, Huang and Zhang (2009).
    `variance` is the square of the distance that the weights' own uncertainty adds.
    """
    middle, below, above = 0.0, variance, variance
    for weight, share in parts:
        middle += weight * share.value
        below += (weight * (share.value - share.low)) ** 2
        above += (weight * (share.high - share.value)) ** 2
    return Share(middle, max(0.0, middle - sqrt(below)), min(1.0, middle + sqrt(above)))
