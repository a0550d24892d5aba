"""BERTScore: each token's best cosine in the other text (Zhang et al., 2020, section 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metrichub.authoring import Array, Measured, Scores
from metrichub.text import Texts
from metrichub_neural._bertscore.matching import BertScoreMetric, f1, matches, means, rescaled
from metrichub_neural._bertscore.published import of_roberta_large
from metrichub_neural.engine.flaws import noted


@dataclass(frozen=True, kw_only=True)
class BertScore(BertScoreMetric):
    """How similar the tokens of prediction and reference are in context (macro).

    `bertscore_idf` weighs the tokens by how rare they are.
    """

    published = of_roberta_large(
        {
            "score": [0.98335612, 0.97823000, 0.91621464],
            "precision": [0.98433024, 0.98322397, 0.91203862],
            "recall": [0.98238391, 0.97328639, 0.92042899],
        },
        {"score": [0.90138340, 0.87101078, 0.50356519]},
    )

    def measure(self, prediction: Texts, reference: Texts) -> Measured:
        """Precision, recall and F1 of each pair, and whether its texts were cut, (N,)."""
        pairs = matches(self.encoder(), list(zip(prediction, reference, strict=True)))
        sides = np.array([means(match) for match in pairs]).reshape(len(pairs), 2)
        precision, recall = sides.T
        base = self.stretch()
        flaws = np.array([match.flaws for match in pairs]).reshape(len(pairs), 2)
        reasons = {
            row: "the reference has no tokens" for row in np.flatnonzero(np.isnan(recall)).tolist()
        }
        return Measured(
            {
                "precision": rescaled(precision, base.precision),
                "recall": rescaled(recall, base.recall),
                "f1": np.where(np.isnan(recall), np.nan, rescaled(f1(precision, recall), base.f1)),
                **noted(predictions=flaws[:, 0], references=flaws[:, 1]),
            },
            reasons,
        )

    def score(self, precision: Array, recall: Array, f1: Array, count: Array) -> Scores:
        """The means over the samples."""
        return {"score": f1 / count, "precision": precision / count, "recall": recall / count}
