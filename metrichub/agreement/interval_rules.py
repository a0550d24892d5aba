"""Which interval an agreement gets, by how many items and systems were drawn for it.

From 100 on it is that of the draws' percentiles. Of fewer, percentiles are too narrow: their
standard deviation times Student's t is the standard error, on Fisher's z scale, which ends where
coefficients do. A share of right pairs gets Wilson's interval, and balanced accuracy that of its
two shares, where samples are of items of their own. Everything else gets none, and the reason:
fewer than 8 units, or 5 where groups are averaged, and values and draws without spread.
"""

from __future__ import annotations

from math import atanh, isnan, nan, sqrt, tanh
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.agreement.bootstrap import interval_of
from metrichub.agreement.shares import agresti_coull, weighted_sum, wilson
from metrichub.evaluation.distributions import student

Array = NDArray[np.float64]
LEAST, LEAST_AVERAGED, LEAST_LABELS, MANY, MANY_SYSTEMS = 8, 5, 5, 100, 10
"""Units that an interval takes, groups that a mean's does, and samples of the rarer label; and
units from which percentiles hold, with so many systems where these are drawn with items."""
_AVERAGED = ("item", "within_system")
_FROM_MINUS_ONE = {"pearson", "spearman", "kappa"}
"""Coefficients, beside Kendall's taus, that reach from -1 to 1; the others are from 0 to 1."""
SHARES = ("accuracy", "acc_eq", "tau_wmt")
"""Coefficients of preferences that are shares of pairs, or made of one."""
_EPSILON = 1e-9


class Bounds(NamedTuple):
    """An interval, or `nan` and why there is none."""

    low: float = nan
    high: float = nan
    why: str = ""


class DrawnUnits(NamedTuple):
    """The kind of draw, how many items and systems were drawn, and how many groups have a value."""

    draw: str
    items: int
    systems: int
    used: int

    def fewest(self, level: str) -> tuple[int, str]:
        """The smaller number of what was drawn and has a value, and its name."""
        items = min(self.items, self.used) if level == "item" else self.items
        systems = min(self.systems, self.used) if level == "within_system" else self.systems
        drawn = {"items": [(items, "item")], "systems": [(systems, "system")]}
        return min(drawn.get(self.draw, [(items, "item"), (systems, "system")]))

    def many(self, level: str) -> bool:
        """Whether percentiles hold."""
        if level == "item" and self.draw != "systems":
            return self.items >= MANY and (self.draw == "items" or self.systems >= MANY_SYSTEMS)
        return self.fewest(level)[0] >= MANY


def bounds_of(
    drawn: Array, value: float, level: str, name: str, units: DrawnUnits, confidence: float
) -> Bounds:
    """The interval of a value, from the values `drawn` for it."""
    if isnan(value) or not len(drawn):
        return Bounds()
    n, unit = units.fewest(level)
    least = LEAST_AVERAGED if level in _AVERAGED else LEAST
    if n < least:
        reason = f"no interval: {n} {unit if n == 1 else f'{unit}s'}, and it takes {least}"
        return Bounds(why=f"{reason}; draw only items" if unit == "system" else reason)
    defined = drawn[~np.isnan(drawn)]
    if len(defined) < 2 or np.ptp(defined) < _EPSILON:
        return Bounds(why="no interval: all draws are alike")
    if units.many(level):
        return Bounds(*interval_of(drawn, confidence))
    from_minus_one = name in _FROM_MINUS_ONE or name.startswith("tau")
    scale, offset = (1, 0) if from_minus_one else (2, 1)
    centred = scale * value - offset
    if abs(centred) > 1 - _EPSILON:
        return Bounds(why="no interval: the value is at the end of its range")
    # The bootstrap's variance is (n - 1)/n of the unbiased one.
    error = scale * float(defined.std()) * sqrt(n / (n - 1))
    half = student(n - 1, confidence) * error / (1 - centred**2)
    low, high = (tanh(atanh(centred) + sign * half) for sign in (-1, 1))
    return Bounds((low + offset) / scale, (high + offset) / scale)


def bounds_of_labels(
    scores: Array, labels: Array, name: str, cut: float | None, units: DrawnUnits, confidence: float
) -> Bounds | None:
    """The interval that yes/no labels of all samples allow; None where it comes from draws.

    There is none if the rarer label is too rare. Where there are few samples, each an item of its
    own, that of balanced accuracy comes from the intervals of the two shares that it averages.
    """
    both = ~(np.isnan(scores) | np.isnan(labels))
    true = labels[both] > 0
    rarer = int(min(true.sum(), (~true).sum()))
    if rarer < LEAST_LABELS:
        return Bounds(why=f"no interval: {rarer} of the rarer label, and it takes {LEAST_LABELS}")
    alone = units.draw == "items" and units.items == len(true)
    if name != "balanced_accuracy" or cut is None or not alone or units.many("pooled"):
        return None
    right = (scores[both] >= cut) == true
    shares = (
        agresti_coull(int(right[of].sum()), int(of.sum()), confidence) for of in (true, ~true)
    )
    return Bounds(*weighted_sum((0.5, share) for share in shares)[1:])


def bounds_of_share(value: float, name: str, pairs: int, confidence: float) -> Bounds:
    """Wilson's interval of a share of independent pairs, or of the tau that is made of one."""
    scale, offset = (2, 1) if name == "tau_wmt" else (1, 0)
    share = wilson(round((value + offset) / scale * pairs), pairs, confidence)
    return Bounds(scale * share.low - offset, scale * share.high - offset)
