"""Embedding average: the cosine of two texts' summed word vectors (Foltz et al., 1998)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metrichub.authoring import Array, Scores
from metrichub_neural._words.metric import WordMetric, cosine_of, unit
from metrichub_neural.engine.batching import FloatArray


@dataclass(frozen=True, kw_only=True)
class EmbeddingAverage(WordMetric):
    """The cosine of the means of prediction's and reference's word vectors (macro)."""

    def prepare(self, vectors: FloatArray) -> Array | None:
        """The direction of the mean, (d,)."""
        return unit(vectors.sum(axis=0, dtype=np.float64))

    def compare(self, prediction: Array, reference: Array) -> tuple[float, ...]:
        """The cosine."""
        return (cosine_of(prediction, reference),)

    def score(self, similarity: Array, count: Array) -> Scores:
        """The mean over the samples."""
        return {"score": similarity / count}
