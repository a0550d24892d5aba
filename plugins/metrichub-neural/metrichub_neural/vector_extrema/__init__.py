"""Vector extrema: the cosine of the extremes of two texts' word vectors (Forgues et al., 2014)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metrichub.authoring import Array, Scores
from metrichub_neural._words.metric import WordMetric, cosine_of, unit
from metrichub_neural.engine.batching import FloatArray


@dataclass(frozen=True, kw_only=True)
class VectorExtrema(WordMetric):
    """The cosine of vectors of the words' most extreme values, dimension by dimension (macro)."""

    def prepare(self, vectors: FloatArray) -> Array | None:
        """The direction of the extremes, (d,): of two with the same magnitude, the negative one."""
        highest, lowest = vectors.max(axis=0), vectors.min(axis=0)
        return unit(np.where(highest > -lowest, highest, lowest))

    def compare(self, prediction: Array, reference: Array) -> tuple[float, ...]:
        """The cosine."""
        return (cosine_of(prediction, reference),)

    def score(self, similarity: Array, count: Array) -> Scores:
        """The mean over the samples."""
        return {"score": similarity / count}
