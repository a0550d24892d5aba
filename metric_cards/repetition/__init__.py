"""Repetition: how much of a text is said again, after Welleck et al. and Fu et al."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from metrichub.authoring import Array, Measured, Metric, Range, Scores
from metrichub.text import (
    Flags,
    InternedIds,
    Texts,
    Words,
    distinct_ngrams,
    highlight,
    intern_one,
    row_sums,
    sort_equal,
)

OUTPUTS = ("score", "rep_w", "rep_r", "seq_rep")
ORDERS = 4
"""`seq_rep` counts the n-grams up to this length."""


@dataclass(frozen=True, kw_only=True)
class Repetition(Metric):
    """Repeated n-grams, words and pairs, each averaged over the texts that have it (macro).

    Attributes:
        n: The length of the n-grams that `score` counts.
        window: The number of preceding words in which `rep_w` looks for each word.
        tokenizer: How texts are split into words; case counts, except with `unicode`.
    """

    n: Annotated[int, Range(1, 9)] = 4
    window: Annotated[int, Range(1)] = 16
    tokenizer: Literal["13a", "intl", "zh", "char", "unicode", "whitespace"] = "13a"

    averaging = "macro"

    def measure(self, prediction: Texts) -> Measured:
        """The four fractions of each text, and which of them are defined, each (N, 4)."""
        words = intern_one(prediction, self.tokenizer)
        unique, total = distinct_ngrams(prediction, self.tokenizer, max(self.n, ORDERS))
        recent = row_sums(_recent(words, self.window), words.offsets)
        paired = row_sums(_in_repeated_pair(words), words.offsets)
        order, size = self.n - 1, total[:, 0]
        with np.errstate(invalid="ignore"):
            columns = (
                1 - unique[:, order] / total[:, order],
                recent / size,
                paired / size,
                1 - unique[:, :ORDERS].sum(axis=1) / total[:, :ORDERS].sum(axis=1),
            )
        values = np.stack(columns, axis=1)
        defined = ~np.isnan(values)
        empty = np.flatnonzero(size == 0).tolist()
        reasons = dict.fromkeys(empty, "the text has no words")
        values = np.where(defined | (size == 0)[:, None], values, 0.0)
        kinds = dict.fromkeys(empty, "no_tokens")
        return Measured({"values": values, "defined": defined}, reasons, kinds)

    def score(self, values: Array, defined: Array) -> Scores:
        """The mean of each fraction over the texts that have it; `nan` if none does."""
        return {name: values[..., i] / defined[..., i] for i, name in enumerate(OUTPUTS)}

    def explain(self, prediction: str) -> highlight.Step:
        """The text with its repeated n-grams marked, and the counts."""
        return highlight.repeated(prediction, self.tokenizer, self.n)


def _recent(words: InternedIds, window: int) -> Flags:
    """Whether each word occurs among the `window` words before it in its text, (T,)."""
    order, changed = sort_equal(_names(words))
    repeated = np.zeros(len(order), np.bool_)
    repeated[order[1:]] = ~changed[1:-1] & (np.diff(order) <= window)
    return repeated


def _in_repeated_pair(words: InternedIds) -> Flags:
    """Whether each word is part of a pair of neighbours that its text has more than once, (T,)."""
    first = np.flatnonzero(words.left > 1)
    kinds = np.uint64(words.ids.max(initial=0) + 1)
    pairs = _names(words)[first] * kinds + words.ids[first + 1].astype(np.uint64)
    order, changed = sort_equal(pairs)
    repeated = first[order[~(changed[:-1] & changed[1:])]]
    inside = np.zeros(len(words.ids), np.bool_)
    inside[repeated] = inside[repeated + 1] = True
    return inside


def _names(words: InternedIds) -> Words:
    """Numbers that are equal where a word of the same text is, (T,)."""
    texts = np.repeat(np.arange(len(words.offsets) - 1), np.diff(words.offsets))
    names: Words = (texts * (words.ids.max(initial=0) + 1) + words.ids).astype(np.uint64)
    return names
