"""COMET: a translation's score by a model that reads source and reference (Rei et al., 2020)."""

from __future__ import annotations

from dataclasses import dataclass

from metrichub.authoring import Array, Checkpoint, Measured, Published, Scores
from metrichub.text import Texts
from metrichub_neural._comet import CometMetric
from metrichub_neural.engine.encoder import ModelName

_BASE = "xlm-roberta-large"
_FIRE = "Dem Feuer konnte Einhalt geboten werden"
_SCHOOLS = "Schulen und Kindergärten wurden eröffnet."


@dataclass(frozen=True, kw_only=True)
class Comet(CometMetric):
    """The score that a COMET model gives a translation beside its source and reference (macro).

    Attributes:
        model: The model, whose checkpoint 'metrichub convert' has converted: a name on the Hugging
            Face hub, or a folder; it has to be on this machine.
    """

    kind = "regression_metric"
    averaging = "macro"
    checkpoints = (
        Checkpoint("Unbabel/wmt22-comet-da", _BASE),
        Checkpoint("Unbabel/wmt20-comet-da", _BASE),
    )
    published = (
        Published(
            "Hugging Face evaluate, metrics/comet/comet.py, with unbabel-comet 2",
            {"model": "Unbabel/wmt22-comet-da"},
            {
                "sources": [_FIRE, _SCHOOLS],
                "predictions": ["The fire could be stopped", "Schools and kindergartens were open"],
                "references": [
                    "They were able to control the fire.",
                    "Schools and kindergartens opened",
                ],
            },
            {"score": [0.839, 0.972]},
            # Rounded to three digits, by other versions of PyTorch.
            0.001,
        ),
    )

    model: ModelName = "Unbabel/wmt22-comet-da"

    def measure(self, prediction: Texts, source: Texts, reference: Texts) -> Measured:
        """The score of each sample, and whether its texts were cut, (N,)."""
        return self.scored(prediction=prediction, reference=reference, source=source)

    def score(self, value: Array, count: Array) -> Scores:
        """The mean over the samples."""
        return {"score": value / count}
