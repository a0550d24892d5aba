"""Greedy matching: each word with the nearest one of the other text (Rus and Lintean, 2012)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from metrichub.authoring import Array, Scores
from metrichub_neural._words.metric import WordMetric, unit
from metrichub_neural.engine.batching import FloatArray


@dataclass(frozen=True, kw_only=True)
class GreedyMatching(WordMetric):
    """How similar each word's vector is to the nearest one of the other text, both ways (macro)."""

    quantities: ClassVar[tuple[str, ...]] = ("similarity", "precision", "recall")

    def prepare(self, vectors: FloatArray) -> Array | None:
        """The directions of the words, (n, d)."""
        return unit(vectors)

    def compare(self, prediction: Array, reference: Array) -> tuple[float, ...]:
        """The mean of both directions, and each."""
        similar = np.clip(prediction @ reference.T, -1.0, 1.0)
        precision, recall = similar.max(axis=1).mean(), similar.max(axis=0).mean()
        return float((precision + recall) / 2), float(precision), float(recall)

    def score(self, similarity: Array, precision: Array, recall: Array, count: Array) -> Scores:
        """The means over the samples."""
        return {
            "score": similarity / count,
            "precision": precision / count,
            "recall": recall / count,
        }
