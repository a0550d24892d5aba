"""Permutation tests of two metrics on the same outputs; the swap is a part of the test's name.

Each metric is standardized over all cells, then cells change places between the two, and both
coefficients are made anew. What changes places together is what is taken to be independent:

- `cells`: every cell by a coin of its own (mt-metrics-eval's PERM-BOTH);
- `systems_xor_items`: a coin each system and item; a cell changes if one of its two says so
  (nlpstats' `both`);
- `items`, `systems`: whole items or systems (PERM-INPUTS, PERM-SYSTEMS);
- `pairs`: every pair's outcome by a coin of its own, WMT's test of acc_eq. Pairs of an item share
  outputs, so it finds differences where there are none: in 27 to 32 of 100 at .05.

Of preferences, what two metrics say of all pairs of an item changes places together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import comb
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.agreement.coefficients import (
    PAIRS,
    Options,
    coefficient,
    outcomes_of,
    pair_coefficient,
)
from metrichub.agreement.levels import rows_at, value_at
from metrichub.agreement.tie_calibration import calibrate
from metrichub.errors import ParameterError

Array = NDArray[np.float64]
Coins = NDArray[np.bool_]
Single = NDArray[np.float32]
SWAPS = ("systems_xor_items", "cells", "items", "systems", "pairs")
_OF_PAIRS = ("acc_eq", "acc_eq_calibrated", "tau_23")
_CELLS = 1_000_000
_SUMS = ("tau_b", "acc_eq", "tau_23")
_BLOCK = 2_000_000


class AgreementTest(NamedTuple):
    """The difference between two metrics' agreement, its two-sided p-value, and the swaps."""

    difference: float
    p: float
    swap: str
    draws: int


class Swapped(NamedTuple):
    """The units that are swapped, how often, and the seed of the random numbers."""

    swap: str = "systems_xor_items"
    draws: int = 1000
    seed: int = 12345


def permutation_test(
    level: str,
    name: str,
    first: Array,
    second: Array,
    human: Array,
    how: Swapped,
    options: Options | None = None,
) -> AgreementTest:
    """The test of two metrics' scores against ratings, all (S, I); `nan` is a missing value.

    Cells that lack any of the three are left out. Of preferences all are (P,).

    Raises:
        ParameterError: no such swap, or none for this coefficient.
    """
    options = options or Options()
    _check(how, level, name)
    a, b, z = first, second, human
    if level != PAIRS:
        missing = np.isnan(first) | np.isnan(second) | np.isnan(human)
        a, b, z = (np.where(missing, np.nan, side) for side in (first, second, human))
    difference = (
        value_at(level, name, a, z, options).value - value_at(level, name, b, z, options).value
    )
    if np.isnan(difference):
        return AgreementTest(difference, float("nan"), how.swap, 0)
    if how.swap == "pairs":
        return _pairs_test(level, name, a, b, z, how)
    swapped = _swapped_values(level, name, (a, b, z), options, how)
    drawn = np.concatenate([of_a - of_b for of_a, of_b in swapped])
    drawn = drawn[~np.isnan(drawn)]
    hits = int((np.abs(drawn) >= abs(difference) - 1e-12).sum())
    return AgreementTest(difference, (hits + 1) / (len(drawn) + 1), how.swap, len(drawn))


def pair_swap_test(
    right_one: Array, right_other: Array, draws: int = 1000, seed: int = 12345
) -> tuple[float, float, float]:
    """WMT's test over pairs: the difference, its one-sided and its two-sided p-value.

    Rows are items, columns pairs of outputs: 1 if a metric is right, 0 if not, `nan` if there is no
    pair. If every item has the same number of pairs, it is an exact sign test.
    """
    pairs = (~np.isnan(right_one)).sum(1)
    compared = pairs > 0
    lead = (right_one - right_other)[compared]
    pairs = pairs[compared]
    difference = float((np.nansum(lead, axis=1) / pairs).mean())
    parted = np.nansum(np.abs(lead), axis=1).astype(np.int64)
    if len(set(pairs.tolist())) == 1:
        n, total = int(parted.sum()), round(float(np.nansum(lead)))
        return difference, _sign_tail(n, total), min(1.0, 2 * _sign_tail(n, abs(total)))
    random = np.random.default_rng(seed)
    # The sum of n signs is 2 B - n, of a binomial B.
    sums = 2 * random.binomial(parted, 0.5, (draws, len(parted))) - parted
    drawn = (sums / pairs).mean(1)
    upper = int((drawn >= difference - 1e-12).sum())
    both = int((np.abs(drawn) >= abs(difference) - 1e-12).sum())
    return difference, (upper + 1) / (draws + 1), (both + 1) / (draws + 1)


