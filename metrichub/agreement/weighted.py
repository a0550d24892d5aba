"""The level of items under weights: every draw of systems as one product of matrices.

A correlation is a sum over pairs of systems, of signs (Kendall) or of differences (Pearson):
r = Σ a b / sqrt(Σ a² Σ b²). A draw weighs each pair by how often both were drawn, and each item by
how often it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrichub.agreement.coefficients import Options

Array = NDArray[np.float64]
OfWeights = Callable[[Array, Array | None], Array]
_PAIRED = ("tau_b", "pearson", "acc_eq", "acc_eq_calibrated", "tau_23")
_CELLS = 2_000_000


def weighted_items(name: str, scores: Array, human: Array, options: Options) -> OfWeights | None:
    """The mean over items as a function of weights of systems (b, S) and items (b, I), or None.

    None for coefficients that aren't sums over pairs.
    """
    if name not in _PAIRED:
        return None
    missing = np.isnan(scores) | np.isnan(human)
    x, z = np.where(missing, np.nan, scores), np.where(missing, np.nan, human)
    i, j = np.triu_indices(len(scores), 1)
    step = max(1, _CELLS // max(len(i), 1))

    def of_weights(systems: Array, items: Array | None) -> Array:
        pairs = systems[:, i] * systems[:, j]
        total, defined = np.zeros(len(systems)), np.zeros(len(systems))
        for start in range(0, x.shape[1], step):
            part = slice(start, start + step)
            values = _values(name, _terms(name, x[:, part], z[:, part], options), pairs)
            there = ~np.isnan(values)
            weights = there.astype(np.float64)
            if items is not None:
                weights *= items[:, part]
            total += (np.where(there, values, 0) * weights).sum(1)
            defined += weights.sum(1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return total / defined

    return of_weights


def _terms(name: str, x: Array, z: Array, options: Options) -> tuple[NDArray[Any], ...]:
    """What is summed over the pairs of systems, (P, I) each."""
    i, j = np.triu_indices(len(x), 1)
    if name == "pearson":
        dx, dz = _scaled(x[i] - x[j]), _scaled(z[i] - z[j])
        return dx * dz, dx * dx, dz * dz
    dx, dz = x[i] - x[j], z[i] - z[j]
    there = ~np.isnan(dx)
    # Counts below 2^24 are whole numbers in float32, whose products take half the time.
    sx = np.where(there & (np.abs(dx) > options.epsilon), np.sign(dx), 0).astype(np.float32)
    sz = np.where(there, np.sign(dz), 0).astype(np.float32)
    if name == "tau_b":
        return sx * sz, np.abs(sx), np.abs(sz)
    right = (there & (sx == sz)).astype(np.float32)
    return right, there.astype(np.float32)


def _values(name: str, terms: tuple[NDArray[Any], ...], pairs: Array) -> Array:
    """The coefficient of every draw and item (b, I); `nan` where it is undefined."""
    sums = [pairs.astype(term.dtype) @ term for term in terms]
    with np.errstate(invalid="ignore", divide="ignore"):
        if len(sums) == 2:
            share = sums[0].astype(np.float64) / sums[1]
            return np.asarray(2 * share - 1 if name == "tau_23" else share)
        ratio = sums[0].astype(np.float64) / np.sqrt(sums[1], dtype=np.float64)
        return np.asarray(ratio / np.sqrt(sums[2], dtype=np.float64))


def _scaled(differences: Array) -> Array:
    """Differences over the largest of their item, 0 where one is missing."""
    filled = np.where(np.isnan(differences), 0, differences)
    largest = np.abs(filled).max(0, initial=0)
    zeros = np.zeros_like(filled)
    return np.asarray(np.divide(filled, largest, where=largest > 0, out=zeros))
