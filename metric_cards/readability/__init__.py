"""Readability: nine formulas that judge a text by the length of its words and sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from metric_cards.readability.counts import (
    Counts,
    cyrillic_words,
    latin_words,
    of_papers,
    of_textstat,
)
from metric_cards.readability.languages import EASE, is_in_another
from metrichub.authoring import OMIT_DEFAULT, Array, Measured, Metric, Scores
from metrichub.errors import Doubt
from metrichub.text import Texts


@dataclass(frozen=True, kw_only=True)
class Readability(Metric):
    """Nine readability formulas for English, applied to all texts as one (micro).

    Attributes:
        convention: How words, sentences and hard words are counted: as the formulas' papers say,
            or as textstat 0.7.13 does.
        language: The texts' language, by which syllables are counted and Flesch reading ease is
            computed, as in textstat; of other languages than English, only that, LIX and RIX are.
    """

    convention: Literal["papers", "textstat"] = "papers"
    language: Literal["en", "de", "es", "fr", "it", "nl", "ru", "hu"] = field(
        default="en", metadata=OMIT_DEFAULT
    )

    def declared_tokenizer(self) -> Callable[[str], list[str]]:
        """The words that the formulas read."""
        return cyrillic_words if self.language == "ru" else latin_words

    def outputs(self) -> tuple[str, ...]:
        """All formulas for English, and for other languages those that don't depend on it."""
        return super().outputs() if self.language == "en" else ("score", "lix", "rix")

    def drops_letters(self) -> bool:
        """Whether texts in other letters are scored as English, as textstat does."""
        return self.convention == "textstat"

    def measure(self, prediction: Texts) -> Measured:
        """The counts of each text that the formulas use, each (N,)."""
        count = of_papers if self.convention == "papers" else of_textstat
        counts = [count(text, self.language) for text in prediction]
        noted = np.array([is_in_another(text, self.language) for text in prediction], np.int64)
        other = {"noted_other": noted} if noted.any() else {}
        table = np.array(counts, np.float64).reshape(-1, len(Counts._fields))
        empty = [] if self.convention == "textstat" else np.flatnonzero(table[:, 0] == 0).tolist()
        if not empty:
            columns = table.astype(np.int64).T
            return Measured({**dict(zip(Counts._fields, columns, strict=True)), **other}, {})
        table[empty] = np.nan
        reasons = dict.fromkeys(empty, "the text has no words")
        kinds = dict.fromkeys(empty, "no_tokens")
        rows = dict(zip(Counts._fields, table.T, strict=True))
        return Measured({**rows, **other}, reasons, kinds)

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """How many texts are evidently in another language."""
        other = int(totals.get("noted_other", 0))
        if not other:
            return ()
        seem = f"{other} text{' seems' if other == 1 else 's seem'} to be in another language"
        shown = (
            f"{seem} than {self.language!r}, by whose syllables and formula {_them(other)} scored"
        )
        return (Doubt(f"{shown}; set language to theirs, or use lix or rix", "language"),)

    def score(
        self,
        words: Array,
        sentences: Array,
        syllables: Array,
        letters: Array,
        characters: Array,
        tokens: Array,
        polysyllables: Array,
        long_words: Array,
        complex_words: Array,
        difficult_words: Array,
    ) -> Scores:
        """The formulas' values; without words, 0 as in textstat, or `nan`."""
        length = words / sentences
        difficult = 100 * difficult_words / words
        weight = 5.88 if self.convention == "papers" else 5.8
        ease = EASE[self.language]
        scores = {
            "score": ease.base - ease.length * length - ease.syllables * syllables / words,
            "flesch_kincaid_grade": 0.39 * length + 11.8 * syllables / words - 15.59,
            "gunning_fog": 0.4 * (length + 100 * complex_words / words),
            "coleman_liau": weight * letters / words - 29.6 * sentences / words - 15.8,
            "ari": 4.71 * characters / tokens + 0.5 * length - 21.43,
            "smog": 1.043 * np.sqrt(30 * polysyllables / sentences) + 3.1291,
            "lix": length + 100 * long_words / words,
            "rix": long_words / sentences,
            "dale_chall": 0.1579 * difficult + 0.0496 * length + 3.6365 * (difficult > 5),
        }
        scores = {name: scores[name] for name in self.outputs()}
        if self.convention == "papers":
            return scores
        blank = {name: sentences if name in ("smog", "rix") else words for name in scores}
        return {name: np.where(blank[name] == 0, 0.0, value) for name, value in scores.items()}


def _them(number: int) -> str:
    return "it is" if number == 1 else "they are"
