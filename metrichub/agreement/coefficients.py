"""Coefficients of two vectors, a metric's scores and people's ratings, and the table of them all.

Places where either has no value (`nan`) are left out. What is undefined is `nan`, never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrichub.agreement.rating_matrix import OutputPairs
from metrichub.agreement.row_coefficients import (
    accuracy_of,
    as_numbers,
    auc_rows,
    joint,
    pair_counts,
    pearson_rows,
    spearman_rows,
    tau_b_of,
    tau_c_of,
)
from metrichub.errors import InputError, ParameterError, did_you_mean

Array = NDArray[np.float64]
T = TypeVar("T")
LABELS = ("auc", "balanced_accuracy")
"""Coefficients of yes/no labels."""
PAIRS = "pairs"
"""The level of preferences between two outputs."""
WITH_TIES = ("acc_eq", "kappa")
"""Coefficients of preferences that count people's ties; the others leave out such pairs."""


def pearson(scores: ArrayLike, human: ArrayLike) -> float:
    """Pearson's r; `nan` if either is constant.

    >>> pearson([1e-200, 2e-200, 4e-200, 3e-200], [1, 2, 4, 3])
    1.0
    """
    return _value_of(pearson_rows, scores, human)


def spearman(scores: ArrayLike, human: ArrayLike) -> float:
    """Spearman's rho, with mid-ranks for ties; `nan` if either is constant."""
    return _value_of(spearman_rows, scores, human)


def tau_b(scores: ArrayLike, human: ArrayLike) -> float:
    """Kendall's tau-b; `nan` if either is constant.

    >>> round(tau_b([1, 1, 2, 2, 3], [1, 2, 2, 3, 3]), 12)
    0.75
    """
    return _value_of(lambda x, z: tau_b_of(pair_counts(x, z)), scores, human)


def tau_c(scores: ArrayLike, human: ArrayLike) -> float:
    """Stuart's tau-c, for scales of different lengths; `nan` if either is constant."""
    return _value_of(lambda x, z: tau_c_of(pair_counts(x, z)), scores, human)


def acc_eq(scores: ArrayLike, human: ArrayLike, epsilon: float = 0.0) -> float:
    """Pairwise accuracy with ties: the share of pairs that both order, or tie, in the same way.

    The metric ties pairs whose scores differ by at most `epsilon`. Deutsch et al. (2023).

    >>> acc_eq([1, 2, 2], [1, 2, 3])  # one pair of three is tied by the metric alone
    0.6666666666666666
    """
    return _value_of(lambda x, z: accuracy_of(pair_counts(x, z, epsilon)), scores, human)


def tau_23(scores: ArrayLike, human: ArrayLike) -> float:
    """The tau of Deutsch et al. (2023), which counts ties in both as right: 2 acc_eq - 1."""
    return 2 * acc_eq(scores, human) - 1


def auc(scores: ArrayLike, labels: ArrayLike) -> float:
    """The area under the ROC curve; labels above 0 are yes; `nan` if all labels are the same.

    >>> auc([0.9, 0.4, 0.4, 0.1], [1, 1, 0, 0])  # of four pairs three are right, one is half
    0.875
    """
    return _value_of(auc_rows, scores, labels)


def balanced_accuracy(scores: ArrayLike, labels: ArrayLike, cut: float) -> float:
    """The mean of the true positive and true negative rates; a score of at least `cut` is yes."""
    return _value_of(lambda x, z: _balanced(x, z, cut), scores, labels)


def _value_of(of: Callable[[Array, Array], Array], x: ArrayLike, z: ArrayLike) -> float:
    scores, human = as_numbers("scores", x), as_numbers("ratings and labels", z)
    if scores.shape != human.shape or scores.ndim != 1:
        shapes = f"{scores.shape} and {human.shape}"
        raise InputError(f"the two vectors must have the same length, not shapes {shapes}")
    return float(of(scores[None], human[None])[0])


def _balanced(x: ArrayLike, z: ArrayLike, cut: float) -> Array:
    scores, human = joint(x, z)
    yes, no = human > 0, human <= 0
    with np.errstate(invalid="ignore"):
        passed = (yes & (scores >= cut)).sum(1) / yes.sum(1)
        caught = (no & (scores < cut)).sum(1) / no.sum(1)
    return np.asarray((passed + caught) / 2)


class Options(NamedTuple):
    """The settings of some coefficients, and the places of pairs.

    `epsilon` is the difference of scores that a metric ties, `cut` the score from which it says
    yes, `threshold` the difference of ratings that makes a pair for `tau_wmt`; `pairs` says where
    preferences lie, whose level is "pairs".
    """

    epsilon: float = 0.0
    cut: float | None = None
    threshold: float = 25.0
    pairs: OutputPairs | None = None


class Coefficient(NamedTuple):
    """A coefficient: its title, and its values of many rows, if it is computed by rows.

    `of_rows` takes scores and ratings (R, n), and how many pairs of each row are of an output with
    its own copy, which a draw with replacement makes; those don't count as pairs.
    """

    title: str
    of_rows: Callable[[Array, Array, Options, Array | float], Array]


