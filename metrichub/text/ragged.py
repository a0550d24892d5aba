"""Ragged arrays: rows of unequal length laid end to end, with the offsets where they start."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]
Flags: TypeAlias = NDArray[np.bool_]
Integers: TypeAlias = NDArray[np.int64]
Words: TypeAlias = NDArray[np.uint64]

KEY_BITS = 64

TOGETHER, FEW = 1000, 4
"""About how many keys are sorted together, unless they make fewer rows than these."""


def offsets_of(lengths: Integers) -> Integers:
    """Where each of R rows starts, and where the last one ends: (R+1,)."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def row_sums(values: NDArray[np.generic], offsets: Integers) -> Integers:
    """The sum of every row of the ragged array, (R,); an empty row sums to 0."""
    sums = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=sums[1:])
    totals: Integers = np.diff(sums.take(offsets))
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
    """Sort each row in place.

    Rows of up to 256 keys are sorted inside vector registers, so sorting row by row is faster than
    sorting all at once. Rows so short that a call takes longer than the sort are sorted together,
    with the row's number in bits that no key uses.
    """
    rows = len(offsets) - 1
    free = KEY_BITS - int(keys.max(initial=0)).bit_length()
    together = min(TOGETHER * rows // max(len(keys), 1), 1 << free)
    if together < FEW:
        for start, end in spans(offsets):
            keys[start:end].sort()
        return
    shift = np.uint64(KEY_BITS - (together - 1).bit_length())
    number = np.arange(rows, dtype=np.uint64) % np.uint64(together)
    keys |= np.repeat(number << shift, np.diff(offsets))
    for start, end in pairwise([*offsets[:-1:together].tolist(), len(keys)]):
        keys[start:end].sort()
    keys &= (np.uint64(1) << shift) - np.uint64(1)


def start_runs(changed: Flags, offsets: Integers) -> Flags:
    """Mark, in place, the first element of every row as the start of a run; returns `changed`."""
    changed[offsets[:-1][np.diff(offsets) > 0]] = True
    return changed


class EqualKeys(NamedTuple):
    """The order that brings T equal keys together, (T,), and where they change in it, (T+1,).

    Keys rise, and equal ones stay in their order.
    """

    order: Integers
    changed: Flags


def sort_equal(keys: Words) -> EqualKeys:
    """The keys with equal ones adjacent, by one sort; the lowest bits hold each key's position.

    If that doesn't leave enough bits, keys that differ only in the lowest bits are sorted again;
    hashes hardly ever do. Arrays are reused, because allocating memory takes longer than most of
    the work.
    """
    width = len(keys).bit_length()
    low = np.uint64((1 << width) - 1)
    fits = int(keys.max(initial=0)).bit_length() + width <= KEY_BITS
    packed = keys << np.uint64(width) if fits else keys & ~low
    room = np.arange(len(keys), dtype=np.uint64)
    packed |= room
    packed.sort()
    changed = np.ones(len(keys) + 1, np.bool_)
    np.greater(np.bitwise_xor(packed[1:], packed[:-1], out=room[1:]), low, out=changed[1:-1])
    packed &= low
    order = packed.view(np.int64)
    if not fits:
        ordered = keys[order]
        if (~changed[1:-1] & (ordered[1:] != ordered[:-1])).any():
            order = np.argsort(keys, kind="stable")
            ordered = keys[order]
            np.not_equal(ordered[1:], ordered[:-1], out=changed[1:-1])
    return EqualKeys(order, changed)
