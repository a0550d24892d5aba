"""Word error rate: edits per word of the reference, and what else the same alignment tells."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from metrichub.metric import Metric, Scores
from metrichub.stats import Array
from metrichub.text import Texts, edits


class _WithoutPunctuation(dict[int, int | None]):
    """A table for `str.translate` that drops punctuation, filled as characters are met."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if unicodedata.category(chr(code)).startswith("P") else code
        return self[code]


_WITHOUT_PUNCTUATION = _WithoutPunctuation()


@dataclass(frozen=True, kw_only=True)
class WordErrorRate(Metric):
    """Counts of an alignment, pooled over the corpus (micro); Morris et al. (2004).

    Attributes:
        lowercase: Whether both texts are put in lower case first.
        punctuation: Whether punctuation counts; False removes it first (Unicode categories P).
    """

    tokenizer: ClassVar[str] = "jiwer-words"

    lowercase: bool = False
    punctuation: bool = True

    def measure(self, prediction: Texts, reference: Texts) -> dict[str, Array]:
        """Hits and edits that make the prediction out of the reference, (N,) each."""
        found = edits(self._prepared(prediction), self._prepared(reference), self.tokenizer)
        return found._asdict()

    def score(
        self, hits: Array, substitutions: Array, deletions: Array, insertions: Array
    ) -> Scores:
        """Rates and counts. Without words in the reference, as jiwer 4 defines them."""
        errors = substitutions + deletions + insertions
        reference = hits + substitutions + deletions
        prediction = hits + substitutions + insertions
        kept = (hits / _or_one(reference)) * (hits / _or_one(prediction))
        kept = np.where(reference + prediction == 0, 1.0, kept)
        return {
            "score": errors / _or_one(reference),
            "mer": errors / _or_one(hits + errors),
            "wil": 1 - kept,
            "wip": kept,
            "hits": hits,
            "substitutions": substitutions,
            "deletions": deletions,
            "insertions": insertions,
        }

    def _prepared(self, texts: Texts) -> Texts:
        texts = texts.lower() if self.lowercase else texts
        if self.punctuation:
            return texts
        return texts.cached(
            "without punctuation",
            lambda: Texts([text.translate(_WITHOUT_PUNCTUATION) for text in texts]),
        )


def _or_one(count: Array) -> Array:
    """The count as a divisor: 1 where it is 0."""
    return np.where(count == 0, 1, count)
