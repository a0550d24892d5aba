"""Error rates: edits per token of the reference, and what else the same alignment tells."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from metrichub.authoring import OMIT_DEFAULT, Array, Metric, Scores
from metrichub.text import Texts, edit_counts, highlight, lengths, levenshtein


class _WithoutPunctuation(dict[int, int | None]):
    """A table for `str.translate` that drops punctuation, filled as characters are met."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if unicodedata.category(chr(code)).startswith("P") else code
        return self[code]


_WITHOUT_PUNCTUATION = _WithoutPunctuation()


@dataclass(frozen=True, kw_only=True)
class ErrorRate(Metric):
    """Counts of an alignment of tokens, pooled over the corpus (micro); Morris et al. (2004).

    Attributes:
        lowercase: Whether both texts are lowercased first.
        punctuation: Whether punctuation counts; False removes it first (Unicode categories P).
        alignment: Whether to count the kinds of edits; False gives only `score`, and is faster.
        normalizer: What is applied to both texts before anything else: Whisper's normalizer for
            English (`whisper`) or for other languages (`whisper-basic`).
    """

    tokenizer: ClassVar[str]

    lowercase: bool = False
    punctuation: bool = True
    alignment: bool = True
    normalizer: Literal["whisper", "whisper-basic"] | None = field(
        default=None, metadata=OMIT_DEFAULT
    )

    def measure(self, prediction: Texts, reference: Texts) -> dict[str, Array]:
        """Edits, hits and both lengths, (N,) each; no hits without an alignment."""
        prediction, reference = self._prepared(prediction), self._prepared(reference)
        if self.alignment:
            counts = edit_counts(prediction, reference, self.tokenizer)
            hits, errors = counts.hits, counts.substitutions + counts.deletions + counts.insertions
        else:
            errors = levenshtein(prediction, reference, self.tokenizer)
            hits = np.zeros_like(errors)
        predicted, expected = (lengths(texts, self.tokenizer) for texts in (prediction, reference))
        return {"errors": errors, "hits": hits, "given": predicted, "wanted": expected}

    def score(self, errors: Array, hits: Array, given: Array, wanted: Array) -> Scores:
        """Rates and counts. Without tokens in the reference, as jiwer 4 defines them."""
        rate = {"score": errors / _or_one(wanted)}
        if not self.alignment:
            return rate
        preserved = (hits / _or_one(wanted)) * (hits / _or_one(given))
        preserved = np.where(wanted + given == 0, 1.0, preserved)
        substitutions = wanted + given - 2 * hits - errors
        return rate | {
            "mer": errors / _or_one(hits + errors),
            "wil": 1 - preserved,
            "wip": preserved,
            "hits": hits,
            "substitutions": substitutions,
            "deletions": wanted - hits - substitutions,
            "insertions": given - hits - substitutions,
        }

    def explain(self, prediction: str, reference: str) -> highlight.Step:
        """The alignment of both texts, and the number of edits."""
        predicted, expected = self._prepared(Texts([prediction, reference]))
        return highlight.aligned(predicted, expected, self.tokenizer)

    def outputs(self) -> tuple[str, ...]:
        """All of the card, or the score alone without an alignment."""
        return tuple(self.card.scores) if self.alignment else ("score",)

    def _prepared(self, texts: Texts) -> Texts:
        texts = _normalized(texts, self.normalizer) if self.normalizer else texts
        texts = texts.lower() if self.lowercase else texts
        if self.punctuation:
            return texts
        return texts.cached(
            "without punctuation",
            lambda: Texts([text.translate(_WITHOUT_PUNCTUATION) for text in texts]),
        )


def _normalized(texts: Texts, normalizer: str) -> Texts:
    from metric_cards._bases.whisper import NORMALIZERS

    return texts.cached(
        ("normalized", normalizer), lambda: Texts(list(map(NORMALIZERS[normalizer], texts)))
    )


def _or_one(count: Array) -> Array:
    """The count as a divisor: 1 where it is 0."""
    return np.where(count == 0, 1, count)
