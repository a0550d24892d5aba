"""The matches of every text of a set with the others that a resample has."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from metric_cards._bases.numbered_ngrams import Ngrams
from metric_cards._bases.resampling import Sets, Sparse
from metrichub.authoring import Array
from metrichub.text import Integers, sort_equal


class Matches:
    """The n-grams of one order in N texts, by levels: "the t-th time that an n-gram occurs".

    A text has the levels up to its count, so that a match, clipped at the highest count of any
    other text, is a level that another text has too. Levels that one text alone has never match.
    """

    def __init__(self, ngrams: Ngrams, texts: int) -> None:
        text = ngrams.text[ngrams.order]
        number = np.cumsum(ngrams.changed[:-1]) - 1
        begins = ngrams.changed.copy()
        begins[1:-1] |= text[1:] != text[:-1]
        limits = np.flatnonzero(begins)
        counts = np.diff(limits)
        time = np.arange(len(text))
        time -= np.repeat(limits[:-1], counts)
        most = int(counts.max(initial=1))
        shared = np.zeros(len(text), np.bool_)
        # Nearly all n-grams are in a text once; the texts that have one stand side by side.
        pairs = limits[:-1]
        alone = ngrams.changed[limits]
        shared[pairs] = ~(alone[:-1] & alone[1:])
        repeats = np.flatnonzero(time)
        order, changed = sort_equal((number[repeats] * most + time[repeats]).astype(np.uint64))
        shared[repeats[order]] = ~(changed[:-1] & changed[1:])
        self.all = np.bincount(ngrams.text, minlength=texts)
        self._text = text[shared]
        self._level = number[shared] * most + time[shared]

    @cached_property
    def _among_all(self) -> Integers:
        """The clipped matches of each text with all others, (N,)."""
        return np.bincount(self._text, minlength=len(self.all))

    @cached_property
    def _sets(self) -> tuple[Sparse, Sparse]:
        """The sets of texts that have the same levels, and the levels of every text by them."""
        order, changed = sort_equal(self._level.astype(np.uint64))
        level = np.empty(len(order), np.int64)
        level[order] = np.cumsum(changed[:-1]) - 1
        texts = len(self.all)
        sets = Sets.merged(level, self._text, (int(changed[:-1].sum()), texts))
        shape = texts, sets.columns.shape[0]
        return sets.columns, Sparse(self._text, sets.of[level], np.ones(len(level)), shape)

    def among(self, counts: Array) -> Array:
        """The clipped matches of each text with the others, (b, N); copies of it are others too."""
        if (counts == 1).all():
            return np.broadcast_to(self._among_all, counts.shape)
        texts, levels = self._sets
        several = (texts.times(counts > 0) > 1).astype(np.float64)
        return np.where(counts > 1, self.all, levels.times(several))


def closest_among(lengths: Integers, counts: Array) -> Integers:
    """The length closest to each one, (b, N), among the others; the shorter of two.

    In the order of lengths it is one of the two neighbours. Without another text it means nothing.
    """
    order = np.argsort(lengths, kind="stable")
    ordered, drawn = lengths[order], counts[:, order]
    far, places = np.int64(1 << 62), np.arange(len(lengths))
    bounded = np.concatenate(([-far], ordered, [far]))
    here = np.where(drawn > 0, places + 1, 0)
    below = np.maximum.accumulate(np.roll(here, 1, axis=1) * (places > 0), axis=1)
    here = np.where(drawn > 0, places + 1, len(places) + 1)
    here = np.where(places < len(places) - 1, np.roll(here, -1, axis=1), len(places) + 1)
    above = np.minimum.accumulate(here[:, ::-1], axis=1)[:, ::-1]
    shorter, longer = bounded[below], bounded[above]
    nearest = np.where(ordered - shorter <= longer - ordered, shorter, longer)
    closest = np.empty_like(nearest)
    closest[:, order] = np.where(drawn > 1, ordered, nearest)
    return closest
