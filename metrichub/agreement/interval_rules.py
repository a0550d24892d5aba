"""Which interval an agreement gets, by how many items and systems were drawn for it.

From 100 on it is that of the draws' percentiles. Of fewer, percentiles are too narrow: their
standard deviation times Student's t is the standard error, on Fisher's z scale, which ends where
coefficients do. A share of right pairs gets Wilson's interval, and balanced accuracy that of its
two shares, where samples are of items of their own. Everything else gets none, and the reason:
fewer than 8 units, or 5 where groups are averaged, and values and draws without spread.
"""

from __future__ import annotations

from math import atanh, isnan, sqrt, tanh
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
_OF_ONE = (
    *("acc_eq", "acc_eq_calibrated", "soft_pairwise_accuracy", "auc", "balanced_accuracy"),
    *("accuracy", "accuracy_ties_half"),
)
"""Coefficients from 0 to 1; the others reach from -1."""
SHARES = ("accuracy", "acc_eq", "tau_wmt")
"""Coefficients of preferences that are shares of pairs, or made of one."""
_EPSILON = 1e-9


class Ends(NamedTuple):
    """An interval, or `nan` and why there is none."""

    low: float
    high: float
    why: str = ""


class DrawnUnits(NamedTuple):
    """What was drawn for a value: of so many items and systems, `used` groups of which have one."""

    draw: str
    items: int
    systems: int
    used: int

    @classmethod
    def of(cls, draw: str, used: int, there: NDArray[np.bool_]) -> DrawnUnits:
        """The units of a matrix (S, I) by where it has scores and ratings."""
        return cls(draw, int(there.any(0).sum()), int(there.any(1).sum()), used)

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


def ends_of(
    drawn: Array, value: float, level: str, name: str, units: DrawnUnits, confidence: float
) -> Ends:
    """The interval of a value, of which `drawn` holds that of every draw."""
    none = float("nan")
    if isnan(value) or not len(drawn):
        return Ends(none, none)
    n, unit = units.fewest(level)
    least = LEAST_AVERAGED if level in _AVERAGED else LEAST
    if n < least:
        return Ends(none, none, _few(n, unit, least))
    defined = drawn[~np.isnan(drawn)]
    if len(defined) < 2 or np.ptp(defined) < _EPSILON:
        return Ends(none, none, "no interval: all draws are alike")
    if units.many(level):
        return Ends(*interval_of(drawn, confidence))
    scale, offset = (2, 1) if name in _OF_ONE else (1, 0)
    centred = scale * value - offset
    if abs(centred) > 1 - _EPSILON:
        return Ends(none, none, "no interval: the value is at the end of its range")
    # The bootstrap's variance is (n - 1)/n of the unbiased one.
    error = scale * float(defined.std()) * sqrt(n / (n - 1))
    half = student(n - 1, confidence) * error / (1 - centred**2)
    low, high = (tanh(atanh(centred) + sign * half) for sign in (-1, 1))
    return Ends((low + offset) / scale, (high + offset) / scale)


def ends_of_labels(
    scores: Array, labels: Array, name: str, cut: float | None, units: DrawnUnits, confidence: float
) -> Ends | None:
    """What yes/no labels of all samples say of an interval; None where draws say it.

    That the rarer label is too rare, or the interval of the two shares whose mean balanced accuracy
    is, where few samples are of items of their own.
    """
    there = ~(np.isnan(scores) | np.isnan(labels))
    true = labels[there] > 0
    rarer = int(min(true.sum(), (~true).sum()))
    if rarer < LEAST_LABELS:
        why = f"no interval: {rarer} of the rarer label, and it takes {LEAST_LABELS}"
        return Ends(float("nan"), float("nan"), why)
    alone = units.draw == "items" and units.items == len(true)
    if name != "balanced_accuracy" or cut is None or not alone or units.many("pooled"):
        return None
    right = (scores[there] >= cut) == true
    shares = (
        agresti_coull(int(right[of].sum()), int(of.sum()), confidence) for of in (true, ~true)
    )
    return Ends(*weighted_sum((0.5, share) for share in shares)[1:])


def ends_of_share(value: float, name: str, pairs: int, confidence: float) -> Ends:
    """Wilson's interval of a share of independent pairs, or of the tau that is made of one."""
    scale, offset = (2, 1) if name == "tau_wmt" else (1, 0)
    share = wilson(round((value + offset) / scale * pairs), pairs, confidence)
    return Ends(scale * share.low - offset, scale * share.high - offset)


def _few(n: int, unit: str, least: int) -> str:
    reason = f"no interval: {n} {unit}{'s' * (n != 1)}, and it takes {least}"
    return f"{reason}; draw only items" if unit == "system" else reason
