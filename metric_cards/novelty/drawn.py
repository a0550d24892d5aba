"""N-grams that no training text has, where those texts are the references that are drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metric_cards._bases.resampling import Sparse
from metrichub.authoring import Array
from metrichub.text import Words


class New:
    """Generated names of R rows, and which of D documents know each of them."""

    def __init__(self, names: Sequence[Words], documents: Sequence[Words]) -> None:
        each = np.concatenate([np.zeros(0, np.uint64), *names])
        kinds, self.kind = np.unique(each, return_inverse=True)
        sizes = np.array([len(row) for row in names], np.int64)
        self.row = np.repeat(np.arange(len(names)), sizes)
        present = np.concatenate([np.zeros(0, np.uint64), *documents])
        document = np.repeat(np.arange(len(documents)), [len(row) for row in documents])
        place = np.minimum(np.searchsorted(kinds, present), max(len(kinds) - 1, 0))
        shared = np.flatnonzero(kinds[place] == present) if len(kinds) else place[:0]
        shape = len(kinds), len(documents)
        self._known = Sparse(place[shared], document[shared], np.ones(len(shared)), shape)
        ones = np.ones(len(each), np.int64)
        self._rows = Sparse(self.row, self.kind, ones, (len(names), len(kinds)))

    def numbers(self, weights: Array) -> Array:
        """How many names of each row no drawn document knows, (d, R), of weights (d, D)."""
        return self._rows.times((self._known.times(weights) == 0).astype(np.float64))
