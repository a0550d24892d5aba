"""Regard: how predictions speak of the people in them (Sheng et al., 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from metrichub.authoring import Array, Checkpoint, Scores
from metrichub.text import Texts
from metrichub_neural._classification import ClassifierMetric
from metrichub_neural.engine.encoder import ModelName
from metrichub_neural.engine.flaws import noted

LABELS = ("positive", "negative", "neutral", "other")


@dataclass(frozen=True, kw_only=True)
class Regard(ClassifierMetric):
    """The mean probability of each kind of regard (macro); the score is positive less negative.

    Attributes:
        model: The model, whose labels are positive, negative, neutral and other: a name on the
            Hugging Face hub, a folder, or an installed package; it has to be on this machine.
    """

    checkpoints = (Checkpoint("sasha/regardv3"),)

    model: ModelName = "sasha/regardv3"

    def measure(self, prediction: Texts) -> Mapping[str, Array]:
        """The probability of each kind of regard for each text, (N,)."""
        places = self.places(*LABELS)
        rows = self.classified(list(prediction))
        kinds = np.array([row.probabilities[places] for row in rows], np.float64)
        return {
            **dict(zip(LABELS, kinds.reshape(len(rows), len(LABELS)).T, strict=True)),
            **noted(predictions=rows),
        }

    def score(  # the statistics
        self, positive: Array, negative: Array, neutral: Array, other: Array, count: Array
    ) -> Scores:
        """The means over the samples."""
        return {
            "score": (positive - negative) / count,
            "positive": positive / count,
            "negative": negative / count,
            "neutral": neutral / count,
            "other": other / count,
        }
