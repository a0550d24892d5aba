"""Frequencies: in how many texts of a corpus each token is, and what it weighs by that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metrichub.authoring import Array, CorpusMetric, Resampler
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


class MeanOfWeighted(CorpusMetric):
    """A metric whose score is the mean over rows, which depend on all rows where `idf` holds."""

    idf: bool

    @property
    def resamples(self) -> bool:  # type: ignore[override]  # it depends on a parameter
        """Whether a score depends on its row alone; with idf, each draw has other weights."""
        return not self.idf

    testable = resamples

    def scores_of_rows(self, rows: Sequence[Any]) -> list[float]:
        """The score of each row, (R,), with the weights of all of them."""
        raise NotImplementedError  # a metric has its own

    def conclude(self, rows: Sequence[Any]) -> Mapping[str, float]:
        """The mean over the rows."""
        return {"score": float(np.mean(self.scores_of_rows(rows)))}

    def samples(self, rows: Sequence[Any]) -> Mapping[str, Sequence[float]]:
        """The score of each row, (R,), with the weights of all of them."""
        return {"score": self.scores_of_rows(rows)}

    def resampler(self, rows: Sequence[Any]) -> Resampler | None:
        """Without idf, the rows' own scores as often as each was drawn."""
        if self.idf or not rows:
            return None
        values = np.array(self.scores_of_rows(rows))
        return lambda counts: {"score": counts @ values / counts.sum(axis=1)}
