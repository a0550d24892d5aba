"""BARTScore: how probable a text is to a model that writes it from another (Yuan et al., 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from metrichub.authoring import Array, Checkpoint, Measured, Published, Scores
from metrichub.errors import ModelError
from metrichub.text import Texts
from metrichub_neural._seq2seq import Seq2SeqMetric
from metrichub_neural.engine.encoder import ModelName
from metrichub_neural.engine.flaws import noted
from metrichub_neural.engine.seq2seq import Target


@dataclass(frozen=True, kw_only=True)
class BartScore(Seq2SeqMetric):
    """The mean log-probability of a token of one text after the other (macro).

    Attributes:
        model: The sequence-to-sequence model: a name on the Hugging Face hub, a folder, or an
            installed package; it has to be on this machine.
        against: What the prediction is held against.
        direction: Which text is written from the other: the prediction (`precision`; against the
            source, the paper's faithfulness), the reference or source (`recall`), or `both`, of
            which the score is the mean (the paper's F).
        language: For multilingual models, the token of the language of both texts, such as
            "deu_Latn" of NLLB; it takes the place of each text's first token, and isn't scored.
    """

    averaging = "macro"
    checkpoints = (Checkpoint("facebook/bart-large-cnn"),)
    published = (
        Published(
            "README of neulab/BARTScore",
            {"model": "facebook/bart-large-cnn", "direction": "precision"},
            {"references": ["This is interesting."], "predictions": ["This is fun."]},
            {"score": [-2.510652780532837]},
            1e-4,
        ),
    )
    _outputs: ClassVar[tuple[str, ...]] = ("precision", "recall")

    model: ModelName = "facebook/bart-large-cnn"
    against: Literal["reference", "source"] = "reference"
    direction: Literal["both", "precision", "recall"] = "both"
    language: str | None = None

    def inputs(self) -> tuple[str, ...]:
        """The prediction and what it is held against."""
        return ("prediction", self.against)

    def outputs(self) -> tuple[str, ...]:
        """The score, and that of each direction if there are two."""
        return ("score", *self._outputs) if self.direction == "both" else ("score",)

    def measure(
        self, prediction: Texts, reference: Texts | None = None, source: Texts | None = None
    ) -> Measured:
        """The mean log-probability of each direction, and which texts were cut, (N,)."""
        (other,) = (side for side in (reference, source) if side is not None)
        directions = self._outputs if self.direction == "both" else (self.direction,)
        pairs = {
            "precision": list(zip(other, prediction, strict=True)),
            "recall": list(zip(prediction, other, strict=True)),
        }
        asked = [pair for direction in directions for pair in pairs[direction]]
        model, tag = self.seq2seq(), self._tag()
        targets = model.targets(asked, tag)
        size = len(prediction)
        rows = {
            direction: targets[start * size : (start + 1) * size]
            for start, direction in enumerate(directions)
        }
        means = [[_mean(row, tag is not None) for row in rows[d]] for d in directions]
        blank = [row for row, text in enumerate(other) if not text.strip()]
        scores = np.array(means, np.float64).reshape(len(directions), size)
        scores[:, blank] = np.nan
        both = [row.flaws[:: 1 if directions[0] == "recall" else -1] for row in rows[directions[0]]]
        kinds = "predictions", f"{self.against}s"
        flaws = {kind: [each[side] for each in both] for side, kind in enumerate(kinds)}
        return Measured(
            {"precision": scores[0], "recall": scores[-1], **noted(**flaws)},
            dict.fromkeys(blank, f"the {self.against} is empty"),
        )

    def score(self, precision: Array, recall: Array, count: Array) -> Scores:
        """The means over the samples; in one direction, both are the same."""
        both = {"precision": precision / count, "recall": recall / count}
        scores = {"score": (precision + recall) / (2 * count), **both}
        return {output: scores[output] for output in self.outputs()}

    def _tag(self) -> int | None:
        if self.language is None:
            return None
        tag = self.seq2seq().tokenizer.token(self.language)
        if tag is None:
            raise ModelError(f"{self.files().name} has no token {self.language!r} for a language")
        return tag


def _mean(target: Target, tagged: bool) -> float:
    """The mean over a target's tokens, without that of its language."""
    scored = target.log_probabilities[int(tagged) :]
    return float(scored.mean(dtype=np.float64)) if len(scored) else np.nan
