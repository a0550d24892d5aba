"""GLEU (Google BLEU): the smaller of n-gram precision and recall, equal to nltk's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from metrichub.authoring import Array, Metric, Range, Scores
from metrichub.errors import ParameterError
from metrichub.text import RaggedTexts, Texts, best_pairs, highlight, shared_ngrams


@dataclass(frozen=True, kw_only=True)
class Gleu(Metric):
    """Google BLEU (Wu et al. 2016), as corpus_gleu of nltk 3.10 computes it.

    Attributes:
        tokenize: The tokenizer, by sacrebleu's name; "none" splits at whitespace.
        min_len: The minimum order of the n-grams.
        max_len: The maximum order of the n-grams.
    """

    tokenize: Literal[
        "13a", "intl", "zh", "char", "none", "ja-mecab", "ko-mecab", "flores101", "flores200", "spm"
    ] = "13a"
    min_len: Annotated[int, Range(1, 16)] = 1
    max_len: Annotated[int, Range(1, 16)] = 4

    def __post_init__(self) -> None:
        """Check the parameters, and that there is an n-gram to count.

        Raises:
            ParameterError: a value that isn't allowed, or a `min_len` greater than `max_len`.
        """
        super().__post_init__()
        if self.min_len > self.max_len:
            allowed = f"at most max_len, which is {self.max_len}"
            raise ParameterError(self.name, "min_len", self.min_len, allowed)

    def measure(self, prediction: Texts, references: RaggedTexts) -> dict[str, Array]:
        """Matches with the best reference, and the n-grams of the longer of the two, (N,)."""
        predicted = prediction.take(references.rows)
        shared = shared_ngrams(predicted, references.items, self.tokenize, self.max_len)
        matches, predicted, referenced = (
            counts[:, self.min_len - 1 :].sum(axis=1) for counts in shared
        )
        ngrams = np.maximum(predicted, referenced)
        # nltk takes a reference without n-grams only if there is no other.
        ratio = np.where(ngrams > 0, matches / np.maximum(ngrams, 1), -1.0)
        best = best_pairs(ratio, references)
        return {"matches": matches[best], "ngrams": ngrams[best]}

    def score(self, matches: Array, ngrams: Array) -> Scores:
        """Matches over n-grams; 0 if there are no n-grams, as in nltk."""
        return {"score": np.where(ngrams > 0, matches / ngrams, 0.0)}

    def explain(self, prediction: str, references: Sequence[str]) -> highlight.Step:
        """The prediction and the best reference with their matches marked, and the counts."""
        orders = range(self.min_len, self.max_len + 1)
        steps = [highlight.shared_by_both(prediction, r, self.tokenize, orders) for r in references]
        return max(steps, key=lambda step: _ratio(step["ngrams"]))


def _ratio(orders: Sequence[Mapping[str, int]]) -> float:
    """Matches over the n-grams of the longer text; -1 if neither has any."""
    sides = ("shared", "in_prediction", "in_reference")
    matches, *both = (sum(order[side] for order in orders) for side in sides)
    return matches / max(both) if max(both) else -1.0
