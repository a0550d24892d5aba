"""The distinct n-grams of whichever rows are drawn, without looking at their texts again."""

from __future__ import annotations

import numpy as np

from metric_cards._bases.resampling import Sets
from metrichub.authoring import Array
from metrichub.text import Integers, NgramCounts


class DistinctNgrams:
    """The n-grams of one order in R rows: `alone` are those that no other row has, (R,).

    `group` is the row of every text, and doesn't fall.
    """

    def __init__(self, counts: NgramCounts, group: Integers, rows: int) -> None:
        first = counts.limits(group)[:-1]
        ngram, row = np.cumsum(counts.starts)[first] - 1, group[counts.text[first]]
        shared = np.bincount(ngram)[ngram] > 1
        alone = np.concatenate((row[~shared], group[counts.single]))
        self.alone = np.bincount(alone, minlength=rows)
        _, ngram = np.unique(ngram[shared], return_inverse=True)
        shape = int(ngram.max(initial=-1)) + 1, rows
        self.sets = Sets.merged(ngram, row[shared], shape)
        self.number = np.bincount(self.sets.of)

    def among(self, counts: Array) -> Array:
        """How many the rows of each resample have, (b,), by how often it has every row, (b, R)."""
        drawn = (counts > 0).astype(np.float64)
        number: Array = (self.sets.columns.times(drawn) > 0) @ self.number + drawn @ self.alone
        return number
