"""Bootstrap intervals of an agreement: items, systems or both are drawn with replacement.

What is drawn is what the interval speaks about: other items, other systems, or both (Deutsch, Dror
and Roth 2021). Every metric sees the same draws, which are made in blocks of bounded size. Two
copies of one system aren't a pair. The threshold of tie calibration is that of all data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.agreement.coefficients import (
    Options,
    coefficient,
    outcomes_of,
    pair_coefficient,
)
from metrichub.agreement.levels import mean_of, rows_at
from metrichub.agreement.preference_votes import ranked_pairs
from metrichub.agreement.rating_matrix import OutputPairs
from metrichub.agreement.soft_pairwise import p_distances
from metrichub.agreement.tie_calibration import calibrate
from metrichub.errors import ParameterError

Array = NDArray[np.float64]
Index = NDArray[np.int64]
DRAWN = ("items", "systems", "both")
SEED = 12345
_CELLS = 2_000_000
_PAIRED = ("tau_b", "pearson", "acc_eq", "acc_eq_calibrated", "tau_23")


class Drawn(NamedTuple):
    """The units that are drawn, how often, and the seed of the random numbers."""

    draw: str = "both"
    draws: int = 1000
    seed: int = SEED


class _Block(NamedTuple):
    """Some draws: the systems (b, S) and items (b, I) of each; None for all as they are."""

    systems: Index | None
    items: Index | None
    size: int

    def counts(self) -> tuple[Array | None, Array | None]:
        """How often each system and each item was drawn; None for all as they are."""
        systems = None if self.systems is None else draw_counts(self.systems)
        return systems, None if self.items is None else draw_counts(self.items)


def check_drawn(drawn: Drawn) -> None:
    """Raise `ParameterError` for another kind of draw, or no positive number of them."""
    if drawn.draw not in DRAWN:
        raise ParameterError(None, "draw", drawn.draw, ", ".join(DRAWN))
    if not isinstance(drawn.draws, int) or drawn.draws < 0:
        raise ParameterError(None, "draws", drawn.draws, "a whole number; 0 for no intervals")


def resampled(
    level: str, name: str, scores: Array, human: Array, drawn: Drawn, options: Options | None = None
) -> Array:
    """The coefficient in every draw (draws,) from scores and ratings (S, I)."""
    check_drawn(drawn)
    options = options or Options()
    if name == "acc_eq_calibrated":
        epsilon = calibrate(*rows_at(level, scores, human)).epsilon
        options = options._replace(epsilon=epsilon)
    of_block = _values_of_block(level, name, scores, human, drawn.draw, options)
    shape, cells = scores.shape, scores.size
    if options.pairs is not None:
        shape = len(options.pairs.systems), len(options.pairs.items)
    return np.concatenate([np.empty(0), *map(of_block, _blocks(shape, cells, drawn))])


def _values_of_block(
    level: str, name: str, scores: Array, human: Array, draw: str, options: Options
) -> Callable[[_Block], Array]:
    """The coefficient in every draw of a block, by the shortest way that there is."""
    if options.pairs is not None:
        return partial(_of_pairs, name, outcomes_of(scores, human), options.pairs)
    if name == "soft_pairwise_accuracy":
        return partial(_soft, scores, human)
    if name == "tau_wmt":
        return partial(_ranked, scores, human, options.threshold)
    if (level, draw) in (("item", "items"), ("within_system", "systems")):
        values = coefficient(name).of_rows(*rows_at(level, scores, human), options, 0.0)
        return partial(_mean_of_drawn, values)
    if level == "item" and name in _PAIRED:
        of_weights = weighted_items(name, scores, human, options)
        return lambda block: of_weights(*block.counts())
    return partial(_materialized, level, name, scores, human, options)


def interval_of(values: Array, confidence: float) -> tuple[float, float]:
    """The percentile interval of the draws that have a value; `nan` without any."""
    finite = values[~np.isnan(values)]
    if not len(finite):
        return float("nan"), float("nan")
    low, high = np.quantile(finite, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _blocks(shape: tuple[int, ...], cells: int, drawn: Drawn) -> Iterator[_Block]:
    """The draws of S systems and I items, in blocks by how many cells each draw has."""
    systems, items = shape
    # Two streams, so that the items of a draw don't depend on whether systems are drawn too.
    of_systems, of_items = (np.random.default_rng([drawn.seed, k]) for k in (0, 1))
    step = max(1, _CELLS // max(cells, 1))
    for start in range(0, drawn.draws, step):
        size = min(step, drawn.draws - start)
        drawn_systems = drawn_items = None
        if drawn.draw != "items":
            drawn_systems = of_systems.integers(0, systems, (size, systems))
        if drawn.draw != "systems":
            drawn_items = of_items.integers(0, items, (size, items))
        yield _Block(drawn_systems, drawn_items, size)


def draw_counts(index: Index) -> Array:
    """How often each system was drawn (b, S), from the systems of each draw."""
    offset = index + np.arange(len(index))[:, None] * index.shape[1]
    counts = np.bincount(offset.ravel(), minlength=index.size)
    return counts.reshape(index.shape).astype(np.float64)


def _of_pairs(name: str, outcomes: Array, pairs: OutputPairs, block: _Block) -> Array:
    """A coefficient of preferences, each pair weighed by how often it was drawn."""
    systems, items = block.counts()
    if systems is None:
        assert items is not None, "items are drawn where systems aren't"
        return pair_coefficient(name)(items @ pairs.sums_by_item(outcomes))
    weights = systems[:, pairs.first] * systems[:, pairs.second]
    if items is not None:
        weights *= items[:, pairs.item]
    return pair_coefficient(name)(weights @ outcomes)


def _mean_of_drawn(values: Array, block: _Block) -> Array:
    """The mean of the drawn groups' values, of those that are defined."""
    weights = next(counts for counts in block.counts() if counts is not None)
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return weights @ np.where(defined, values, 0) / (weights @ defined.astype(np.float64))


