"""SemScore: the cosine of two texts' sentence vectors (Aynetdinov and Akbik, 2024)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from metrichub.authoring import Array, Checkpoint, Measured, Scores
from metrichub.text import Texts
from metrichub_neural.engine.encoder import ModelName, choose
from metrichub_neural.engine.flaws import noted
from metrichub_neural.engine.sentence import pooling_of, sentence_limit, sentences_of
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
                **noted(predictions=mine, references=others),
            },
            dict.fromkeys(blank, "the reference has no tokens"),
        )

    def score(self, cosine: Array, count: Array) -> Scores:
        """The mean over the samples."""
        return {"score": cosine / count}

    def resolved(self) -> Mapping[str, object]:
        """The model's files, and what a text's vector is made of, which no hash of them covers."""
        return {**super().resolved(), "pooling": pooling_of(self.files())}

    def limit(self) -> int:
        """How many tokens of a text the model reads."""
        return sentence_limit(self.files())
