"""Soft pairwise accuracy: how alike metric and people are sure which of two systems is better.

Thompson, Mathur, Deutsch and Khayrallah (2024). The draws are those of mt-metrics-eval.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
DRAWS = 1000
SEED = 4


def soft_pairwise_accuracy(
    scores: Array, human: Array, *, draws: int = DRAWS, seed: int = SEED
) -> float:
    """One minus the mean difference of the two sides' p-values over pairs of systems.

    Scores and ratings are (S, I) with systems as rows; items that lack a value of any system are
    left out. `nan` for fewer than two systems, or without items.
    """
    distances = p_distances(scores, human, draws=draws, seed=seed)
    return float(1 - distances.mean()) if len(distances) else float("nan")


def p_distances(scores: Array, human: Array, *, draws: int = DRAWS, seed: int = SEED) -> Array:
    """How far both sides' p-values differ for each pair of systems i < j, `nan` without items."""
    upper = np.triu_indices(len(scores), 1)
    complete = ~(np.isnan(scores) | np.isnan(human)).any(0)
    if not complete.any():
        return np.full(len(upper[0]), np.nan)
    p, q = (pairwise_p(side[:, complete], draws=draws, seed=seed) for side in (scores, human))
    return np.asarray(np.abs(p[upper] - q[upper]))


def soft_pairwise_chance(human: Array) -> float:
    """The value of a metric that is sure of nothing: p = .5 for every pair of systems."""
    complete = ~np.isnan(human).any(0)
    if len(human) < 2 or not complete.any():
        return float("nan")
    upper = np.triu_indices(len(human), 1)
    return float(1 - np.abs(pairwise_p(human[:, complete])[upper] - 0.5).mean())


def pairwise_p(scores: Array, *, draws: int = DRAWS, seed: int = SEED) -> Array:
    """One-sided p-values (S, S) that system i isn't better than system j, for i < j.

    A paired permutation test over items: the same signs for every pair of systems.
    """
    signs = _signs(draws, scores.shape[1], seed)
    # In float32, as the official program has it.
    values = np.ascontiguousarray(scores, np.float32)
    drawn = signs @ values.T
    observed = values.sum(1)
    p_values = np.full((len(scores), len(scores)), np.nan)
    for i in range(len(scores)):
        later = slice(i + 1, None)
        differences = drawn[:, i : i + 1] - drawn[:, later]
        p_values[i, later] = (differences >= observed[i] - observed[later]).mean(0)
    return p_values


@lru_cache(maxsize=4)
def _signs(draws: int, items: int, seed: int) -> NDArray[np.float32]:
    """A sign for each item in each draw: (draws, items)."""
    uniform = np.random.default_rng(seed).random((draws, items), dtype=np.float32)
    return np.rint(uniform) * 2 - 1
