"""Outputs: the sample scores of systems by one output, and what plots of them have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

MANY = 2000
"""From so many samples on, or where many are alike, a scatter shows how many lie in a place."""

MOST = 4
"""Metrics that are plotted against each other."""


class Scores(NamedTuple):
    """The sample scores (N,) of every system for one output; `nan` where unscored."""

    label: str
    better: str
    systems: Mapping[str, Values]


def bin_edges(values: Values) -> Values:
    """The edges of a histogram's bins, around a single value where all are the same."""
    bins = min(30, 5 + len(values) // 10)
    # There is no room for bins between values that differ by rounding alone.
    same = len(values) > 0 and np.allclose(values, values[0], rtol=1e-9, atol=1e-12)
    return np.histogram_bin_edges(values[:1] if same else values, bins)


def many(x: Values, y: Values) -> bool:
    """Whether there are so many points, or so many alike, that they are counted by place."""
    return len(x) >= MANY or len(np.unique(np.stack((x, y)), axis=1).T) <= len(x) / 2


def won(output: Scores) -> str:
    """In how many samples the second system is above, below or equal to the first."""
    x, y = list(output.systems.values())[:2]
    higher, lower = int((y > x).sum()), int((y < x).sum())
    equal = int((y == x).sum())
    if output.better == "neither":
        return f"{higher:,} higher, {lower:,} lower, {equal:,} equal"
    better, worse = (higher, lower) if output.better == "higher" else (lower, higher)
    return f"{better:,} better, {worse:,} worse, {equal:,} equal"
