"""Tie calibration: the difference of scores below which a metric ties two outputs.

Deutsch et al. (2023), section 5: one threshold for the whole data set, the one that makes the mean
of the groups' pairwise accuracy largest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.agreement.row_coefficients import joint
from metrichub.errors import InputError

Array = NDArray[np.float64]
MOST_PAIRS = 5_000_000
"""More pairs than these are too many to be sorted in memory."""
_HIGH = 0.95


class Calibration(NamedTuple):
    """The threshold, the mean accuracy with it, and whether it ties nearly all pairs.

    With a threshold above the 95th percentile of the differences a metric says hardly more than a
    constant does.
    """

    epsilon: float
    accuracy: float
    ties_nearly_all: bool


def calibrate(scores: Array, human: Array) -> Calibration:
    """The calibration over groups, which are the rows of scores and ratings (R, n).

    Where several thresholds are equally good, rounding decides, as in mt-metrics-eval: sums are
    made in its order.

    Raises:
        InputError: more pairs than can be sorted in memory.
    """
    row, distances, right, tied = _pairs(*joint(scores, human))
    if not len(row):
        return Calibration(0.0, float("nan"), False)
    order = np.argsort(distances, kind="stable")
    row, distances = row[order], distances[order]
    pairs = np.bincount(row)
    was_right = np.bincount(row, right[order], minlength=len(pairs))
    before, after = _running(row, tied[order] - right[order], was_right.astype(np.float64))
    total = float(sum((was_right[pairs > 0] / pairs[pairs > 0]).tolist()))
    steps = np.stack([-before / pairs[row], after / pairs[row]], axis=1).ravel()
    reached = np.add.accumulate(np.concatenate([[total], steps]))[2::2]
    last = np.append(distances[1:] > distances[:-1], True)
    epsilons, sums = distances[last], reached[last]
    if epsilons[0] > 0:
        epsilons, sums = np.append(0.0, epsilons), np.append(total, sums)
    accuracies = sums / (pairs > 0).sum()
    best = int(np.argmax(accuracies))
    share = float((distances <= epsilons[best]).mean())
    nearly_all = bool(epsilons[best] > 0 and share > _HIGH)
    return Calibration(float(epsilons[best]), float(accuracies[best]), nearly_all)


def _running(row: NDArray[np.int64], change: Array, start: Array) -> tuple[Array, Array]:
    """Each group's count of right pairs before and after each change."""
    by_group = np.argsort(row, kind="stable")
    sums = np.cumsum(change[by_group])
    first = np.flatnonzero(np.diff(row[by_group], prepend=-1))
    sizes = np.diff(np.append(first, len(row)))
    offset = np.repeat(sums[first] - change[by_group][first], sizes)
    after = np.empty(len(row))
    after[by_group] = sums - offset
    after += start[row]
    return after - change, after


def _pairs(x: Array, z: Array) -> tuple[NDArray[np.int64], Array, Array, Array]:
    """All pairs of each row: row, difference of scores, whether right, and whether people tie."""
    rows, n = x.shape
    if rows * n * (n - 1) // 2 > MOST_PAIRS:
        raise InputError(
            f"tie calibration sorts all pairs, {rows * n * (n - 1) // 2:,} here; calibrate at the "
            "level of items, or on fewer outputs"
        )
    i, j = np.triu_indices(n, 1)
    dx, dz = x[:, i] - x[:, j], z[:, i] - z[:, j]
    both = ~np.isnan(dx)
    row = np.nonzero(both)[0]
    dx, dz = dx[both], dz[both]
    right, tied = np.sign(dx) == np.sign(dz), dz == 0
    return row, np.abs(dx), right.astype(np.float64), tied.astype(np.float64)
