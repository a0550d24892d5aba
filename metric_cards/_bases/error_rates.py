"""Error rates: edits per token of the reference, and what else the same alignment tells."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from metrichub.authoring import OMIT_DEFAULT, Array, Measured, Metric, Scores
from metrichub.errors import Doubt
from metrichub.text import Texts, Tokenizer, edit_counts, highlight, lengths, levenshtein


class _WithoutPunctuation(dict[int, int | None]):
    """A table for `str.translate` that drops punctuation, filled as characters are met."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if unicodedata.category(chr(code)).startswith("P") else code
        return self[code]


_WITHOUT_PUNCTUATION = _WithoutPunctuation()
_MOST, _SOME = 0.5, 0.1
"""Shares of a reference's words with marks: from which on it is unscored, and is noted."""
_REMEDY = "marks='keep' keeps them"
_UNREAD = f"the normalizer drops vowel marks of over half of the reference's words; {_REMEDY}"


@dataclass(frozen=True, kw_only=True)
class ErrorRate(Metric):
    """Counts of an alignment of tokens, pooled over the corpus (micro); Morris et al. (2004).

    Attributes:
        lowercase: Whether both texts are lowercased first.
        punctuation: Whether punctuation counts; False removes it first (Unicode categories P).
        alignment: Whether to count the kinds of edits; False gives only `score`, and is faster.
        normalizer: What is applied to both texts before anything else: Whisper's normalizer for
            English (`whisper`) or for other languages (`whisper-basic`).
        marks: What becomes of vowel marks, such as those of Hindi, Thai or Hebrew, in a normalizer:
            `drop` drops them as Whisper does, and leaves a sample unscored if over half of its
            reference's words have some; `official` scores it; `keep` keeps them.
    """

    tokenizer: ClassVar[str]

    lowercase: bool = False
    punctuation: bool = True
    alignment: bool = True
    normalizer: Literal["whisper", "whisper-basic"] | None = field(
        default=None, metadata=OMIT_DEFAULT
    )
    marks: Literal["drop", "official", "keep"] = field(default="drop", metadata=OMIT_DEFAULT)

    def measure(self, prediction: Texts, reference: Texts) -> Measured:
        """Edits, hits and both lengths, (N,) each; no hits without an alignment."""
        marked, units = self._marked(reference), self.declared_tokenizer()
        prediction, reference = self._prepared(prediction), self._prepared(reference)
        if self.alignment:
            counts = edit_counts(prediction, reference, units)
            hits, errors = counts.hits, counts.substitutions + counts.deletions + counts.insertions
        else:
            errors = levenshtein(prediction, reference, units)
            hits = np.zeros_like(errors)
        predicted, expected = (lengths(texts, units) for texts in (prediction, reference))
        rows = {"errors": errors, "hits": hits, "given": predicted, "wanted": expected}
        if marked is None:
            return Measured(rows, {})
        rows["noted_marked"] = (marked > _SOME).astype(np.int64)
        mostly = marked > _MOST if self.marks == "drop" else np.zeros(len(marked), np.bool_)
        rows["errors"] = np.where(mostly, np.nan, errors)
        return Measured(rows, dict.fromkeys(np.flatnonzero(mostly).tolist(), _UNREAD))

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """That no reference has a word; how many samples lose marks and are scored."""
        notes = []
        if not totals["wanted"] and totals["given"]:
            none = "all references are empty, so the score is the number of insertions, as jiwer's"
            notes.append(Doubt(f"{none}; check the references", "empty references"))
        marked = int(totals.get("noted_marked", 0))
        if not marked:
            return notes
        lost = f"the normalizer drops vowel marks in {marked} sample{'' if marked == 1 else 's'}"
        doubt = f"{lost}, so that different words become equal or fall apart; {_REMEDY}"
        return [*notes, Doubt(doubt, "dropped marks")]

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

    def _marked(self, texts: Texts) -> NDArray[np.float64] | None:
        """The share of each text's words that lose marks, (N,); None where none is lost."""
        if not self.normalizer or self.marks == "keep" or "".join(texts).isascii():
            return None
        from metric_cards._bases.whisper import share_of_marked_words

        shares = [share_of_marked_words(text, self.normalizer) for text in texts]
        return np.array(shares) if any(shares) else None

    def explain(self, prediction: str, reference: str) -> highlight.Step:
        """The alignment of both texts, and the number of edits."""
        predicted, expected = self._prepared(Texts([prediction, reference]))
        return highlight.aligned(predicted, expected, self.declared_tokenizer())

    def declared_tokenizer(self) -> Tokenizer:
        """The tokenizer that splits texts into the units that are compared."""
        return self.tokenizer

    def outputs(self) -> tuple[str, ...]:
        """All of the card, or the score alone without an alignment."""
        return tuple(self.card.scores) if self.alignment else ("score",)

    def _prepared(self, texts: Texts) -> Texts:
        if self.normalizer:
            texts = _normalized(texts, self.normalizer, self.marks == "keep")
        texts = texts.lower() if self.lowercase else texts
        if self.punctuation:
            return texts
        return texts.cached(
            "without punctuation",
            lambda: Texts([text.translate(_WITHOUT_PUNCTUATION) for text in texts]),
        )


def _normalized(texts: Texts, normalizer: str, keep_marks: bool) -> Texts:
    from metric_cards._bases.whisper import NORMALIZERS

    normalized = partial(NORMALIZERS[normalizer], keep_marks=keep_marks)
    key = ("normalized", normalizer, keep_marks)
    return texts.cached(key, lambda: Texts(list(map(normalized, texts))))


def _or_one(count: Array) -> Array:
    """The count as a divisor: 1 where it is 0."""
    return np.where(count == 0, 1, count)
