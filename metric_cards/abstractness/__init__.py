"""Abstractness: the fraction of the prediction's n-grams that no reference contains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from metrichub.authoring import Array, Metric, Range, Scores
from metrichub.text import RaggedTexts, Texts, highlight, novel_ngrams


@dataclass(frozen=True, kw_only=True)
class Abstractness(Metric):
    """The fraction of novel n-grams, pooled over the corpus (micro): figure 6 of See et al. (2017).

    Attributes:
        n: Length of the n-grams, in word tokens.
    """

    tokenizer: ClassVar[str] = "unicode"

    n: Annotated[int, Range(1)] = 1

    def measure(self, prediction: Texts, references: RaggedTexts) -> dict[str, Array]:
        """The number of novel n-grams and of all n-grams in each prediction, (N,)."""
        novel, total = novel_ngrams(prediction, references, self.tokenizer, self.n)
        return {"novel": novel, "total": total}

    def score(self, novel: Array, total: Array) -> Scores:
        """Novel n-grams over all n-grams; `nan` if there are none."""
        return {"score": novel / total}

    def explain(self, prediction: str, references: Sequence[str]) -> highlight.Step:
        """The prediction, with the n-grams that a reference contains marked, and the counts."""
        return highlight.novel(prediction, references, self.tokenizer, self.n)
