"""How many pairs of numbers rise, in each of many rows."""

from __future__ import annotations

from bisect import bisect_left, insort

import numpy as np

from metrichub.text import Integers

_LONGEST = 64
"""Rows of up to so many numbers are compared all with all."""


def rising_pairs(numbers: Integers, offsets: Integers) -> Integers:
    """How many pairs of each row have the smaller number first, (R,)."""
    sizes = np.diff(offsets)
    counts = np.zeros(len(sizes), np.int64)
    for size in np.flatnonzero(np.bincount(sizes)).tolist():
        rows = np.flatnonzero(sizes == size)
        table = numbers[offsets[rows, None] + np.arange(size)]
        if size > _LONGEST:
            counts[rows] = [_rising(row) for row in table.tolist()]
        else:
            pairs = (table[:, :, None] < table[:, None, :]) & np.tri(size, k=-1, dtype=np.bool_).T
            counts[rows] = np.count_nonzero(pairs, axis=(1, 2))
    return counts


def _rising(row: list[int]) -> int:
    seen: list[int] = []
    rising = 0
    for number in row:
        rising += bisect_left(seen, number)
        insort(seen, number)
    return rising
