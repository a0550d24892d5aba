"""What every text of a set shares with the others of those that a resample has."""

from __future__ import annotations

import numpy as np

from metric_cards._bases.numbered_ngrams import Ngrams
from metric_cards._bases.resampling import Sets, Sparse
from metrichub.authoring import Array
from metrichub.text import Integers


class Matches:
    """The n-grams of one order in N texts, by levels: "the t-th time that an n-gram occurs".

    A text has the levels up to its count, so that a match, clipped at the highest count of any
    other text, is a level that another text has too. Levels that one text alone has never match.
    """

    def __init__(self, ngrams: Ngrams, texts: int) -> None:
        pairs, counts = np.unique(ngrams.number * texts + ngrams.text, return_counts=True)
        number, text = np.divmod(np.repeat(pairs, counts), texts)
        time = np.arange(len(text)) - np.repeat(np.cumsum(counts) - counts, counts)
        most = int(counts.max(initial=1))
        _, level, having = np.unique(number * most + time, return_inverse=True, return_counts=True)
        several = having > 1
        renumbered = np.cumsum(several) - 1
        shared = np.flatnonzero(several[level])
        level, text = renumbered[level[shared]], text[shared]
        self.all = np.bincount(ngrams.text, minlength=texts)
        sets = Sets.merged(level, text, (int(several.sum()), texts))
        self._texts = sets.columns
        kinds = self._texts.shape[0]
        self._levels = Sparse(text, sets.of[level], np.ones(len(text)), (texts, kinds))

    def among(self, counts: Array) -> Array:
        """The clipped matches of each text with the others, (b, N); copies of it are others too."""
        several = (self._texts.times(counts > 0) > 1).astype(np.float64)
        return np.where(counts > 1, self.all, self._levels.times(several))


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
