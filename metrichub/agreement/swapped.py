"""The level of items when cells change places between two metrics: quadratic forms of the coins.

Whether a pair is concordant depends on the two coins of its systems alone, so the pairs of an item
add up to ½ (aᵀAAa + 2 aᵀABc + cᵀBBc), with c the coins, a = 1 - c, and AB[p, q] the pair of metric
A's score of system p with B's of q.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Single = NDArray[np.float32]
Coins = NDArray[np.bool_]
SUMS = ("tau_b", "acc_eq", "tau_23")
_BLOCK = 2_000_000


def swapped_items(
    name: str, a: Array, b: Array, human: Array
) -> Callable[[Coins], tuple[Array, Array]]:
    """Both metrics' means over items as a function of coins (b, S, I); all values are (S, I)."""
    systems, items = human.shape
    step = max(1, _BLOCK // max(systems * systems, 1))
    parts = [slice(start, start + step) for start in range(0, items, step)]
    forms = [_Forms(name, a[:, part].T, b[:, part].T, human[:, part].T) for part in parts]

    def values(coins: Coins) -> tuple[Array, Array]:
        sums, defined = np.zeros((2, len(coins))), np.zeros((2, len(coins)))
        for part, form in zip(parts, forms, strict=True):
            tossed = np.ascontiguousarray(coins[:, :, part].transpose(2, 0, 1), np.float32)
            for k, found in enumerate(form.values(tossed)):
                there = ~np.isnan(found)
                sums[k] += np.where(there, found, 0).sum(0)
                defined[k] += there.sum(0)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = sums / defined
        return means[0], means[1]

    return values


class _Forms:
    """The matrices of some items: scores and ratings are (I, S)."""

    def __init__(self, name: str, a: Array, b: Array, human: Array) -> None:
        self.name = name
        dz = _differences(human, human)
        self.there = (~np.isnan(dz)).astype(np.float32)
        sz = np.sign(np.nan_to_num(dz)).astype(np.float32)
        self.human = np.abs(sz).sum((1, 2)) / 2
        # Without a system's pair with itself, which is no pair.
        own = ~np.eye(human.shape[1], dtype=bool)
        self.pairs = (self.there * own).sum((1, 2)) / 2
        signs = [_signs(*pair) for pair in ((a, a), (a, b), (b, b))]
        if name == "tau_b":
            self.terms = [[s * sz * own for s in signs], [np.abs(s) * own for s in signs]]
        else:
            right = [(s == sz).astype(np.float32) * self.there * own for s in signs]
            self.terms = [right]

    def values(self, coins: Single) -> tuple[Array, Array]:
        """The coefficient of every item and draw (I, b) of both metrics; coins are (I, b, S)."""
        kept = 1 - coins
        sums = [_quadratic(term, kept, coins) for term in self.terms]
        return self._value(*(s[0] for s in sums)), self._value(*(s[1] for s in sums))

    def _value(self, top: Single, metric: Single | None = None) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            if metric is not None:
                found = top.astype(np.float64) / np.sqrt(metric, dtype=np.float64)
                return np.asarray(found / np.sqrt(self.human, dtype=np.float64)[:, None])
            share = top.astype(np.float64) / self.pairs[:, None]
            return np.asarray(2 * share - 1 if self.name == "tau_23" else share)


def _quadratic(terms: list[Single], kept: Single, coins: Single) -> tuple[Single, Single]:
    """The sums over pairs of both metrics: A where the coin is 0, and where it is 1."""
    aa, ab, bb = terms
    found = []
    for one, other in ((kept, coins), (coins, kept)):
        whole = (one @ aa * one).sum(2) + (other @ bb * other).sum(2)
        found.append((whole + 2 * (one @ ab * other).sum(2)) / 2)
    return found[0], found[1]


def _differences(one: Array, other: Array) -> Array:
    return np.asarray(one[:, :, None] - other[:, None, :])


def _signs(one: Array, other: Array) -> Single:
    return np.sign(np.nan_to_num(_differences(one, other))).astype(np.float32)