def _check(how: Swapped, level: str, name: str) -> None:
    if level == PAIRS and how.swap != "items":
        raise ParameterError(None, "swap", how.swap, "items: pairs of one item belong together")
    if how.swap not in SWAPS:
        raise ParameterError(None, "swap", how.swap, ", ".join(SWAPS))
    if how.swap == "pairs" and name not in _OF_PAIRS:
        raise ParameterError(None, "swap", "pairs", f"another; {name} isn't a mean over pairs")
    own_places = how.swap == "pairs" or (level, how.swap) == ("item", "items")
    if name == "acc_eq_calibrated" and not own_places:
        raise ParameterError(
            None,
            "swap",
            how.swap,
            "'items' at level 'item', or 'pairs': each metric has its own threshold of tie "
            "calibration, so their scores can't be swapped elsewhere",
        )


def _pairs_test(level: str, name: str, a: Array, b: Array, z: Array, how: Swapped) -> AgreementTest:
    calibrated = name == "acc_eq_calibrated"
    first, second = (_right(*rows_at(level, side, z), calibrated=calibrated) for side in (a, b))
    difference, _, p = pair_swap_test(first, second, how.draws, how.seed)
    scale = 2 if name == "tau_23" else 1
    return AgreementTest(scale * difference, p, "pairs", how.draws)


def _right(x: Array, z: Array, *, calibrated: bool) -> Array:
    """Whether a metric orders each pair of a row as people do: 1, 0, or `nan` without a pair."""
    epsilon = calibrate(x, z).epsilon if calibrated else 0.0
    i, j = np.triu_indices(x.shape[1], 1)
    dx, dz = x[:, i] - x[:, j], z[:, i] - z[:, j]
    sign = np.where(np.abs(dx) > epsilon, np.sign(dx), 0)
    return np.where(np.isnan(dx), np.nan, sign == np.sign(dz))


def _swapped_values(
    level: str, name: str, sides: tuple[Array, Array, Array], options: Options, how: Swapped
) -> Iterator[tuple[Array, Array]]:
    """Both coefficients of every draw, in blocks."""
    a, b, z = sides
    if options.pairs is not None:
        of_a, of_b = (options.pairs.sums_by_item(outcomes_of(side, z)) for side in (a, b))
        random = np.random.default_rng(how.seed)
        stays = random.integers(0, 2, (how.draws, len(of_a))).astype(np.float64)
        value = pair_coefficient(name)
        yield value(stays @ of_a + (1 - stays) @ of_b), value(stays @ of_b + (1 - stays) @ of_a)
    elif level == "item" and how.swap == "items":
        first, second = (_item_values(name, side, z, options) for side in (a, b))
        for coins in _coins((1, z.shape[1]), how):
            yield _means(first, second, coins[:, 0]), _means(second, first, coins[:, 0])
    else:
        a, b = _standardized(a), _standardized(b)
        if level == "item" and name in _SUMS:
            swapped = swapped_items(name, a, b, z)
        else:
            swapped = partial(_materialized, level, name, a, b, z, options)
        for coins in _coins(z.shape, how):
            yield swapped(coins)


def _item_values(name: str, scores: Array, human: Array, options: Options) -> Array:
    """A metric's coefficient of each item; the threshold of tie calibration stays its own."""
    x, z = rows_at("item", scores, human)
    epsilon = calibrate(x, z).epsilon if name == "acc_eq_calibrated" else 0.0
    return coefficient(name).of_rows(x, z, options._replace(epsilon=epsilon), 0.0)


def _means(first: Array, second: Array, coins: Coins) -> Array:
    """The mean over items, of the first metric's values where the coin is 0."""
    values = np.where(coins, second, first)
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(defined, values, 0).sum(1) / defined.sum(1))


def _materialized(
    level: str, name: str, a: Array, b: Array, z: Array, options: Options, coins: Coins
) -> tuple[Array, Array]:
    """The values from matrices whose cells changed places, one after the other."""
    first = [value_at(level, name, np.where(c, b, a), z, options).value for c in coins]
    second = [value_at(level, name, np.where(c, a, b), z, options).value for c in coins]
    return np.array(first), np.array(second)