def _taken(values: Array, block: _Block, k: int) -> Array:
    """The matrix of one draw."""
    taken = values if block.systems is None else values[block.systems[k]]
    return taken if block.items is None else taken[:, block.items[k]]


def _soft(scores: Array, human: Array, block: _Block) -> Array:
    """Soft pairwise accuracy, each pair of systems weighed by how often both were drawn."""
    i, j = np.triu_indices(len(scores), 1)
    of_items = block._replace(systems=None)
    counts, _ = block.counts()
    distances: Array | None = None
    accuracies = []
    for k in range(block.size):
        if block.items is not None or distances is None:
            distances = p_distances(_taken(scores, of_items, k), _taken(human, of_items, k))
        pairs = np.ones(len(i)) if counts is None else counts[k, i] * counts[k, j]
        accuracies.append(1 - (pairs * distances).sum() / pairs.sum() if pairs.any() else np.nan)
    return np.array(accuracies)


def _ranked(scores: Array, human: Array, threshold: float, block: _Block) -> Array:
    """WMT's tau of each draw."""
    sides = ((_taken(scores, block, k), _taken(human, block, k)) for k in range(block.size))
    return np.array([ranked_pairs(x, z, threshold).tau_wmt for x, z in sides])


def _materialized(
    level: str, name: str, scores: Array, human: Array, options: Options, block: _Block
) -> Array:
    """The values of a block of draws, each computed from the cells that were drawn."""
    of_rows = coefficient(name).of_rows
    missing = np.isnan(scores) | np.isnan(human)
    draws = range(block.size)
    sides = [rows_at(level, _taken(scores, block, k), _taken(human, block, k)) for k in draws]
    copies = [_copies(level, block, k, missing) for k in draws]
    if len({x.shape for x, _ in sides}) == 1:
        x, z = (np.concatenate(side) for side in zip(*sides, strict=True))
        values = of_rows(x, z, options, np.concatenate(copies)).reshape(block.size, -1)
        return np.array([mean_of(row) for row in values])
    return np.array(
        [mean_of(of_rows(x, z, options, c)) for (x, z), c in zip(sides, copies, strict=True)]
    )


def _copies(level: str, block: _Block, k: int, missing: NDArray[np.bool_]) -> Array:
    """How many pairs of each row are of an output with its own copy."""
    systems = np.arange(len(missing)) if block.systems is None else block.systems[k]
    items = np.arange(missing.shape[1]) if block.items is None else block.items[k]
    per_system = np.bincount(systems, minlength=len(missing)).astype(np.float64)
    per_item = np.bincount(items, minlength=missing.shape[1]).astype(np.float64)
    present = (~missing).astype(np.float64)
    if level == "system":
        # A system without any score makes no pair.
        scored = present[:, items].any(1)
        return np.array([(scored * per_system * (per_system - 1) / 2).sum()])
    if level == "item":
        return (per_system * (per_system - 1) / 2) @ present[:, items]
    if level == "within_system":
        return present[systems] @ (per_item * (per_item - 1) / 2)
    cells = np.outer(per_system, per_item) * present
    return np.array([(cells * (cells - 1) / 2).sum()])


def weighted_items(
    name: str, scores: Array, human: Array, options: Options
) -> Callable[[Array | None, Array | None], Array]:
    """The mean over items as a function of weights of systems (b, S) and items (b, I).

    For coefficients that are sums over pairs: of signs (Kendall) or of differences (Pearson),
    r = Σ a b / sqrt(Σ a² Σ b²). A draw weighs each pair by how often both systems were
    drawn, and each item by how often it was, so that all draws are one product of matrices.
    """
    missing = np.isnan(scores) | np.isnan(human)
    x, z = np.where(missing, np.nan, scores), np.where(missing, np.nan, human)
    i, j = np.triu_indices(len(scores), 1)
    step = max(1, _CELLS // max(len(i), 1))

    def of_weights(systems: Array | None, items: Array | None) -> Array:
        assert systems is not None, "items alone are drawn by their values"
        pairs = systems[:, i] * systems[:, j]
        total, defined = np.zeros(len(systems)), np.zeros(len(systems))
        for start in range(0, x.shape[1], step):
            part = slice(start, start + step)
            values = _values(name, _terms(name, x[:, part], z[:, part], options), pairs)
            weights = (~np.isnan(values)).astype(np.float64)
            if items is not None:
                weights *= items[:, part]
            total += (np.nan_to_num(values) * weights).sum(1)
            defined += weights.sum(1)
        with np.errstate(invalid="ignore"):
            return total / defined

    return of_weights


def _terms(name: str, x: Array, z: Array, options: Options) -> tuple[NDArray[Any], ...]:
    """The terms of the sums over pairs of systems, (P, I) each."""
    i, j = np.triu_indices(len(x), 1)
    if name == "pearson":
        dx, dz = _scaled(x[i] - x[j]), _scaled(z[i] - z[j])
        return dx * dz, dx * dx, dz * dz
    dx, dz = x[i] - x[j], z[i] - z[j]
    both = ~np.isnan(dx)
    # Counts below 2^24 are whole numbers in float32, whose products take half the time.
    sx = np.where(np.abs(dx) > options.epsilon, np.sign(dx), 0).astype(np.float32)
    sz = np.where(both, np.sign(dz), 0).astype(np.float32)
    if name == "tau_b":
        return sx * sz, np.abs(sx), np.abs(sz)
    return (both & (sx == sz)).astype(np.float32), both.astype(np.float32)


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
