"""Bootstrap intervals of an agreement: items, systems or both are drawn with replacement.

What is drawn is what the interval speaks about: other items, other systems, or both (Deutsch, Dror
and Roth 2021). Every metric sees the same draws, which are made in blocks of bounded size. Two
copies of one system aren't a pair. The threshold of tie calibration is that of all data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.agreement.coefficients import Options, coefficient
from metrichub.agreement.levels import mean_of, rows_at
from metrichub.agreement.preferences import ranked_pairs
from metrichub.agreement.soft_pairwise import p_distances
from metrichub.agreement.tie_calibration import calibrate
from metrichub.errors import ParameterError

Array = NDArray[np.float64]
Index = NDArray[np.int64]
DRAWN = ("items", "systems", "both")
SEED = 12345
_CELLS = 2_000_000
OfWeights = Callable[[Array, Array | None], Array]
_PAIRED = ("tau_b", "pearson", "acc_eq", "acc_eq_calibrated", "tau_23")


class Drawn(NamedTuple):
    """What is drawn, how often, and where the random numbers start."""

    draw: str = "both"
    draws: int = 1000
    seed: int = SEED


class _Block(NamedTuple):
    """Some draws: the systems (b, S) and items (b, I) of each; None for all as they are."""

    systems: Index | None
    items: Index | None
    size: int


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
    blocks = _blocks(scores.shape, drawn)
    if special := _SPECIAL.get(name):
        parts = [special(scores, human, block, options) for block in blocks]
        return np.concatenate([np.empty(0), *parts])
    if level == "item" and drawn.draw == "items":
        values = coefficient(name).of_rows(*rows_at(level, scores, human), options, 0.0)
        return _means_of_drawn(values, [block.items for block in blocks])
    if level == "within_system" and drawn.draw == "systems":
        values = coefficient(name).of_rows(*rows_at(level, scores, human), options, 0.0)
        return _means_of_drawn(values, [block.systems for block in blocks])
    if level == "item" and (of_weights := weighted_items(name, scores, human, options)):
        parts = [of_weights(draw_counts(block.systems), _item_counts(block)) for block in blocks]
        return np.concatenate([np.empty(0), *parts])
    parts = [_materialized(level, name, scores, human, block, options) for block in blocks]
    return np.concatenate([np.empty(0), *parts])


def interval_of(values: Array, confidence: float) -> tuple[float, float]:
    """The percentile interval of the draws that have a value; `nan` without any."""
    finite = values[~np.isnan(values)]
    if not len(finite):
        return float("nan"), float("nan")
    low, high = np.quantile(finite, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _blocks(shape: tuple[int, ...], drawn: Drawn) -> Iterator[_Block]:
    systems, items = shape
    # Two streams, so that the items of a draw don't depend on whether systems are drawn too.
    of_systems, of_items = (np.random.default_rng([drawn.seed, k]) for k in (0, 1))
    step = max(1, _CELLS // max(systems * items, 1))
    for start in range(0, drawn.draws, step):
        size = min(step, drawn.draws - start)
        which = which_items = None
        if drawn.draw != "items":
            which = of_systems.integers(0, systems, (size, systems))
        if drawn.draw != "systems":
            which_items = of_items.integers(0, items, (size, items))
        yield _Block(which, which_items, size)


def draw_counts(index: Index | None) -> Array:
    """How often each system was drawn, from which ones were: (b, S)."""
    assert index is not None
    offset = index + np.arange(len(index))[:, None] * index.shape[1]
    counts = np.bincount(offset.ravel(), minlength=index.size)
    return counts.reshape(index.shape).astype(np.float64)


def _item_counts(block: _Block) -> Array | None:
    return None if block.items is None else draw_counts(block.items)


def _means_of_drawn(values: Array, blocks: list[Index | None]) -> Array:
    """The mean of the drawn groups' values, of those that are defined."""
    there = ~np.isnan(values)
    filled = np.where(there, values, 0)
    means = [np.empty(0)]
    with np.errstate(invalid="ignore", divide="ignore"):
        for index in blocks:
            weights = draw_counts(index)
            means.append(weights @ filled / (weights @ there.astype(np.float64)))
    return np.concatenate(means)


def _taken(values: Array, block: _Block, k: int) -> Array:
    """The matrix of one draw."""
    taken = values if block.systems is None else values[block.systems[k]]
    return taken if block.items is None else taken[:, block.items[k]]


def _soft(scores: Array, human: Array, block: _Block, _: Options) -> Array:
    """Soft pairwise accuracy, each pair of systems weighed by how often both were drawn."""
    i, j = np.triu_indices(len(scores), 1)
    distances: Array | None = None
    accuracies = []
    for k in range(block.size):
        if block.items is not None or distances is None:
            drawn = block._replace(systems=None)
            distances = p_distances(_taken(scores, drawn, k), _taken(human, drawn, k))
        weights = np.ones(len(scores)) if block.systems is None else draw_counts(block.systems)[k]
        pairs = weights[i] * weights[j]
        accuracies.append(1 - (pairs * distances).sum() / pairs.sum() if pairs.any() else np.nan)
    return np.array(accuracies)


def _ranked(scores: Array, human: Array, block: _Block, options: Options) -> Array:
    taus = [
        ranked_pairs(_taken(scores, block, k), _taken(human, block, k), options.threshold).tau_wmt
        for k in range(block.size)
    ]
    return np.array(taus)


_SPECIAL = {"soft_pairwise_accuracy": _soft, "tau_wmt": _ranked}


def _materialized(
    level: str, name: str, scores: Array, human: Array, block: _Block, options: Options
) -> Array:
    """The values of a block of draws, each made of the cells that it drew."""
    of_rows = coefficient(name).of_rows
    sides: list[tuple[Array, Array]] = []
    copies: list[Array] = []
    for k in range(block.size):
        x, z = rows_at(level, _taken(scores, block, k), _taken(human, block, k))
        sides.append((x, z))
        copies.append(_copies(level, block, k, np.isnan(scores) | np.isnan(human)))
    widths = {x.shape for x, _ in sides}
    if len(widths) == 1:
        x, z = (np.concatenate([side[i] for side in sides]) for i in (0, 1))
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
    there = (~missing).astype(np.float64)
    if level == "system":
        # A system without any score makes no pair.
        known = there[:, items].any(1)
        return np.array([(known * per_system * (per_system - 1) / 2).sum()])
    if level == "item":
        return (per_system * (per_system - 1) / 2) @ there[:, items]
    if level == "within_system":
        return there[systems] @ (per_item * (per_item - 1) / 2)
    both = np.outer(per_system, per_item) * there
    return np.array([(both * (both - 1) / 2).sum()])


def weighted_items(name: str, scores: Array, human: Array, options: Options) -> OfWeights | None:
    """The mean over items as a function of weights of systems (b, S) and items (b, I), or None.

    None for coefficients that aren't sums over pairs: of signs (Kendall) or of differences
    (Pearson), r = Σ a b / sqrt(Σ a² Σ b²). A draw weighs each pair by how often both systems were
    drawn, and each item by how often it was, so that all draws are one product of matrices.
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
        with np.errstate(invalid="ignore"):
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
    sx = np.where(np.abs(dx) > options.epsilon, np.sign(dx), 0).astype(np.float32)
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
