"""Readability: nine formulas that judge a text by the length of its words and sentences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from metric_cards.readability.counts import Counts, latin_words, of_papers, of_textstat
from metrichub.authoring import Array, Measured, Metric, Scores
from metrichub.text import Texts


@dataclass(frozen=True, kw_only=True)
class Readability(Metric):
    """Nine readability formulas for English, applied to all texts as one (micro).

    Attributes:
        convention: How words, sentences and hard words are counted: as the formulas' papers say,
            or as textstat 0.7.13 does.
    """

    convention: Literal["papers", "textstat"] = "papers"

    def declared_tokenizer(self) -> Callable[[str], list[str]]:
        """The words that the formulas read."""
        return latin_words

    def drops_letters(self) -> bool:
        """Whether texts in other letters are scored as English, as textstat does."""
        return self.convention == "textstat"

    def measure(self, prediction: Texts) -> Measured:
        """The counts of each text that the formulas use, each (N,)."""
        count = of_papers if self.convention == "papers" else of_textstat
        counts = [count(text) for text in prediction]
        table = np.array(counts, np.float64).reshape(-1, len(Counts._fields))
        empty = [] if self.convention == "textstat" else np.flatnonzero(table[:, 0] == 0).tolist()
        if not empty:
            return Measured(dict(zip(Counts._fields, table.astype(np.int64).T, strict=True)), {})
        table[empty] = np.nan
        reasons = dict.fromkeys(empty, "the text has no words")
        kinds = dict.fromkeys(empty, "no_tokens")
        return Measured(dict(zip(Counts._fields, table.T, strict=True)), reasons, kinds)

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
        scores = {
            "score": 206.835 - 1.015 * length - 84.6 * syllables / words,
            "flesch_kincaid_grade": 0.39 * length + 11.8 * syllables / words - 15.59,
            "gunning_fog": 0.4 * (length + 100 * complex_words / words),
            "coleman_liau": weight * letters / words - 29.6 * sentences / words - 15.8,
            "ari": 4.71 * characters / tokens + 0.5 * length - 21.43,
            "smog": 1.043 * np.sqrt(30 * polysyllables / sentences) + 3.1291,
            "lix": length + 100 * long_words / words,
            "rix": long_words / sentences,
            "dale_chall": 0.1579 * difficult + 0.0496 * length + 3.6365 * (difficult > 5),
        }
        if self.convention == "papers":
            return scores
        blank = {name: sentences if name in ("smog", "rix") else words for name in scores}
        return {name: np.where(blank[name] == 0, 0.0, value) for name, value in scores.items()}
