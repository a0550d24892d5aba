"""Draws and tosses of samples, and their products with columns of numbers.

Both are those of sacrebleu (Post 2018) for the same seed. They come in blocks, so that memory
doesn't grow with their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property, wraps
from hashlib import blake2b
from threading import RLock
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from metrichub.errors import ParameterError

P = ParamSpec("P")
T = TypeVar("T")
CELLS = 400_000
"""Numbers of a block, which stay in the processor's cache."""
_EXACT = 2**24
"""Whole numbers below it are exact in single precision."""


def in_one_thread(function: Callable[P, T]) -> Callable[P, T]:
    """The function with one thread for products: more take longer, and all of the processor."""

    @wraps(function)
    def limited(*args: P.args, **options: P.kwargs) -> T:
        # Limits that overlap would restore each other's.
        with _LIMITING, _libraries().limit(limits=1, user_api="blas"):
            return function(*args, **options)

    return limited


_LIMITING = RLock()


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class Draw:
    """A block of b resamples: `index` (b, N) with replacement, and the same as weights."""

    def __init__(self, index: NDArray[np.int64]) -> None:
        self.index = index

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """W (b, N): how often each sample was drawn in each resample, ready for W @ S."""
        weights, samples = np.empty(self.index.shape), self.index.shape[1]
        # A few rows at a time, whose counts stay in the processor's cache.
        step = max(1, CELLS // 20 // max(samples, 1))
        for start in range(0, len(weights), step):
            index = self.index[start : start + step]
            offset = index + np.arange(len(index))[:, None] * samples
            counts = np.bincount(offset.ravel(), minlength=offset.size)
            weights[start : start + step] = counts.reshape(index.shape)
        return weights


def draws(samples: int, resamples: int, seed: int) -> Iterator[Draw]:
    """Blocks of resamples of N samples: `resamples` in all, one stream of numbers a seed."""
    check_positive("resamples", resamples)
    generator = generator_of(seed)
    for rows in _blocks(samples, resamples, 1, CELLS):
        yield Draw(generator.integers(0, samples, size=(rows, samples)))


def swaps(samples: int, trials: int, seed: int) -> Iterator[NDArray[np.bool_]]:
    """Blocks (b, N) of coin tosses: `trials` rows in all, one stream of numbers a seed."""
    check_positive("trials", trials)
    generator = generator_of(seed)
    # Tosses are drawn 32 to a word: multiples of 32 rows keep the stream whole across blocks.
    for rows in _blocks(samples, trials, 32, 20 * CELLS):
        tossed = generator.integers(2, size=(rows, samples), dtype=bool)
        # Few rows make slow products; 32 of many samples still fit into the memory.
        step = max(1, 32 * CELLS // max(samples, 1))
        yield from (tossed[start : start + step] for start in range(0, rows, step))


class Products:
    """The products of draws' weights or tosses (b, N) with the columns (N, K) of several parts.

    Columns that are alike are multiplied once, and whole numbers in single precision where that is
    exact, as no sum of N of them is too large.
    """

    def __init__(self, parts: Sequence[NDArray[np.float64]]) -> None:
        place_of: dict[bytes, int] = {}
        columns: list[NDArray[np.float64]] = []
        places = []
        for column in (np.ascontiguousarray(column) for part in parts for column in part.T):
            place = place_of.setdefault(blake2b(column.data).digest(), len(columns))
            if place == len(columns):
                columns.append(column)
            places.append(place)
        exact = np.array([_is_exact(column) for column in columns], np.bool_)
        # Those in single precision come first.
        order = np.argsort(~exact, kind="stable")
        ends = np.cumsum([part.shape[1] for part in parts])[:-1]
        self._places = np.split(np.argsort(order)[places], ends)[: len(parts)]
        table = np.stack(columns, axis=1)[:, order] if columns else np.empty((0, 0))
        self._single = table[:, : exact.sum()].astype(np.float32)
        self._double = np.ascontiguousarray(table[:, exact.sum() :])
        self.width = len(columns)

    def __call__(self, matrix: NDArray[Any]) -> list[NDArray[np.float64]]:
        """The product (b, K) with each part."""
        product, split = np.empty((len(matrix), self.width)), self._single.shape[1]
        step = max(32, CELLS // max(matrix.shape[1], 1))
        for start in range(0, len(matrix), step):
            rows = slice(start, start + step)
            if split:
                product[rows, :split] = matrix[rows].astype(np.float32) @ self._single
            if split < self.width:
                product[rows, split:] = matrix[rows].astype(np.float64) @ self._double
        return [product[:, places] for places in self._places]


def _is_exact(column: NDArray[np.float64]) -> bool:
    with np.errstate(invalid="ignore"):
        return bool(len(column) * np.abs(column).max() < _EXACT and not (column % 1).any())


def generator_of(seed: int) -> np.random.Generator:
    """The numbers of a seed; raise `ParameterError` unless it is a whole number of at least 0."""
    if not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ParameterError(None, "seed", seed, "an integer of at least 0")
    return np.random.default_rng(seed)


def check_positive(name: str, value: int) -> None:
    """Raise `ParameterError` unless a number of resamples or trials is positive."""
    if not isinstance(value, int) or value < 1:
        raise ParameterError(None, name, value, "an integer of at least 1")


def _blocks(samples: int, rows: int, multiple: int, cells: int) -> Iterator[int]:
    step = max(1, cells // max(samples, 1) // multiple) * multiple
    for start in range(0, rows, step):
        yield min(step, rows - start)
