"""UniTE: a translation's score by a model that reads it with source and reference as one.

Wan et al. (2022); the mean of three ways to join the texts is that of unbabel-comet 2.2.7.
"""

from __future__ import annotations

from dataclasses import dataclass

from metrichub.authoring import Array, Checkpoint, Measured, Scores
from metrichub.text import Texts
from metrichub_neural._comet import UnifiedMetric
from metrichub_neural.engine.encoder import ModelName


@dataclass(frozen=True, kw_only=True)
class Unite(UnifiedMetric):
    """The mean of three scores: beside the source, the reference, and both (macro).

    Attributes:
        model: The model, whose checkpoint 'metrichub convert' has converted: a name on the Hugging
            Face hub, or a folder; it has to be on this machine.
    """

    segments = frozenset({"src", "ref"})
    averaging = "macro"
    checkpoints = (Checkpoint("Unbabel/unite-mup", "xlm-roberta-large"),)

    model: ModelName = "Unbabel/unite-mup"

    def measure(self, prediction: Texts, source: Texts, reference: Texts) -> Measured:
        """The score of each sample in each way, and whether its texts were cut, (N,)."""
        joins = {
            "by_source": ("prediction", "source"),
            "by_reference": ("prediction", "reference"),
            "by_both": ("prediction", "source", "reference"),
        }
        columns = {"prediction": prediction, "source": source, "reference": reference}
        return self.together(joins, columns)

    def score(self, by_source: Array, by_reference: Array, by_both: Array, count: Array) -> Scores:
        """The means over the samples."""
        return {
            "score": (by_source + by_reference + by_both) / 3 / count,
            "source": by_source / count,
            "reference": by_reference / count,
            "both": by_both / count,
        }