def _accuracy(x: Array, z: Array, options: Options, copies: Array | float) -> Array:
    counts = pair_counts(x, z, options.epsilon)
    with np.errstate(invalid="ignore"):
        return (counts.concordant + counts.tied_both - copies) / (counts.pairs - copies)


def _cut(x: Array, z: Array, options: Options, _: Array | float) -> Array:
    if options.cut is None:
        raise ParameterError(None, "cut", None, "the score from which a text counts as good")
    return _balanced(x, z, options.cut)


def _not_of_rows(x: Array, *_: Any) -> Array:
    return np.full(len(x), np.nan)


COEFFICIENTS: Mapping[str, Coefficient] = {
    "pearson": Coefficient("Pearson's r", lambda x, z, *_: pearson_rows(x, z)),
    "spearman": Coefficient("Spearman's rho", lambda x, z, *_: spearman_rows(x, z)),
    "tau_b": Coefficient("Kendall's tau-b", lambda x, z, *_: tau_b_of(pair_counts(x, z))),
    "tau_c": Coefficient("Stuart's tau-c", lambda x, z, *_: tau_c_of(pair_counts(x, z))),
    "tau_23": Coefficient(
        "tau with ties of Deutsch et al. (2023)",
        lambda x, z, options, copies: 2 * _accuracy(x, z, options, copies) - 1,
    ),
    "acc_eq": Coefficient("pairwise accuracy with ties", _accuracy),
    "acc_eq_calibrated": Coefficient("pairwise accuracy with tie calibration", _accuracy),
    "soft_pairwise_accuracy": Coefficient("soft pairwise accuracy", _not_of_rows),
    "tau_wmt": Coefficient(
        "WMT's tau over better and worse outputs, ties discordant", _not_of_rows
    ),
    "auc": Coefficient("area under the ROC curve", lambda x, z, *_: auc_rows(x, z)),
    "balanced_accuracy": Coefficient("balanced accuracy", _cut),
}


def coefficient(name: str) -> Coefficient:
    """The coefficient of this name.

    Raises:
        ParameterError: there is none.
    """
    return _named(name, COEFFICIENTS)


def pair_coefficient(name: str) -> Callable[[Array], Array]:
    """The coefficient of many tables of outcomes (B, 9), see `outcomes_of`, by its name.

    Raises:
        ParameterError: there is none.
    """
    return _named(name, PAIR_COEFFICIENTS)


def outcomes_of(leads: Array, sides: Array) -> Array:
    """The outcome of each pair as (P, 9), a 1 in a row; none where either says nothing.

    A metric prefers a (1), b (-1) or neither (0), and so do people: nine outcomes.
    """
    both = ~(np.isnan(leads) | np.isnan(sides))
    cell = 3 * (np.where(both, leads, 0) + 1) + np.where(both, sides, 0) + 1
    return np.asarray((cell[:, None] == np.arange(9)) & both[:, None], np.float64)


def _mean_gain(wrong: float, tied: float | None) -> Callable[[Array], Array]:
    """The mean over pairs that people don't tie: 1 for a right one, and for others these values.

    Pairs that a metric ties are left out if `tied` is None.
    """

    def value(tables: Array) -> Array:
        t = tables.reshape(-1, 3, 3)
        right, reverse = t[:, 0, 0] + t[:, 2, 2], t[:, 0, 2] + t[:, 2, 0]
        ties = t[:, 1, 0] + t[:, 1, 2]
        gain = right + wrong * reverse + (tied or 0.0) * ties
        return _divided(gain, right + reverse + (0 if tied is None else ties))

    return value


def _same(tables: Array) -> Array:
    """The share of pairs to which both give the same of three answers."""
    t = tables.reshape(-1, 3, 3)
    return _divided(np.trace(t, axis1=1, axis2=2), t.sum((1, 2)))


def _kappa(tables: Array) -> Array:
    """Cohen's kappa of three answers."""
    t = tables.reshape(-1, 3, 3)
    total = np.maximum(t.sum((1, 2)), 1)
    by_chance = (t.sum(1) * t.sum(2)).sum(1) / total**2
    return _divided(_same(tables) - by_chance, 1 - by_chance)


def _divided(part: Array, total: Array) -> Array:
    """The shares, `nan` where the total is nothing."""
    shares = np.full(np.shape(total), np.nan)
    np.divide(part, total, where=total > 0, out=shares)
    return shares


PAIR_COEFFICIENTS: Mapping[str, Callable[[Array], Array]] = {
    "accuracy": _mean_gain(wrong=0.0, tied=0.0),
    "accuracy_ties_half": _mean_gain(wrong=0.0, tied=0.5),
    "tau_wmt": _mean_gain(wrong=-1.0, tied=-1.0),
    "tau_ties_left_out": _mean_gain(wrong=-1.0, tied=None),
    "acc_eq": _same,
    "kappa": _kappa,
}


def _named(name: str, by_name: Mapping[str, T]) -> T:
    if name not in by_name:
        listed = f"{', '.join(by_name)}{did_you_mean(str(name), by_name)}"
        raise ParameterError(None, "coefficient", name, listed)
    return by_name[name]
