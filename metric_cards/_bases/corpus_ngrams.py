"""How often a corpus has each of its n-grams, in tables of 64-bit hashes that add up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from metrichub.text import Integers, Words, offsets_of, sort_equal

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)


@dataclass(frozen=True, eq=False)
class CorpusNgrams:
    """The hashes of different n-grams, sorted, how often each was counted, and a total of texts.

    Of 1e8 different n-grams two share a hash with a chance of 3e-4.
    """

    names: Words
    counts: Integers
    total: int

    @classmethod
    def of(cls, names: Words, total: int) -> CorpusNgrams:
        """The table of these n-grams, each counted as often as it is there."""
        order, changed = sort_equal(names)
        limits = np.flatnonzero(changed)
        return cls(names[order[limits[:-1]]], np.diff(limits), total)

    def __add__(self, other: CorpusNgrams) -> CorpusNgrams:
        """The table of both."""
        names = np.concatenate((self.names, other.names))
        # Made for runs that are sorted already.
        order = np.argsort(names, kind="stable")
        names = names[order]
        starts = np.flatnonzero(np.concatenate((names[:1] == names[:1], names[1:] != names[:-1])))
        counts = np.concatenate((self.counts, other.counts))[order]
        summed = np.add.reduceat(counts, starts) if len(starts) else counts
        return CorpusNgrams(names[starts], summed, self.total + other.total)

    def numbers(self, names: Words) -> Integers:
        """How often each of some n-grams was counted, 0 for those that weren't."""
        if not len(self.names):
            return np.zeros(len(names), np.int64)
        place = np.minimum(np.searchsorted(self.names, names), len(self.names) - 1)
        return np.where(self.names[place] == names, self.counts[place], 0)


def ngram_names(hashes: Words, max_order: int) -> Iterator[Words]:
    """The names of the n-grams of each order that begin at every token, (T,).

    Where fewer tokens are left in a text, its name means nothing; see `tokens_left`.
    """
    names = np.zeros(len(hashes), np.uint64)
    for order in range(max_order):
        names = (names + np.roll(hashes, -order)) * _FACTOR
        names ^= names >> _SHIFT
        yield names.copy()


def tokens_left(lengths: Integers) -> Integers:
    """How many tokens of its text begin at each token, itself among them, (T,)."""
    ends = np.repeat(offsets_of(lengths)[1:], lengths)
    left: Integers = ends - np.arange(len(ends))
    return left
