"""AlignScore: how far a text's sentences are aligned with its source (Zha et al., 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from metrichub.authoring import Array, Checkpoint, Measured, Scores, sentences
from metrichub.text import Texts
from metrichub_neural.engine.classifier import Classifier
from metrichub_neural.engine.encoder import ModelName
from metrichub_neural.engine.flaws import flaws_of, noted
from metrichub_neural.engine.heads import ALIGNED, BINARY, REGRESSION, alignment_of
from metrichub_neural.engine.whole import WholeMetric

DEFAULT = "yzha/AlignScore"
_WORDS = 350
"""How many words a chunk of the source has, about."""
PLACES = {"nli": ALIGNED, "bin": BINARY.stop - 1, "reg": REGRESSION.start}
"""Which output of the model each head's score is."""


class Claim(NamedTuple):
    """A text, and the chunks of another that it may follow from."""

    text: str
    chunks: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class AlignScore(WholeMetric):
    """The mean over a prediction's sentences of their best alignment with the source (macro).

    Attributes:
        model: The model, whose checkpoint 'metrichub convert' has converted: a name on the Hugging
            Face hub, or a folder; it has to be on this machine.
        mode: The head that scores: `nli` of three classes, `bin` of two, or `reg`, a regression.
        split: Whether the source is read in chunks and the prediction by sentence (the authors'
            `nli_sp`, `bin_sp` and `reg_sp`), or both as a whole (`nli`, `bin`, `reg`).
    """

    averaging = "macro"
    where_cut = ", in a pair with a part of the source"
    checkpoints = (Checkpoint(DEFAULT, "FacebookAI/roberta-large", "AlignScore-large.ckpt"),)

    model: ModelName = DEFAULT
    mode: Literal["nli", "bin", "reg"] = "nli"
    split: bool = True

    def measure(self, prediction: Texts, source: Texts) -> Measured:
        """The score of each prediction, and whether one of its pairs was cut, (N,)."""
        parts = [sentences(text) if self.split else [text] for text in prediction]
        chunks = [chunked(text) if self.split else [text] for text in source]
        claims = [
            Claim(part, read) for texts, read in zip(parts, chunks, strict=True) for part in texts
        ]
        aligned = iter(alignments(alignment_of(self.files(), self.dtype), claims))
        values = np.full(len(parts), np.nan)
        of_claims = [[next(aligned) for _ in texts] for texts in parts]
        blank = {row for row, text in enumerate(source) if not text.strip()}
        silent = {row for row, texts in enumerate(parts) if not texts} - blank
        for row, claim_outputs in enumerate(of_claims):
            if claim_outputs and row not in blank:
                best = [each.outputs[:, PLACES[self.mode]].max() for each in claim_outputs]
                values[row] = np.mean(best)
        reasons = dict.fromkeys(blank, "the source is empty")
        reasons |= dict.fromkeys(silent, "the prediction has no sentence")
        return Measured(
            {"value": values, **noted(predictions=of_claims)},
            reasons,
            dict.fromkeys(silent, "no_claims"),
        )

    def score(self, value: Array, count: Array) -> Scores:
        """The mean over the samples."""
        return {"score": value / count}


class Alignment(NamedTuple):
    """The model's scores for a claim.

    Attributes:
        outputs: Of its heads beside each chunk, (chunks, outputs).
        flaws: Those of the claim with a chunk; see `engine.flaws`.
    """

    outputs: Array
    flaws: int


def alignments(model: Classifier, claims: Sequence[Claim]) -> list[Alignment]:
    """The scores of each claim beside its chunks; (0, outputs) without claims."""
    pairs = [(chunk, claim.text) for claim in claims for chunk in claim.chunks]
    rows = iter(model.of_pairs(pairs, only_first=True))
    aligned = []
    for claim in claims:
        chunk_rows = [next(rows) for _ in claim.chunks]
        outputs = np.array([row.probabilities for row in chunk_rows])
        aligned.append(Alignment(outputs, flaws_of(chunk_rows)))
    return aligned


def chunked(text: str) -> list[str]:
    """A text in chunks of equally many whole sentences, of about 350 words; one if it has none."""
    parts = sentences(text) or [""]
    size = max(len(parts) // (len(text.split()) // _WORDS + 1), 1)
    return [" ".join(parts[start : start + size]) for start in range(0, len(parts), size)]
