"""CIDEr: TF-IDF weighted similarity between a caption's n-grams and those of its references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Literal

import numpy as np

from metric_cards.cider.ptb import words_by_chunk
from metrichub.authoring import Array, CorpusMetric, Range
from metrichub.text import (
    Integers,
    NgramCounts,
    RaggedTexts,
    Texts,
    ngram_counts,
    offsets_of,
    row_sums,
    spans,
)


@dataclass(frozen=True, kw_only=True)
class Cider(CorpusMetric):
    """CIDEr and CIDEr-D (Vedantam et al. 2015) as pycocoevalcap computes them, a mean over samples.

    Attributes:
        variant: `cider-d` clips repeated n-grams and penalizes different lengths; `cider` doesn't.
        tokenizer: How texts are split into tokens: `ptb` gives lowercased words without
            punctuation, with clitics split off; `unicode` keeps lowercased letters and digits of
            any script; `whitespace` keeps the tokens between spaces as they are.
        max_order: The maximum order of n-grams.
        sigma: The width of CIDEr-D's length penalty, in tokens.
    """

    variant: Literal["cider-d", "cider"] = "cider-d"
    tokenizer: Literal["ptb", "unicode", "whitespace"] = "ptb"
    max_order: Annotated[int, Range(1, 9)] = 4
    sigma: Annotated[float, Range(1e-3)] = 6.0

    def measure(self, prediction: Texts, references: RaggedTexts) -> list[str]:
        """The tokens joined by spaces: one line for the prediction and one for each reference."""
        predicted, referenced = self._lines(prediction), self._lines(references.items)
        limits = zip(predicted, spans(references.offsets), strict=True)
        return ["\n".join([line, *referenced[start:end]]) for line, (start, end) in limits]

    def conclude(self, rows: Sequence[str]) -> Mapping[str, float]:
        """The mean of the scores of the rows."""
        times = Counter(rows)
        weights = np.fromiter(times.values(), np.float64, len(times))
        return {"score": float(self._scores(list(times), weights) @ weights / weights.sum())}

    def samples(self, rows: Sequence[str]) -> Mapping[str, Sequence[float]]:
        """The score of each row, (R,), with the document frequencies of all of them."""
        return {"score": self._scores(rows, np.ones(len(rows))).tolist()}

    def _scores(self, rows: Sequence[str], weights: Array) -> Array:
        """The score of every row, (R,), in a corpus that has each of them `weights` times."""
        lines = [row.split("\n") for row in rows]
        limits = offsets_of(np.fromiter(map(len, lines), np.int64, len(lines)))
        row = np.repeat(np.arange(len(rows)), np.diff(limits))
        tokens = Texts(list(chain.from_iterable(lines))).tokens("whitespace")
        corpus = _Corpus(limits[:-1][row], row, weights)
        orders = ngram_counts(tokens, self.max_order)
        similar = sum(corpus.similarities(order, self.variant == "cider-d") for order in orders)
        if self.variant == "cider-d":
            bigrams = np.maximum(tokens.lengths - 1, 0)
            distance = bigrams - bigrams[corpus.partner]
            similar = similar * np.exp(-(distance**2) / (2 * self.sigma**2))
        summed = np.bincount(row, similar * corpus.is_reference, len(rows))
        scores: Array = 10 / self.max_order * summed / (np.diff(limits) - 1)
        return scores

    def _lines(self, column: Texts) -> list[str]:
        if self.tokenizer == "whitespace":
            return [" ".join(text.split()) for text in column]
        if self.tokenizer == "unicode":
            return [" ".join(words) for words in column.tokens("unicode").all_strings()]
        return list(map(" ".join, column.split(words_by_chunk)))


class _Corpus:
    """The S texts of R samples: `partner` is the prediction beside each, `row` its row."""

    def __init__(self, partner: Integers, row: Integers, weights: Array) -> None:
        self.partner, self.row, self.weights = partner, row, weights
        self.is_reference = partner != np.arange(len(partner))
        self.size = np.log(weights.sum())

    def similarities(self, order: NgramCounts, clipped: bool) -> Array:
        """The cosine of the TF-IDF vectors of every text and its prediction, (S,)."""
        texts, limits = len(self.row), order.limits(self.row)
        first = limits[:-1]
        gram = np.cumsum(order.starts) - 1
        referenced = row_sums(self.is_reference[order.text], limits) > 0
        weight = self.weights[self.row[order.text[first]]] * referenced
        rarity = self._rarity(np.bincount(gram[first], weight))
        vector = order.count * rarity[gram]
        head = np.repeat(first, np.diff(limits))
        predicted = np.where(self.is_reference[order.text[head]], 0, vector[head])
        shared = (np.minimum(predicted, vector) if clipped else predicted) * vector
        alone = np.bincount(order.single, minlength=texts)
        alone = alone * self._rarity(self.weights[self.row] * self.is_reference) ** 2
        norm = np.sqrt(np.bincount(order.text, vector**2, texts) + alone)
        norms = norm * norm[self.partner]
        return np.bincount(order.text, shared, texts) / np.where(norms > 0, norms, 1)

    def _rarity(self, frequency: Array) -> Array:
        """The logarithm of the number of samples over those whose references have an n-gram."""
        rarity: Array = self.size - np.log(np.maximum(frequency, 1))
        return rarity
