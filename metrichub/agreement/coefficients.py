"""Coefficients of two vectors, a metric's scores and people's ratings, and the table of them all.

Places where either has no value (`nan`) are left out. What is undefined is `nan`, never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
        right = (
            (yes & (scores >= cut)).sum(1) / yes.sum(1),
            (no & (scores < cut)).sum(1) / no.sum(1),
        )
    return np.asarray((right[0] + right[1]) / 2)


class Options(NamedTuple):
    """What some coefficients need to know beside the values.

    `epsilon` is the difference of scores that a metric ties, `cut` the score from which it says
    yes, `threshold` the difference of ratings that makes a pair for `tau_wmt`.
    """

    epsilon: float = 0.0
    cut: float | None = None
    threshold: float = 25.0


class Coefficient(NamedTuple):
    """A coefficient: its title, and its values of many rows.

    `of_rows` takes scores and ratings (R, n), and how many pairs of each row are of an output with
    its own copy, which a draw with replacement makes; those don't count as pairs.
    """

    name: str
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


COEFFICIENTS: Mapping[str, Coefficient] = {
    entry.name: entry
    for entry in (
        Coefficient("pearson", "Pearson's r", lambda x, z, *_: pearson_rows(x, z)),
        Coefficient("spearman", "Spearman's rho", lambda x, z, *_: spearman_rows(x, z)),
        Coefficient("tau_b", "Kendall's tau-b", lambda x, z, *_: tau_b_of(pair_counts(x, z))),
        Coefficient("tau_c", "Stuart's tau-c", lambda x, z, *_: tau_c_of(pair_counts(x, z))),
        Coefficient(
            "tau_23",
            "tau with ties of Deutsch et al. (2023)",
            lambda x, z, options, copies: 2 * _accuracy(x, z, options, copies) - 1,
        ),
        Coefficient("acc_eq", "pairwise accuracy with ties", _accuracy),
        Coefficient("acc_eq_calibrated", "pairwise accuracy with tie calibration", _accuracy),
        Coefficient(
            "soft_pairwise_accuracy",
            "soft pairwise accuracy",
            lambda x, *_: np.full(len(x), np.nan),
        ),
        Coefficient(
            "tau_wmt",
            "WMT's tau over better and worse outputs, ties discordant",
            lambda x, *_: np.full(len(x), np.nan),
        ),
        Coefficient("auc", "area under the ROC curve", lambda x, z, *_: auc_rows(x, z)),
        Coefficient("balanced_accuracy", "balanced accuracy", _cut),
    )
}


def coefficient(name: str) -> Coefficient:
    """The coefficient of this name.

    Raises:
        ParameterError: there is none.
    """
    return named_coefficient(name, COEFFICIENTS)


def named_coefficient(name: str, known: Mapping[str, T]) -> T:
    """What of the known ones has this name.

    Raises:
        ParameterError: none.
    """
    if name not in known:
        listed = f"{', '.join(known)}{did_you_mean(str(name), known)}"
        raise ParameterError(None, "coefficient", name, listed)
    return known[name]
