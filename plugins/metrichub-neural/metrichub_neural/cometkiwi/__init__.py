"""CometKiwi: a translation's score by a model that reads it with its source (Rei et al., 2022)."""

from __future__ import annotations

from dataclasses import dataclass

from metrichub.authoring import Array, Checkpoint, Measured, Scores
from metrichub.text import Texts
from metrichub_neural._comet import UnifiedMetric
from metrichub_neural.engine.encoder import ModelName


@dataclass(frozen=True, kw_only=True)
class CometKiwi(UnifiedMetric):
    """The score that a unified model gives a translation and its source, read as one (macro).

    Attributes:
        model: The model, whose checkpoint 'metrichub convert' has converted: a name on the Hugging
            Face hub, or a folder; it has to be on this machine.
    """

    segments = frozenset({"src"})
    averaging = "macro"
    checkpoints = (
        Checkpoint("Unbabel/wmt22-cometkiwi-da", "microsoft/infoxlm-large"),
        Checkpoint("Unbabel/wmt23-cometkiwi-da-xl", "facebook/xlm-roberta-xl"),
        Checkpoint("Unbabel/wmt23-cometkiwi-da-xxl", "facebook/xlm-roberta-xxl"),
    )

    model: ModelName = "Unbabel/wmt22-cometkiwi-da"

    def measure(self, prediction: Texts, source: Texts) -> Measured:
        """The score of each sample, and whether its texts were cut, (N,)."""
        columns = {"prediction": prediction, "source": source}
        return self.together({"value": ("prediction", "source")}, columns)

    def score(self, value: Array, count: Array) -> Scores:
        """The mean over the samples."""
        return {"score": value / count}
