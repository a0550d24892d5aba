"""BLEURT: how well a text says what its reference says (Sellam et al., 2020)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from metrichub.authoring import Array, Checkpoint, Published, Scores
from metrichub.text import Texts
from metrichub_neural.engine.encoder import ModelName
from metrichub_neural.engine.flaws import noted
from metrichub_neural.engine.heads import bleurt_of
from metrichub_neural.engine.whole import WholeMetric

_COLUMNS = {
    "predictions": ["a bird chirps by the window", "this looks like a random sentence"],
    "references": ["a bird chirps by the window", "this is a random sentence"],
}
_PUBLISHED = {
    "lucadiliello/BLEURT-20": [0.9990496635437012, 0.7930182218551636],
    "lucadiliello/BLEURT-20-D12": [0.9604414105415344, 0.8080050349235535],
    "lucadiliello/BLEURT-20-D3": [0.9514874815940857, 0.800938069820404],
}


@dataclass(frozen=True, kw_only=True)
class Bleurt(WholeMetric):
    """The mean score that BLEURT gives a prediction beside its reference (macro).

    Attributes:
        model: The model: a name on the Hugging Face hub, or a folder; it has to be on this machine.
    """

    averaging = "macro"
    where_cut = ", with their references"
    checkpoints = tuple(map(Checkpoint, _PUBLISHED))
    published = (
        Published(
            "the model's page on the Hugging Face Hub",
            {},
            _COLUMNS,
            {"score": _PUBLISHED["lucadiliello/BLEURT-20"]},
            0.0001,
        ),
    )

    model: ModelName = "lucadiliello/BLEURT-20"

    def measure(self, prediction: Texts, reference: Texts) -> Mapping[str, Array]:
        """The score of each pair, and whether it was cut, (N,)."""
        pairs = list(zip(reference, prediction, strict=True))
        rows = bleurt_of(self.files(), self.dtype).of_pairs(pairs)
        return {
            "value": np.array([row.probabilities[0] for row in rows], np.float64),
            **noted(predictions=rows),
        }

    def score(self, value: Array, count: Array) -> Scores:
        """The mean over the samples."""
        return {"score": value / count}
