"""Coefficients of many pairs of vectors at once, one pair a row; `nan` is a missing value.

A row's coefficient is that of the places where both vectors have a value, and `nan` where it is
undefined: of fewer than two places, or of a vector that is constant present.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrichub.errors import InputError, what

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
_FEW = 48
"""Vectors of up to so many values are compared pair by pair."""


def as_numbers(name: str, values: Any) -> Array:
    """The values as an array.

    Raises:
        InputError: they aren't numbers.
    """
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        message = f"{name} are numbers, nan for a missing one, not {what(values)}"
        raise InputError(message) from None


class PairCounts(NamedTuple):
    """How metric and people order the pairs of each row's places, as arrays (R,).

    `tied_metric` and `tied_human` count pairs that only one of them ties, `tied_both` those that
    both do; `pairs` are all. `places` is how many values a row has, `distinct` the smaller of the
    numbers of distinct values.
    """

    concordant: Array
    discordant: Array
    tied_metric: Array
    tied_human: Array
    tied_both: Array
    places: Array
    distinct: Array

    @property
    def pairs(self) -> Array:
        """All pairs."""
        return self.places * (self.places - 1) / 2


def joint(x: ArrayLike, z: ArrayLike) -> tuple[Array, Array]:
    """Both as (R, n), with `nan` wherever either has it."""
    scores, human = (np.atleast_2d(np.asarray(side, np.float64)) for side in (x, z))
    missing = np.isnan(scores) | np.isnan(human)
    if missing.any():
        scores, human = np.where(missing, np.nan, scores), np.where(missing, np.nan, human)
    return scores, human


def pearson_rows(x: ArrayLike, z: ArrayLike) -> Array:
    """Pearson's r of each row."""
    scores, human = joint(x, z)
    with np.errstate(invalid="ignore", over="ignore"):
        a, b = _centred(scores), _centred(human)
        r = (a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1))
    return np.asarray(np.clip(r, -1, 1))


def spearman_rows(x: ArrayLike, z: ArrayLike) -> Array:
    """Spearman's rho of each row: Pearson's r of the mid-ranks."""
    scores, human = joint(x, z)
    return pearson_rows(mid_ranks(scores), mid_ranks(human))


