"""COMET without references: a model reads the translation and its source (Rei et al., 2020)."""

from __future__ import annotations

from dataclasses import dataclass

from metrichub.authoring import Array, Checkpoint, Measured, Scores
from metrichub.text import Texts
from metrichub_neural._comet import CometMetric
from metrichub_neural.engine.encoder import ModelName


@dataclass(frozen=True, kw_only=True)
class CometQe(CometMetric):
    """The score that a COMET model gives a translation beside its source alone (macro).

    Attributes:
        model: The model, whose checkpoint 'metrichub convert' has converted: a name on the Hugging
            Face hub, or a folder; it has to be on this machine.
    """

    kind = "referenceless_regression_metric"
    averaging = "macro"
    checkpoints = (Checkpoint("Unbabel/wmt20-comet-qe-da", "xlm-roberta-large"),)

    model: ModelName = "Unbabel/wmt20-comet-qe-da"

    def measure(self, prediction: Texts, source: Texts) -> Measured:
        """The score of each sample, and whether its texts were cut, (N,)."""
        return self.scored(prediction=prediction, source=source)

    def score(self, value: Array, count: Array) -> Scores:
        """The mean over the samples."""
        return {"score": value / count}
