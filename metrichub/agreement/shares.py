"""Shares with their Wilson intervals."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

from metrichub.errors import ParameterError


class Share(NamedTuple):
    """A share of counted cases and its interval; `nan` of no case at all."""

    value: float
    low: float
    high: float


def wilson(count: int, of: int, confidence: float = 0.95) -> Share:
    """The share and its interval by Wilson (1927), which never leaves 0..1.

    >>> share = wilson(30, 40)
    >>> round(share.low, 4), round(share.high, 4)
    (0.5981, 0.8581)
    """
    check_confidence(confidence)
    if not of:
        return Share(*[float("nan")] * 3)
    z, p = quantile(confidence), count / of
    middle = (p + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * sqrt(p * (1 - p) / of + z * z / (4 * of * of))
    return Share(p, max(0.0, middle - half), min(1.0, middle + half))


def quantile(confidence: float) -> float:
    """How many standard deviations a two-sided normal interval reaches."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def check_confidence(confidence: float) -> None:
    """Raise `ParameterError` unless the confidence lies between 0 and 1."""
    if not 0 < confidence < 1:
        raise ParameterError(None, "confidence", confidence, "a number between 0 and 1, like 0.95")
