"""Translation edit rate: edits, with shifts of phrases among them, per word of the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from metric_cards.ter.tercom import drop_marks, split_marks
from metrichub.authoring import Array, Metric, Scores
from metrichub.text import (
    RaggedTexts,
    Texts,
    Tokenizer,
    highlight,
    lengths,
    row_sums,
    shift_edits,
)


@dataclass(frozen=True, kw_only=True)
class TranslationEditRate(Metric):
    """TER (Snover et al. 2006) as sacrebleu 2.6 computes it, pooled over the corpus (micro).

    Attributes:
        normalized: Whether punctuation is split off the words, as Tercom's normalizer does.
        no_punct: Whether punctuation is removed.
        asian_support: Whether `normalized` and `no_punct` also apply to Chinese and Japanese
            characters.
        case_sensitive: Whether case counts.
    """

    block_characters: ClassVar[int | None] = 1_000_000

    normalized: bool = False
    no_punct: bool = False
    asian_support: bool = False
    case_sensitive: bool = False

    def declared_tokenizer(self) -> Tokenizer:
        """Spaces, or the normalizer, which sets Chinese and Japanese characters apart."""
        return self._words if self.normalized else "none"

    def measure(self, prediction: Texts, references: RaggedTexts) -> dict[str, Array]:
        """The edits to the closest reference, and the mean length of all references, (N,)."""
        # sacrebleu normalizes references twice, which matters to texts like "..5".
        predicted, reference = self._prepared(prediction, 1), self._prepared(references.items, 2)
        edits = shift_edits(predicted.take(references.rows), reference, "none")
        words = row_sums(lengths(reference, "none"), references.offsets)
        return {
            "edits": np.minimum.reduceat(edits, references.offsets[:-1]),
            "reference_length": words / references.counts,
        }

    def score(self, edits: Array, reference_length: Array) -> Scores:
        """Edits per reference word; if there are none, 1 if the prediction has words, else 0."""
        rate = edits / np.where(reference_length > 0, reference_length, 1)
        score = np.where(reference_length > 0, rate, edits > 0)
        return {"score": score, "edits": edits, "reference_length": reference_length}

    def explain(self, prediction: str, references: Sequence[str]) -> highlight.Step:
        """The shifts, and the alignment with the closest reference after them."""
        (predicted,) = self._prepared(Texts([prediction]), 1)
        expected = self._prepared(Texts(references), 2)
        closest = 0
        if len(expected) > 1:
            closest = int(
                shift_edits(Texts([predicted] * len(expected)), expected, "none").argmin()
            )
        return highlight.aligned_after_shifts(predicted, expected[closest], "none")

    def _prepared(self, texts: Texts, passes: int) -> Texts:
        texts = texts if self.case_sensitive else texts.lower()
        if not (self.normalized or self.no_punct):
            return texts
        key = ("tercom", self.normalized, self.no_punct, self.asian_support, passes)
        return texts.cached(key, lambda: Texts([self._marked(text, passes) for text in texts]))

    def _words(self, text: str) -> list[str]:
        return self._marked(text, 1).split()

    def _marked(self, text: str, passes: int) -> str:
        for _ in range(passes):
            text = split_marks(text, self.asian_support) if self.normalized else text
            text = drop_marks(text, self.asian_support) if self.no_punct else text
            text = " ".join(text.split())
        return text
