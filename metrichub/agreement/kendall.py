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
    inversion at the one bit where its codes part, if the one with a 1 came first. A 0 that moves
    forward passes so many.
    """
    passed = np.zeros(len(codes), np.int64)
    bits = int(codes.max(initial=0)).bit_length()
    order = group << bits | codes
    # Sorted, they show the bit that each place has once the codes are parted by it.
    slots = np.sort(order)
    for bit in reversed(range(bits)):
        is_one, is_one_after = order >> bit & 1 == 1, slots >> bit & 1 == 1
        zeros, zeros_after = np.flatnonzero(~is_one), np.flatnonzero(~is_one_after)
        # The groups are in order throughout, so the owner of a place never changes.
        passed[zeros] += zeros - zeros_after
        moved = np.empty_like(order)
        moved[zeros_after] = order[zeros]
        moved[np.flatnonzero(is_one_after)] = order[np.flatnonzero(is_one)]
        order = moved
    return np.asarray(np.bincount(group, passed, minlength=groups), np.float64)


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
