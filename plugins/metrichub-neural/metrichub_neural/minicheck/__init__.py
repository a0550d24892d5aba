"""MiniCheck: how far a document supports a text, by a small model (Tang et al., 2024)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from metrichub.authoring import Array, Checkpoint, Measured, Published, Range, Scores, sentences
from metrichub.text import Texts
from metrichub_neural._seq2seq import FirstTokenMetric, by_row, summed
from metrichub_neural.engine.encoder import ModelName
from metrichub_neural.engine.flaws import noted
from metrichub_neural.minicheck.checking import Claim, checked_by, most_tokens

_NAME = "lytang/MiniCheck-Flan-T5-Large"
_DOCUMENT = (
    "A group of students gather in the school library to study for their upcoming final exams."
)


@dataclass(frozen=True, kw_only=True)
class MiniCheck(FirstTokenMetric):
    """The mean probability that the source supports the prediction (macro).

    Attributes:
        model: The model, MiniCheck-Flan-T5-Large, its RoBERTa or DeBERTa, or one like them: a
            name on the Hugging Face hub, a folder, or an installed package; it has to be on this
            machine.
        claims: What is checked: the `whole` prediction, as the authors' program does, or each of
            its `sentences`, of which the scores are the means.
        chunk: How much of the source is read at a time, in whole sentences: 500 words by T5, and
            400 tokens by the others, unless given.
        threshold: Above which probability a claim counts as supported.
    """

    averaging = "macro"
    checkpoints = tuple(
        Checkpoint(f"lytang/MiniCheck-{name}")
        for name in ("Flan-T5-Large", "RoBERTa-Large", "DeBERTa-v3-Large")
    )
    published = (
        Published(
            "README of Liyan06/MiniCheck",
            {"model": _NAME},
            {
                "sources": [_DOCUMENT, _DOCUMENT],
                "predictions": [
                    "The students are preparing for an examination.",
                    "The students are on vacation.",
                ],
            },
            {"score": [0.9805923700332642, 0.007121330592781305], "supported": [1, 0]},
            1e-4,
        ),
    )

    model: ModelName = _NAME
    claims: Literal["whole", "sentences"] = "whole"
    chunk: Annotated[int, Range(1)] | None = None
    threshold: Annotated[float, Range(0, 1)] = 0.5

    def limit(self) -> int:
        """The tokens that the authors' program takes, or the classifier."""
        return most_tokens(self.files())

    def measure(self, prediction: Texts, source: Texts) -> Measured:
        """Means over each prediction's claims, and whether one of them was cut, (N,)."""
        parts = [self._claims(text) for text in prediction]
        asked = [
            Claim(part, document)
            for claim_texts, document in zip(parts, source, strict=True)
            for part in claim_texts
        ]
        answers = checked_by(self.files(), self.dtype, asked, self.chunk)
        sizes = np.array([len(claim_texts) for claim_texts in parts], np.int64)
        probabilities = np.array([answer.probability for answer in answers], np.float64)
        supported = summed(probabilities, sizes) / sizes
        share = summed(probabilities > self.threshold, sizes) / sizes
        blank = [row for row, text in enumerate(source) if not sentences(text)]
        supported[blank], share[blank] = np.nan, np.nan
        return Measured(
            {
                "supported": supported,
                "share": share,
                **noted(predictions=by_row(answers, sizes)),
            },
            dict.fromkeys(blank, "the source has no sentence"),
        )

    def score(self, supported: Array, share: Array, count: Array) -> Scores:
        """The mean probability, and the mean share of claims that count as supported."""
        return {"score": supported / count, "supported": share / count}

    def _claims(self, prediction: str) -> list[str]:
        """The whole text, or its sentences if it has any."""
        split = sentences(prediction) if self.claims == "sentences" else []
        return split or [prediction]
