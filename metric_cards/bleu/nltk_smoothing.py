"""The smoothing methods of nltk's `SmoothingFunction` (Chen and Cherry 2014), 0 to 7."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from metrichub.authoring import Array

METHODS = tuple(f"nltk-method{number}" for number in range(8))

FIFTH = 5
"""Methods 5 and 7 look at this order after the last one, whatever the last one is."""

_VALUES = {"nltk-method1": 0.1, "nltk-method4": 5.0, "nltk-method6": 5.0, "nltk-method7": 5.0}


class Counts(NamedTuple):
    """n-grams of K orders or more: `matches` and `totals` are (..., K), `length` is (...).

    A sample that is too short for an order has 1 in `totals`.
    """

    matches: Array
    totals: Array
    length: Array


def smoothed(method: str, counts: Counts, orders: int, value: float | None) -> Array:
    """The precisions of the first orders, (..., orders); `nan` where nltk raises.

    `value` is nltk's epsilon of method 1, k of 4 and 7, and alpha of 6; None is its default.
    """
    first = Counts(counts.matches[..., :orders], counts.totals[..., :orders], counts.length)
    value = _VALUES.get(method, 0.0) if value is None else value
    precisions = _RULES.get(method, _fractions)(first, value)
    if method in ("nltk-method5", "nltk-method7"):
        fifth = counts.matches[..., FIFTH - 1] / counts.totals[..., FIFTH - 1]
        return _neighbours(precisions, fifth)
    return precisions


def _fractions(counts: Counts, _: float) -> Array:
    fractions: Array = counts.matches / counts.totals
    return fractions


def _tiny(counts: Counts, _: float) -> Array:
    """Method 0: the smallest number, whose logarithm exists, instead of 0."""
    return np.where(counts.matches == 0, sys.float_info.min, _fractions(counts, 0))


def _epsilon(counts: Counts, epsilon: float) -> Array:
    """Method 1: epsilon instead of no match."""
    return np.where(counts.matches == 0, epsilon, counts.matches) / counts.totals


def _plus_one(counts: Counts, _: float) -> Array:
    """Method 2: one more match and one more n-gram, but for single words (Lin and Och 2004)."""
    more = np.arange(counts.matches.shape[-1]) > 0
    fractions: Array = (counts.matches + more) / (counts.totals + more)
    return fractions


def _halves(counts: Counts, _: float) -> Array:
    """Method 3: 1/2, 1/4, ... instead of no match, as in mteval and sacrebleu's `exp`."""
    missed = counts.matches == 0
    return np.where(missed, 0.5 ** np.cumsum(missed, axis=-1), counts.matches) / counts.totals


def _by_length(counts: Counts, k: float) -> Array:
    """Method 4: those of method 3 times ln(length) / k; no change for a single word."""
    missed = counts.matches == 0
    length = np.log(counts.length)[..., None]
    filled = 0.5 ** np.cumsum(missed, axis=-1) * length / k
    missed &= counts.length[..., None] > 1
    return np.where(missed, filled, counts.matches) / counts.totals


def _neighbours(precisions: Array, after: Array) -> Array:
    """Method 5: the mean of the smoothed precision before, this one, and the one after."""
    before = precisions[..., 0] + 1
    averaged = []
    for order in range(precisions.shape[-1]):
        last = order + 1 == precisions.shape[-1]
        following = after if last else precisions[..., order + 1]
        before = (before + precisions[..., order] + following) / 3
        averaged.append(before)
    return np.stack(averaged, axis=-1)


def _geometric(counts: Counts, alpha: float) -> Array:
    """Method 6: drawn to the geometric continuation of the two precisions before.

    nltk raises where no trigram matches: `nan`.
    """
    precisions = [*np.moveaxis(_fractions(counts, 0), -1, 0)]
    for order in range(2, len(precisions)):
        earlier, latest = precisions[order - 2 : order]
        prior = np.where(earlier == 0, 0.0, latest**2 / earlier)
        total = np.where(counts.length > order, counts.totals[..., order], 0)
        precisions[order] = (counts.matches[..., order] + alpha * prior) / (total + alpha)
    table = np.stack(precisions, axis=-1)
    if len(precisions) > 2:
        table = np.where(counts.matches[..., 2:3] == 0, np.nan, table)
    return table


_RULES: dict[str, Callable[[Counts, float], Array]] = {
    "nltk-method0": _tiny,
    "nltk-method1": _epsilon,
    "nltk-method2": _plus_one,
    "nltk-method3": _halves,
    "nltk-method4": _by_length,
    "nltk-method6": _geometric,
    "nltk-method7": _by_length,
}
