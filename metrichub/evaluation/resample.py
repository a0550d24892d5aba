"""Bootstrap intervals and paired tests over rows of statistics; knows arrays, not metrics.

The draws and the p-values are those of sacrebleu (Post 2018) for the same seed, after Koehn
(2004) for the paired bootstrap and Riezler and Maxwell (2005) for approximate randomization.
Work is done in blocks of resamples, so that memory doesn't grow with their number.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from functools import cached_property
from math import isnan
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from metrichub.errors import ParameterError

K = TypeVar("K", bound=Hashable)
SEED = 12345
_CELLS = 400_000


class Draw:
    """A block of b resamples: `index` (b, N) with replacement, and the same as weights."""

    def __init__(self, index: NDArray[np.int64]) -> None:
        self.index = index

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """W (b, N): how often each sample was drawn in each resample, ready for W @ S."""
        rows, samples = self.index.shape
        offset = self.index + np.arange(rows)[:, None] * samples
        counts = np.bincount(offset.ravel(), minlength=rows * samples)
        return counts.reshape(rows, samples).astype(np.float64)


def draws(samples: int, resamples: int, seed: int) -> Iterator[Draw]:
    """Blocks of resamples of N samples: `resamples` in all, one stream of numbers a seed."""
    check_positive("resamples", resamples)
    generator = _generator(seed)
    for rows in _blocks(samples, resamples, 1):
        yield Draw(generator.integers(0, samples, size=(rows, samples)))


def swaps(samples: int, trials: int, seed: int) -> Iterator[NDArray[np.bool_]]:
    """Blocks (b, N) of coin tosses: `trials` rows in all, one stream of numbers a seed."""
    check_positive("trials", trials)
    generator = _generator(seed)
    # Tosses are drawn 32 to a word: multiples of 32 rows keep the stream whole across blocks.
    for rows in _blocks(samples, trials, 32):
        tossed = generator.integers(2, size=(rows, samples), dtype=bool)
        # Few rows make slow products; 32 of many samples still fit into the memory.
        step = max(1, 32 * _CELLS // max(samples, 1))
        yield from (tossed[start : start + step] for start in range(0, rows, step))


def _generator(seed: int) -> np.random.Generator:
    if not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ParameterError(None, "seed", seed, "an integer of at least 0")
    return np.random.default_rng(seed)


def check_level(level: float) -> None:
    """Raise `ParameterError` unless the level of an interval lies between 0 and 1."""
    if isinstance(level, str) or not 0 < level < 1:
        raise ParameterError(None, "level", level, "a number between 0 and 1, for example 0.95")


def bootstrap_p(differences: NDArray[np.float64], observed: float) -> float:
    """Sacrebleu's p-value of paired bootstrap differences for the observed difference.

    The fraction of resamples whose absolute difference exceeds its own mean by the observed one: on
    few samples it is too often small, so that randomization is to be preferred there.
    """
    distances = np.abs(differences)
    return _p_value(distances - distances.mean(), abs(observed))


def randomisation_p(differences: NDArray[np.float64], observed: float) -> float:
    """The two-sided p-value of differences between systems whose outputs were swapped at random."""
    return _p_value(np.abs(differences), abs(observed))


def _p_value(statistics: NDArray[np.float64], observed: float) -> float:
    if np.isnan(observed) or np.isnan(statistics).any():
        return float("nan")
    # Ties count, unlike in sacrebleu: else two identical systems would differ significantly.
    extreme = statistics >= observed - 1e-12 * max(1.0, observed)
    return float((np.sum(extreme) + 1) / (len(statistics) + 1))


def holm(p_values: Mapping[K, float]) -> dict[K, float]:
    """Holm's correction of one family's p-values; `nan` isn't a test, and stays `nan`."""
    tested = sorted((p, i) for i, p in enumerate(p_values.values()) if not isnan(p))
    corrected = list(p_values.values())
    highest = 0.0
    for k, (p, i) in enumerate(tested):
        highest = max(highest, min(1.0, (len(tested) - k) * p))
        corrected[i] = highest
    return dict(zip(p_values, corrected, strict=True))


def _blocks(samples: int, rows: int, multiple: int) -> Iterator[int]:
    step = max(1, _CELLS // max(samples, 1) // multiple) * multiple
    for start in range(0, rows, step):
        yield min(step, rows - start)


def check_positive(name: str, value: int) -> None:
    """Raise `ParameterError` unless a number of resamples or trials is positive."""
    if not isinstance(value, int) or value < 1:
        raise ParameterError(None, name, value, "an integer of at least 1")
