"""Outcomes: how metric and people order each pair, and what is computed from their counts.

A metric prefers a (1), b (-1) or neither (0), and so do people: nine outcomes of a pair.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.agreement.coefficients import named_coefficient

Array = NDArray[np.float64]
WITH_TIES = ("acc_eq", "kappa")
"""The coefficients that take a tie for an answer of people's; the others leave such pairs out."""


def outcomes_of(lead: Array, side: Array) -> Array:
    """The outcome of each pair as (P, 9), a 1 in a row; none where either says nothing."""
    there = ~(np.isnan(lead) | np.isnan(side))
    cell = 3 * (np.where(there, lead, 0) + 1) + np.where(there, side, 0) + 1
    return np.asarray((cell[:, None] == np.arange(9)) & there[:, None], np.float64)


def coefficient_of(name: str) -> Callable[[Array], Array]:
    """The coefficient of many tables of outcomes (B, 9), by its name.

    Raises:
        ParameterError: there is none.
    """
    return named_coefficient(name, COEFFICIENTS)


def counted(name: str, outcomes: Array) -> int:
    """How many pairs a coefficient is of."""
    by_people = outcomes.reshape(-1, 3, 3).sum((0, 1))
    return int(by_people.sum() if name in WITH_TIES else by_people[0] + by_people[2])


class _Counts(NamedTuple):
    """Of pairs that people don't tie, how many a metric orders alike, otherwise and not at all."""

    right: Array
    wrong: Array
    tied: Array

    @classmethod
    def of(cls, tables: Array) -> _Counts:
        t = tables.reshape(-1, 3, 3)
        right, wrong = t[:, 0, 0] + t[:, 2, 2], t[:, 0, 2] + t[:, 2, 0]
        return cls(right, wrong, t[:, 1, 0] + t[:, 1, 2])


def _share(of: Callable[[_Counts], tuple[Array, Array]]) -> Callable[[Array], Array]:
    def value(tables: Array) -> Array:
        part, whole = of(_Counts.of(tables))
        return _divided(part, whole)

    return value


def _same(tables: Array) -> Array:
    """The share of pairs to which both give the same of three answers."""
    t = tables.reshape(-1, 3, 3)
    whole = t.sum((1, 2))
    same = np.trace(t, axis1=1, axis2=2)
    return _divided(same, whole)


def _kappa(tables: Array) -> Array:
    """Cohen's kappa of three answers."""
    t = tables.reshape(-1, 3, 3)
    whole = np.maximum(t.sum((1, 2)), 1)
    by_chance = (t.sum(1) * t.sum(2)).sum(1) / whole**2
    return _divided(_same(tables) - by_chance, 1 - by_chance)


def _divided(part: Array, whole: Array) -> Array:
    """The shares, `nan` where the whole is nothing."""
    shares = np.full(np.shape(whole), np.nan)
    np.divide(part, whole, where=whole > 0, out=shares)
    return shares


COEFFICIENTS: Mapping[str, Callable[[Array], Array]] = {
    "accuracy": _share(lambda n: (n.right, n.right + n.wrong + n.tied)),
    "accuracy_ties_half": _share(lambda n: (n.right + n.tied / 2, n.right + n.wrong + n.tied)),
    "tau_wmt": _share(lambda n: (n.right - n.wrong - n.tied, n.right + n.wrong + n.tied)),
    "tau_ties_left_out": _share(lambda n: (n.right - n.wrong, n.right + n.wrong)),
    "acc_eq": _same,
    "kappa": _kappa,
}
