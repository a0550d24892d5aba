"""Pairs in long vectors, counted without looking at each: n log n time, and memory for a few n."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Array = NDArray[np.float64]


def grouped_pair_counts(x: Array, z: Array) -> tuple[Array, ...]:
    """What `PairCounts` holds, of every row of x and z (R, n), which are `nan` at the same places.

    Knight (1966): in the order of x, then z, a pair is discordant where z goes down.
    """
    rows = x.shape[0]
    row, _ = np.nonzero(~np.isnan(x))
    (xs, x_codes), (zs, z_codes) = (
        np.unique(values[~np.isnan(x)], return_inverse=True) for values in (x, z)
    )
    nx, nz = max(len(xs), 1), max(len(zs), 1)
    by_x = np.sort((row * nx + x_codes) * nz + z_codes)
    group, codes = by_x // (nx * nz), by_x % nz
    tied_x, distinct_x = _ties(by_x // nz, by_x // (nx * nz), rows)
    tied_both, _ = _ties(by_x, group, rows)
    by_z = np.sort(row * nz + z_codes)
    tied_z, distinct_z = _ties(by_z, by_z // nz, rows)
    places = np.bincount(row, minlength=rows).astype(np.float64)
    discordant = inversions(codes, group, rows)
    pairs = places * (places - 1) / 2
    concordant = pairs - tied_x - tied_z + tied_both - discordant
    return (
        concordant,
        discordant,
        tied_x - tied_both,
        tied_z - tied_both,
        tied_both,
        places,
        np.minimum(distinct_x, distinct_z),
    )


def inversions(codes: Integers, group: Integers, groups: int) -> Array:
    """How many pairs of a group go down, for each group: a place before one of a smaller code.

    `group` never falls. Bit by bit from the highest, places are parted stably: a pair is an
    inversion at the one bit where its codes part, if the one with a 1 came first.
    """
    found = np.zeros(groups)
    if not len(codes):
        return found
    order = codes.copy()
    prefix = group.copy()
    for bit in range(int(codes.max()).bit_length() - 1, -1, -1):
        ones = (order >> bit) & 1
        before = np.cumsum(ones) - ones
        start = _starts(prefix)
        ones_before = before - before[start]
        zeros = ones == 0
        # The groups are in order throughout, so the owner of a place never changes.
        found += np.bincount(group[zeros], ones_before[zeros], minlength=groups)
        place = np.arange(len(order))
        zeros_before = place - start - ones_before
        zeros_within = _ends(start) - start - _totals(ones, start)
        target = start + np.where(zeros, zeros_before, zeros_within + ones_before)
        moved, parted = np.empty_like(order), np.empty_like(prefix)
        moved[target], parted[target] = order, prefix * 2 + ones
        order, prefix = moved, parted
        # Renumbered, so that the prefix never outgrows its integers.
        prefix = np.cumsum(np.diff(prefix, prepend=prefix[:1]) != 0)
    return found


def _starts(prefix: Integers) -> Integers:
    """Where the run of each place begins."""
    place = np.arange(len(prefix))
    new = np.diff(prefix, prepend=prefix[0] - 1) != 0
    return np.maximum.accumulate(np.where(new, place, 0))


def _ends(start: Integers) -> Integers:
    """Where the run of each place ends, given where it begins."""
    n = len(start)
    last = np.append(np.diff(start) != 0, True)
    ends = np.where(last, np.arange(1, n + 1), n)
    return np.minimum.accumulate(ends[::-1])[::-1]


def _totals(ones: Integers, start: Integers) -> Integers:
    """The sum over the run of each place."""
    whole = np.concatenate([[0], np.cumsum(ones)])
    return np.asarray(whole[_ends(start)] - whole[start])


def _ties(ordered: Integers, group: Integers, groups: int) -> tuple[Array, Array]:
    """The pairs of equal neighbours of each group, and how many distinct values it has."""
    if not len(ordered):
        return np.zeros(groups), np.zeros(groups)
    first = np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1))
    sizes = np.diff(np.append(first, len(ordered))).astype(np.float64)
    owner = group[first]
    pairs = np.bincount(owner, sizes * (sizes - 1) / 2, minlength=groups)
    return np.asarray(pairs, np.float64), np.asarray(
        np.bincount(owner, minlength=groups), np.float64
    )
