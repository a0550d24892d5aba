"""Edit similarity: one minus the edit distance over the length of the longer text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from metrichub.authoring import Array, Metric
from metrichub.text import Texts, highlight, lengths, levenshtein

_TOKENIZERS = {"char": "chars", "word": "whitespace"}


@dataclass(frozen=True, kw_only=True)
class EditSimilarity(Metric):
    """Similarity and distance of each pair, averaged over the samples (macro).

    Attributes:
        unit: The unit of an edit: a code point (`char`), or a word between spaces (`word`).
    """

    unit: Literal["char", "word"] = "char"

    def declared_tokenizer(self) -> str:
        """The tokenizer that splits texts into units."""
        return _TOKENIZERS[self.unit]

    def measure(self, prediction: Texts, reference: Texts) -> dict[str, Array]:
        """The similarity and the number of edits of each pair, (N,); two empty texts are equal."""
        tokenizer = self.declared_tokenizer()
        distance = levenshtein(prediction, reference, tokenizer)
        longer = np.maximum(lengths(prediction, tokenizer), lengths(reference, tokenizer))
        return {"score": 1 - distance / np.maximum(longer, 1), "distance": distance}

    def explain(self, prediction: str, reference: str) -> highlight.Step:
        """The alignment of both texts, and the number of edits."""
        return highlight.aligned(prediction, reference, self.declared_tokenizer())
