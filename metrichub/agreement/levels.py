"""The ways to read scores and ratings of S systems on I items, and their values.

`item` compares the systems of each item and takes the mean over items, `within_system` the items of
each system; `system` compares the systems' means, `pooled` all outputs at once. An item or system
without a value is left out of the mean and counted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.agreement.coefficients import (
    LABELS,
    PAIRS,
    WITH_TIES,
    Options,
    coefficient,
    outcomes_of,
    pair_coefficient,
)
from metrichub.agreement.preference_votes import ranked_pairs
from metrichub.agreement.soft_pairwise import soft_pairwise_accuracy, soft_pairwise_chance
from metrichub.agreement.tie_calibration import calibrate
from metrichub.errors import ParameterError

Array = NDArray[np.float64]
LEVELS = ("item", "pooled", "system", "within_system")


class Value(NamedTuple):
    """A coefficient at a level, with the number of groups used and of those without a value.

    A group is an item at the level `item`, a system at `within_system`, and all outputs at the
    others; for `tau_wmt` and at the level `pairs` it is a pair. `epsilon` is the threshold of tie
    calibration; `ties_nearly_all` says that it is above the 95th percentile of the differences.
    """

    value: float
    used: int
    undefined: int
    epsilon: float | None = None
    ties_nearly_all: bool = False


def value_at(
    level: str, name: str, scores: Array, human: Array, options: Options | None = None
) -> Value:
    """The value of a coefficient of scores and ratings (S, I), where `nan` means missing.

    Raises:
        ParameterError: there is no such level or coefficient, or the level doesn't have it.
    """
    options = options or Options()
    if level == PAIRS:
        outcomes = outcomes_of(scores, human).sum(0)
        tied = 0 if name in WITH_TIES else int((human == 0).sum())
        by_people = outcomes.reshape(3, 3).sum(0)
        used = by_people.sum() if name in WITH_TIES else by_people[0] + by_people[2]
        return Value(float(pair_coefficient(name)(outcomes[None])[0]), int(used), tied)
    check_level_of(level, name)
    if name == "soft_pairwise_accuracy":
        value = soft_pairwise_accuracy(scores, human)
        defined = int(not np.isnan(value))
        return Value(value, defined, 1 - defined)
    if name == "tau_wmt":
        pairs = ranked_pairs(scores, human, options.threshold)
        return Value(pairs.tau_wmt, pairs.pairs, pairs.unscored)
    x, z = rows_at(level, scores, human)
    places = (~np.isnan(x)).sum(1)
    rated = int((places > 0).sum())
    if name == "acc_eq_calibrated":
        tied_pairs = calibrate(x, z)
        used = int((places > 1).sum())
        epsilon, nearly_all = tied_pairs.epsilon, tied_pairs.ties_nearly_all
        return Value(tied_pairs.accuracy, used, rated - used, epsilon, nearly_all)
    values = coefficient(name).of_rows(x, z, options, 0.0)
    used = int((~np.isnan(values)).sum())
    return Value(mean_of(values), used, rated - used)


def rows_at(level: str, scores: Array, human: Array) -> tuple[Array, Array]:
    """The vectors that are compared at a level, a row each; both `nan` where either is."""
    missing = np.isnan(scores) | np.isnan(human)
    x, z = np.where(missing, np.nan, scores), np.where(missing, np.nan, human)
    if level == "item":
        return x.T, z.T
    if level == "within_system":
        return x, z
    if level == "pooled":
        present = ~missing
        return x[present][None], z[present][None]
    with np.errstate(invalid="ignore"):
        rated = (~missing).sum(1)
        return (
            (np.where(missing, 0, scores).sum(1) / rated)[None],
            (np.where(missing, 0, human).sum(1) / rated)[None],
        )


def mean_of(values: Array) -> float:
    """The mean of the values that are defined, `nan` without any."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else float("nan")


def chance(level: str, name: str, human: Array) -> float:
    """The value of a metric that knows nothing: a constant where ties can be right, else a coin.

    A constant is right about the pairs that people tie, which is all that a bad metric needs that
    ties everything. Correlations of a constant are undefined; a coin's are 0.
    """
    if level == PAIRS:
        if name == "acc_eq":
            return value_at(level, name, np.zeros(len(human)), human).value
        return 0.5 if name.startswith("accuracy") else 0.0
    if name in ("acc_eq", "acc_eq_calibrated", "tau_23"):
        constant = np.where(np.isnan(human), np.nan, 0.0)
        return value_at(level, "tau_23" if name == "tau_23" else "acc_eq", constant, human).value
    if name == "soft_pairwise_accuracy":
        return soft_pairwise_chance(human)
    return 0.5 if name in LABELS else 0.0


def check_level_of(level: str, name: str) -> None:
    """Raise `ParameterError` for an unknown coefficient or level, or if they don't fit."""
    coefficient(name)
    if level not in LEVELS:
        raise ParameterError(None, "level", level, ", ".join(LEVELS))
    if name == "soft_pairwise_accuracy" and level != "system":
        raise ParameterError(
            None, "level", level, f"system: {name} compares systems, by their scores of all items"
        )
    if name == "tau_wmt" and level != "item":
        raise ParameterError(None, "level", level, "item: tau_wmt uses pairs within an item")
    if name in LABELS and level == "system":
        raise ParameterError(
            None, "level", level, f"pooled: {name} needs yes/no labels, and systems have means"
        )
