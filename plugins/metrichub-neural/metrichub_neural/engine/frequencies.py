"""Frequencies: in how many texts of a corpus each token is, and what it weighs by that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from metrichub.authoring import Array
from metrichub.text import Integers


@dataclass(frozen=True)
class Frequencies:
    """In how many of some texts each token is."""

    having: Counter[int]
    texts: int

    @classmethod
    def of(cls, texts: Iterable[Integers]) -> Frequencies:
        """Those of the tokens of some texts."""
        tokens = [set(ids.tolist()) for ids in texts]
        return cls(Counter(token for each in tokens for token in each), len(tokens))

    def weights(self, ids: Integers) -> Array:
        """log((M + 1) / (d + 1)) of each token, of which d of the M texts have any, (n,)."""
        having = np.array([self.having[number] for number in ids.tolist()], np.float64)
        return np.asarray(np.log((self.texts + 1) / (having + 1)))
