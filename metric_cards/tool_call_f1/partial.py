"""Partial credit: how many arguments of two calls are equal, and the best pairs in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def heaviest_subsequence(weights: Sequence[Sequence[float]]) -> float:
    """The highest sum of weights (R, C) of pairs in which both rows and columns rise."""
    best = [0.0] * (len(weights[0]) + 1 if weights else 1)
    for row in weights:
        before, best = best, [0.0]
        for column, weight in enumerate(row):
            best.append(max(before[column + 1], best[column], before[column] + weight))
    return best[-1]


def equal_share(first: frozenset[Any], other: frozenset[Any]) -> float:
    """The fraction of equal values of two frozen objects, of all their keys; 1 without any.

    Two objects among the values count as the fraction that they have.
    """
    if first == other:
        return 1.0
    first_, others = dict(first), dict(other)
    total = 0.0
    for key in first_.keys() & others.keys():
        pair = first_[key], others[key]
        nested = all(isinstance(value, frozenset) for value in pair)
        total += equal_share(*pair) if nested else pair[0] == pair[1]
    return total / len(first_.keys() | others.keys())
