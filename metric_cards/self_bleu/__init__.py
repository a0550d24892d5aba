"""Self-BLEU: how much the texts of a system repeat each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from metric_cards._bases.numbered_ngrams import numbered_ngrams
from metric_cards._bases.resampling import drawn_sums
from metric_cards.self_bleu.others import Matches, closest_among
from metrichub.authoring import Array, CorpusMetric, Range, Resampler, Scores, Unscored
from metrichub.text import Integers, Texts, Words, spans

EPSILON = 0.1
"""What `method1` of nltk puts in the place of no match."""


@dataclass(frozen=True, kw_only=True)
class SelfBleu(CorpusMetric):
    """The mean BLEU of every text against all others, after Zhu et al. (2018).

    Attributes:
        max_order: The maximum order of the n-grams in `score`.
        tokenizer: How texts are split into tokens.
        lowercase: Whether case is ignored.
    """

    resamples: ClassVar[bool] = False

    max_order: Annotated[int, Range(1, 9)] = 5
    tokenizer: Literal["13a", "intl", "zh", "char", "unicode", "whitespace"] = "13a"
    lowercase: bool = False

    def outputs(self) -> tuple[str, ...]:
        """The score, and self-BLEU for n-grams up to each length."""
        return ("score", *(f"bleu_{order + 1}" for order in range(self.max_order)))

    def measure(self, prediction: Texts) -> list[Words | Unscored]:
        """The tokens of each text, named by 64-bit hashes; 1e6 kinds collide once in 1e7 runs."""
        column = prediction.lower() if self.lowercase else prediction
        tokens = column.tokens(self.tokenizer)
        hashes = tokens.hashes.copy()
        return [
            hashes[start:end] if end > start else Unscored("the text has no tokens", "no_tokens")
            for start, end in spans(tokens.offsets)
        ]

    def conclude(self, rows: Sequence[Words]) -> Mapping[str, float]:
        """The mean over the texts; `nan` for a single one."""
        scores = _means(self._all(rows), np.ones((1, len(rows))))
        return {name: float(values[0]) for name, values in scores.items()}

    def samples(self, rows: Sequence[Words]) -> Mapping[str, Sequence[float]]:
        """The BLEU of each text against all others."""
        return {name: values[0].tolist() for name, values in self._all(rows).items()}

    def resampler(self, rows: Sequence[Words]) -> Resampler:
        """The sums of resamples: a text matches those that are drawn, its copies among them."""
        lengths, orders = _lengths(rows), list(self._orders(rows))
        return lambda counts: _means(self._each(lengths, orders, counts), counts)

    def _orders(self, rows: Sequence[Words]) -> Iterator[Matches]:
        tokens = np.concatenate([np.zeros(0, np.uint64), *rows])
        for ngrams in numbered_ngrams(tokens, _lengths(rows), self.max_order):
            yield Matches(ngrams, len(rows))

    def _all(self, rows: Sequence[Words]) -> Scores:
        """The scores of texts drawn once each, (1, N); no order is kept longer than it takes."""
        return self._each(_lengths(rows), self._orders(rows), np.ones((1, len(rows))))

    def _each(self, lengths: Integers, orders: Iterable[Matches], counts: Array) -> Scores:
        """The score of each text, (b, N), of how often each is drawn, (b, N); `nan` if alone."""
        logarithms = np.zeros(counts.shape)
        penalty = np.exp(np.minimum(1 - closest_among(lengths, counts) / lengths, 0.0))
        penalty = np.where(counts.sum(axis=1, keepdims=True) > 1, penalty, np.nan)
        scores: dict[str, Array] = {}
        for order, ngrams in enumerate(orders, start=1):
            matches = ngrams.among(counts)
            if order == 1:
                penalty = penalty * (matches > 0)
            totals = np.maximum(lengths - order + 1, 1)
            logarithms += np.log(np.where(matches, matches, EPSILON) / totals)
            scores[f"bleu_{order}"] = np.exp(logarithms / order) * penalty
        return {"score": scores[f"bleu_{self.max_order}"], **scores}


def _means(each: Scores, counts: Array) -> Scores:
    number = counts.sum(axis=1)
    return {name: drawn_sums(values, counts) / number for name, values in each.items()}


def _lengths(rows: Sequence[Words]) -> Integers:
    return np.fromiter(map(len, rows), np.int64, len(rows))
