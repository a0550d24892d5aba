"""Spectrum: the eigenvalues of the similarities of unit vectors, and how many there are in effect.

The similarities of n vectors X, (n, d), are the matrix XX' / n. X'X / n has the same eigenvalues
but for zeros, is (d, d) however many vectors there are, and is a sum over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from metrichub.authoring import Array

Row = tuple[tuple[float, ...], ...]
"""The unit vectors of one sample's predictions."""

_NOTHING = 1e-12
"""Shares below it are rounding of 0, which an order near 0 would count."""


class Gram(NamedTuple):
    """The summed outer products of some unit vectors, (d, d)."""

    products: Array
    vectors: int


def condensed(rows: Sequence[Row | Gram]) -> Sequence[Row | Gram]:
    """The same rows in less memory: one sum, if there are more vectors than dimensions."""
    sums = [row for row in rows if isinstance(row, Gram)]
    vectors = _stacked(rows)
    if not sums and len(vectors) <= vectors.shape[1]:
        return list(rows)
    if len(vectors):
        sums.append(Gram(vectors.T @ vectors, len(vectors)))
    return [Gram(sum(gram.products for gram in sums), sum(gram.vectors for gram in sums))]  # type: ignore[arg-type]  # an array


def shares(rows: Sequence[Row | Gram]) -> Array:
    """The eigenvalues of all vectors' similarities over their sum, the number of vectors."""
    (first, *more) = condensed(rows)
    if isinstance(first, Gram):
        matrix = first.products
    else:
        vectors = _stacked([first, *more])
        matrix = vectors @ vectors.T
    values = np.linalg.eigvalsh(matrix)
    return np.asarray(values / values.sum())


def effective_number(shares: Array, order: float) -> float:
    """How many equal shares have the same entropy of an order (Hill number)."""
    some = shares[shares > _NOTHING]
    if order == np.inf:
        return float(1 / some.max())
    if order == 1:
        return float(np.exp(-(some @ np.log(some))))
    return float((some**order).sum() ** (1 / (1 - order)))


def _stacked(rows: Sequence[Row | Gram]) -> Array:
    """The vectors of all rows that have them, (n, d)."""
    vectors = list(chain.from_iterable(row for row in rows if not isinstance(row, Gram)))
    return np.array(vectors, np.float64).reshape(len(vectors), len(vectors[0]) if vectors else 0)
