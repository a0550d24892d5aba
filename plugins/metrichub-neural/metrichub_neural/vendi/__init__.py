"""Vendi score: how many different texts there are, in effect (Friedman and Dieng, 2023)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from metrichub.authoring import CorpusMetric, EmbedderMetric, Range, Unscored
from metrichub_neural.vendi.spectrum import Gram, Row, condensed, effective_number, shares


@dataclass(frozen=True, kw_only=True)
class Vendi(EmbedderMetric, CorpusMetric):
    """The effective number of different predictions, by the spectrum of their similarities.

    Attributes:
        q: The order: below 1, rare texts count more, and above, only common ones count; "inf" is
            the inverse of the largest share.
    """

    resamples: ClassVar[bool] = False
    gathers: ClassVar[Literal["rows", "vocabulary", "sums"]] = "sums"

    q: Annotated[float, Range(0)] | Literal["inf"] = 1.0

    async def observe(self, predictions: Sequence[str]) -> Row | Unscored:
        """The unit vectors of the sample's predictions, without those that are zero."""
        vectors = np.asarray(await self.embed(list(predictions)), np.float64)
        norms = np.linalg.norm(vectors, axis=1) if vectors.size else np.zeros(0)
        if not norms.any():
            return Unscored("no prediction has a vector", "no_vector")
        unit = vectors[norms > 0] / norms[norms > 0, None]
        return tuple(map(tuple, unit.tolist()))

    def conclude(self, rows: Sequence[Row | Gram]) -> Mapping[str, float]:
        """The score of all predictions of all rows together; `nan` without a row."""
        if not rows:
            return {"score": float("nan")}
        return {"score": effective_number(shares(rows), float(self.q))}

    def condense(self, rows: Sequence[Row | Gram]) -> Sequence[Row | Gram]:
        """The summed outer products of all vectors, where that is less than the vectors."""
        return condensed(rows)