def mid_ranks(x: Array) -> Array:
    """The ranks of each row's values, from 1; equal values share the mean of theirs."""
    order = np.argsort(x, axis=1, kind="stable")
    values = np.take_along_axis(x, order, 1)
    n = x.shape[1]
    if not n:
        return x.copy()
    place = np.broadcast_to(np.arange(n), x.shape)
    new = np.ones(x.shape, bool)
    new[:, 1:] = values[:, 1:] != values[:, :-1]
    first = np.maximum.accumulate(np.where(new, place, 0), axis=1)
    ends = np.ones(x.shape, bool)
    ends[:, :-1] = new[:, 1:]
    last = np.minimum.accumulate(np.where(ends, place, n - 1)[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty_like(x)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, 1)
    return np.where(np.isnan(x), np.nan, ranks)


def pair_counts(x: ArrayLike, z: ArrayLike, epsilon: float = 0.0) -> PairCounts:
    """How each row's pairs are ordered; the metric (x) ties scores at most `epsilon` apart."""
    scores, human = joint(x, z)
    if scores.shape[1] > _FEW and not epsilon:
        return PairCounts._make(grouped_pair_counts(scores, human))
    return _compared(scores, human, epsilon)


def _compared(x: Array, z: Array, epsilon: float) -> PairCounts:
    """The counts by comparing each place with all that follow it."""
    # Places come first, so that each comparison runs over whole columns of the memory.
    a, b = np.ascontiguousarray(x.T), np.ascontiguousarray(z.T)
    present = ~np.isnan(a)
    sums = np.zeros((5, x.shape[0]))
    for k in range(1, len(a)):
        both = present[k:] & present[:-k]
        if epsilon:
            differences = a[k:] - a[:-k]
            more, less = differences > epsilon, differences < -epsilon
        else:
            more, less = a[k:] > a[:-k], a[k:] < a[:-k]
        up, down = b[k:] > b[:-k], b[k:] < b[:-k]
        tied_x, tied_z = ~(more | less) & both, ~(up | down) & both
        sums[0] += ((more & up) | (less & down)).sum(0)
        sums[1] += ((more & down) | (less & up)).sum(0)
        sums[2] += (tied_x & ~tied_z).sum(0)
        sums[3] += (tied_z & ~tied_x).sum(0)
        sums[4] += (tied_x & tied_z).sum(0)
    distinct = np.minimum(_distinct(x), _distinct(z))
    counts = [*sums, present.sum(0).astype(np.float64), distinct]
    return PairCounts._make(counts)


def tau_b_of(counts: PairCounts) -> Array:
    """Kendall's tau-b: (C - D) / sqrt((pairs not tied by people)(pairs not tied by the metric))."""
    c, d, tied_x, tied_z = counts[:4]
    with np.errstate(invalid="ignore"):
        # The product of two numbers of pairs outgrows what a float64 holds exactly, so two roots.
        tau = (c - d) / np.sqrt(c + d + tied_x) / np.sqrt(c + d + tied_z)
    return np.clip(tau, -1, 1)


def tau_c_of(counts: PairCounts) -> Array:
    """Stuart's tau-c: 2 (C - D) / (n² (m - 1) / m), m the smaller number of distinct values."""
    n, m = counts.places, counts.distinct
    with np.errstate(invalid="ignore", divide="ignore"):
        tau = 2 * (counts.concordant - counts.discordant) / (n**2 * (m - 1) / m)
    return np.where(m > 1, tau, np.nan)


def accuracy_of(counts: PairCounts) -> Array:
    """Pairwise accuracy with ties: pairs that both order or tie alike, over all pairs.

    Deutsch et al. (2023), acc_eq.
    """
    with np.errstate(invalid="ignore"):
        return np.asarray((counts.concordant + counts.tied_both) / counts.pairs)


def auc_rows(x: ArrayLike, z: ArrayLike) -> Array:
    """The area under the ROC curve of each row: x are scores, z labels, above 0 for yes."""
    scores, human = joint(x, z)
    ranks, yes = mid_ranks(scores), human > 0
    p = yes.sum(1)
    q = (~np.isnan(human)).sum(1) - p
    with np.errstate(invalid="ignore"):
        return np.asarray((np.where(yes, ranks, 0).sum(1) - p * (p + 1) / 2) / (p * q))


def _centred(x: Array) -> Array:
    """Each row minus its mean, over its largest absolute value; `nan` where it is constant.

    Missing values become 0, which adds nothing to a sum of products.
    """
    present = ~np.isnan(x)
    filled = np.where(present, x, 0)
    # By a power of two, which changes no digit: neither a sum nor a product leaves the range.
    _, exponent = np.frexp(np.abs(filled).max(1, initial=0))
    scaled = np.ldexp(filled, -exponent[:, None])
    mean = scaled.sum(1) / present.sum(1)
    centred = np.where(present, scaled - mean[:, None], 0)
    largest = np.abs(centred).max(1, initial=0)
    low = np.where(present, x, np.inf).min(1, initial=np.inf)
    high = np.where(present, x, -np.inf).max(1, initial=-np.inf)
    return np.asarray(centred / np.where(low < high, largest, np.nan)[:, None])


def _distinct(x: Array) -> Array:
    """How many distinct values each row has."""
    values = np.sort(x, axis=1)
    steps = (values[:, 1:] > values[:, :-1]).sum(1)
    return np.asarray(steps + ~np.isnan(x).all(1), np.float64)


def grouped_pair_counts(x: Array, z: Array) -> tuple[Array, ...]:
    """The fields of `PairCounts` for all rows of x and z (R, n), `nan` at the same places.

    Takes n log n time and memory for a few n, as no pair is looked at. Knight (1966): in the order
    of x, then z, a pair is discordant where z goes down.
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
    """The pairs of equal neighbors of each group, and how many distinct values it has."""
    if not len(ordered):
        return np.zeros(groups), np.zeros(groups)
    first = np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1))
    sizes = np.diff(np.append(first, len(ordered))).astype(np.float64)
    owner = group[first]
    pairs = np.bincount(owner, sizes * (sizes - 1) / 2, minlength=groups)
    return np.asarray(pairs, np.float64), np.asarray(
        np.bincount(owner, minlength=groups), np.float64
    )
