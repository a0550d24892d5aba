"""The distinct n-grams of many texts as sets of 64-bit hashes, which merge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from metrichub.text import Tokens, Words

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)


class Vocabulary(NamedTuple):
    """The hashes of the distinct n-grams of each order, sorted, and how many n-grams there are."""

    unique: tuple[Words, ...]
    total: tuple[int, ...]

    @classmethod
    def of(cls, tokens: Tokens, highest: int) -> Vocabulary:
        """Of the texts, for orders up to the highest; no n-gram reaches into the next text.

        Of 1e8 n-grams two share a hash with a chance of 3e-4.
        """
        hashes, lengths = tokens.hashes, tokens.lengths
        left = np.repeat(tokens.offsets[1:], lengths) - np.arange(len(hashes))
        names = np.zeros(len(hashes), np.uint64)
        unique, total = [], []
        for order in range(1, highest + 1):
            names = (names + np.roll(hashes, 1 - order)) * _FACTOR
            names ^= names >> _SHIFT
            complete = names[left >= order]
            unique.append(_different(complete))
            total.append(len(complete))
        return cls(tuple(unique), tuple(total))

    @classmethod
    def joined(cls, parts: Sequence[Vocabulary]) -> Vocabulary:
        """The n-grams that any of the parts has, and the number of all; of one part at least."""
        parts = [part for part in parts if any(part.total)] or parts[:1]
        if len(parts) == 1:
            return parts[0]
        sets = zip(*(part.unique for part in parts), strict=True)
        totals = zip(*(part.total for part in parts), strict=True)
        return cls(tuple(_different(np.concatenate(n)) for n in sets), tuple(map(sum, totals)))


def _different(hashes: Words) -> Words:
    """The different hashes, sorted: of many, `np.unique` takes ten times as long."""
    ordered = np.sort(hashes)
    first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]