def swapped_items(
    name: str, a: Array, b: Array, human: Array
) -> Callable[[Coins], tuple[Array, Array]]:
    """Both metrics' means over items as a function of coins (b, S, I); all values are (S, I).

    Whether a pair is concordant depends on the two coins of its systems alone, so the pairs of an
    item add up to ½ (aᵀAAa + 2 aᵀABc + cᵀBBc), with c the coins, a = 1 - c, and AB[p, q] the pair
    of metric A's score of system p with B's of q.
    """
    systems, items = human.shape
    step = max(1, _BLOCK // max(systems * systems, 1))
    parts = [slice(start, start + step) for start in range(0, items, step)]
    forms = [_Forms(name, a[:, part].T, b[:, part].T, human[:, part].T) for part in parts]

    def values(coins: Coins) -> tuple[Array, Array]:
        sums, defined = np.zeros((2, len(coins))), np.zeros((2, len(coins)))
        for part, form in zip(parts, forms, strict=True):
            tossed = np.ascontiguousarray(coins[:, :, part].transpose(2, 0, 1), np.float32)
            for k, coefficients in enumerate(form.values(tossed)):
                sums[k] += np.nansum(coefficients, axis=0)
                defined[k] += (~np.isnan(coefficients)).sum(0)
        with np.errstate(invalid="ignore"):
            means = sums / defined
        return means[0], means[1]

    return values


class _Forms:
    """The matrices of some items: scores and ratings are (I, S)."""

    def __init__(self, name: str, a: Array, b: Array, human: Array) -> None:
        self.name = name
        present = ~np.isnan(human)
        both = present[:, :, None] & present[:, None, :]
        signs_human = _signs(human, human)
        self.human = np.abs(signs_human).sum((1, 2)) / 2
        # Without a system's pair with itself, which isn't a pair.
        others = ~np.eye(human.shape[1], dtype=bool)
        self.pairs = (both & others).sum((1, 2)) / 2
        signs = [_signs(a, a), _signs(a, b), _signs(b, b)]
        if name == "tau_b":
            self.terms = [
                [s * signs_human * others for s in signs],
                [np.abs(s) * others for s in signs],
            ]
        else:
            right = [((s == signs_human) & both & others).astype(np.float32) for s in signs]
            self.terms = [right]

    def values(self, coins: Single) -> tuple[Array, Array]:
        """The coefficient of every item and draw (I, b) of both metrics; coins are (I, b, S)."""
        stays = 1 - coins
        sums = [_quadratic(term, stays, coins) for term in self.terms]
        return self._value(*(s[0] for s in sums)), self._value(*(s[1] for s in sums))

    def _value(self, top: Single, metric: Single | None = None) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            if metric is not None:
                ratio = top.astype(np.float64) / np.sqrt(metric, dtype=np.float64)
                return np.asarray(ratio / np.sqrt(self.human, dtype=np.float64)[:, None])
            share = top.astype(np.float64) / self.pairs[:, None]
            return np.asarray(2 * share - 1 if self.name == "tau_23" else share)


def _quadratic(terms: list[Single], stays: Single, coins: Single) -> tuple[Single, Single]:
    """The sums over pairs of both metrics: A where the coin is 0, and where it is 1."""
    aa, ab, bb = terms
    sums = []
    for of_a, of_b in ((stays, coins), (coins, stays)):
        unmixed = (of_a @ aa * of_a).sum(2) + (of_b @ bb * of_b).sum(2)
        sums.append((unmixed + 2 * (of_a @ ab * of_b).sum(2)) / 2)
    return sums[0], sums[1]


def _signs(a: Array, b: Array) -> Single:
    """The signs of the differences of each item's scores (I, S), 0 where one is missing."""
    differences = a[:, :, None] - b[:, None, :]
    return np.sign(np.nan_to_num(differences)).astype(np.float32)


def _coins(shape: tuple[int, ...], how: Swapped) -> Iterator[Coins]:
    """Blocks (b, S, I) of which cells change places."""
    random = np.random.default_rng(how.seed)
    systems, items = shape
    step = max(1, _CELLS // max(systems * items, 1))
    for start in range(0, how.draws, step):
        size = min(step, how.draws - start)
        if how.swap == "cells":
            yield random.random((size, systems, items), np.float32) < 0.5
            continue
        # Drawn for both, so that the blocks' size changes no number.
        tossed = random.random((size, systems + items), np.float32) < 0.5
        of_systems, of_items = tossed[:, :systems, None], tossed[:, None, systems:]
        if how.swap == "systems_xor_items":
            yield of_systems ^ of_items
        else:
            coins = of_items if how.swap == "items" else of_systems
            yield np.broadcast_to(coins, (size, systems, items))


def _standardized(values: Array) -> Array:
    """Values over all cells with mean 0 and standard deviation 1."""
    centred = values - np.nanmean(values)
    largest = np.nanmax(np.abs(centred))
    scale = float(np.nanstd(centred / (largest or 1))) * largest
    return np.asarray(centred / scale) if scale > 0 else centred


def _sign_tail(n: int, total: int) -> float:
    """The probability that a sum of n signs is at least this."""
    if n > 1000:
        return 1 - NormalDist().cdf((total - 1) / n**0.5)
    least = max((n + total + 1) // 2, 0)
    return float(sum(comb(n, k) for k in range(least, n + 1)) / 2**n)
