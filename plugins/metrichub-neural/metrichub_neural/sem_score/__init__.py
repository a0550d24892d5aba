"""SemScore: the cosine of two texts' sentence vectors (Aynetdinov and Akbik, 2024)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metrichub.authoring import Array, Checkpoint, Measured, Scores
from metrichub.text import Texts
from metrichub_neural.engine.cuts import cut_notes
from metrichub_neural.engine.encoder import ModelName, choose
from metrichub_neural.engine.sentence import sentence_limit, sentences_of
from metrichub_neural.engine.whole import WholeMetric


@dataclass(frozen=True, kw_only=True)
class SemScore(WholeMetric):
    """How similar prediction and reference are by the vectors of whole texts (macro).

    Attributes:
        model: A model of sentence-transformers: a name on the Hugging Face hub, a folder, or an
            installed package; it has to be on this machine.
    """

    checkpoints = (
        Checkpoint("sentence-transformers/all-mpnet-base-v2"),
        Checkpoint("sentence-transformers/LaBSE"),
    )

    averaging = "macro"

    model: ModelName = "sentence-transformers/all-mpnet-base-v2"

    def measure(self, prediction: Texts, reference: Texts) -> Measured:
        """The cosine of each pair, and whether its texts were cut, (N,)."""
        choice = choose(self.model, self.revision, None, "auto", self.dtype, self.name)
        model = sentences_of(choice)
        mine, others = model.vectors(list(prediction)), model.vectors(list(reference))
        cosines = [
            np.nan if other.blank else float(np.clip(text.vector @ other.vector, -1.0, 1.0))
            for text, other in zip(mine, others, strict=True)
        ]
        blank = np.flatnonzero([other.blank for other in others]).tolist()
        return Measured(
            {
                "cosine": np.array(cosines, np.float64),
                "cut_predictions": np.array([text.cut for text in mine], np.float64),
                "cut_references": np.array([text.cut for text in others], np.float64),
                "texts": np.ones(len(mine)),
            },
            dict.fromkeys(blank, "the reference has no tokens"),
        )

    def score(
        self, cosine: Array, cut_predictions: Array, cut_references: Array, texts: Array
    ) -> Scores:
        """The mean over the samples."""
        return {"score": cosine / texts}

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """How many texts were longer than the model takes."""
        kinds = ("predictions", "references")
        cut = cut_notes(self.name, totals, lambda: sentence_limit(self.files()), kinds)
        return [*super().notes(totals), *cut]
