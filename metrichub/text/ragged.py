"""Ragged arrays: rows of unequal length laid end to end, with the offsets where they start."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]
Flags: TypeAlias = NDArray[np.bool_]
Integers: TypeAlias = NDArray[np.int64]
Words: TypeAlias = NDArray[np.uint64]


def offsets_of(lengths: Integers) -> Integers:
    """Where each of R rows starts, and where the last one ends: (R+1,)."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def row_sums(values: NDArray[np.generic], offsets: Integers) -> Integers:
    """The sum of every row of the ragged array, (R,); an empty row sums to 0."""
    sums = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=sums[1:])
    totals: Integers = np.diff(sums[offsets])
    return totals


def positions_within(offsets: Integers) -> Integers:
    """The position of every element in its own row, (T,)."""
    starts = np.repeat(offsets[:-1], np.diff(offsets))
    positions: Integers = np.arange(offsets[-1]) - starts
    return positions


def take_rows(offsets: Integers, rows: Integers) -> tuple[Integers, Integers]:
    """The positions of the elements of K rows, (T,), and the offsets of these rows, (K+1,)."""
    lengths = np.diff(offsets)[rows]
    taken = offsets_of(lengths)
    shift = np.repeat(offsets[rows] - taken[:-1], lengths)
    return np.arange(taken[-1]) + shift, taken


def spans(offsets: Integers) -> Iterator[tuple[int, int]]:
    """The start and the end of every row, as Python integers."""
    return pairwise(offsets.tolist())


def sort_rows(keys: Words, offsets: Integers) -> None:
    """Sort every row in place.

    A loop beats one sort of the whole with the row number in the high bits: rows of up to 256
    keys are sorted inside vector registers.
    """
    for start, end in spans(offsets):
        keys[start:end].sort()


def start_runs(changed: Flags, offsets: Integers) -> Flags:
    """Mark, in place, the first element of every row as the start of a run; returns `changed`."""
    changed[offsets[:-1][np.diff(offsets) > 0]] = True
    return changed
