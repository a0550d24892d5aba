"""Distinct-n: the fraction of distinct n-grams among all n-grams of a system's texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np

from metric_cards.distinct.drawn import DistinctNgrams
from metric_cards.distinct.vocabulary import Vocabulary
from metrichub.authoring import Array, CorpusMetric, Range, Resampler, Scores, Unscored
from metrichub.text import (
    Integers,
    RaggedTexts,
    Texts,
    Tokens,
    intern_tokens,
    ngram_counts,
    row_sums,
)

ORDERS = 4
"""The orders that are always reported."""


class _Counts(NamedTuple):
    """The distinct n-grams of a row's texts together, and all of them, each (R, K)."""

    unique: Array
    total: Array


@dataclass(frozen=True, kw_only=True)
class Distinct(CorpusMetric):
    """Distinct n-grams of all predictions over all their n-grams, after Li et al. (2016).

    Attributes:
        n: Length of the n-grams that `score` counts.
        tokenizer: How texts are split into tokens; by default at whitespace.
        lowercase: Whether case is ignored.
    """

    resamples: ClassVar[bool] = False
    gathers: ClassVar[Literal["rows", "vocabulary"]] = "vocabulary"

    n: Annotated[int, Range(1, 9)] = 2
    tokenizer: Literal["whitespace", "13a", "intl", "zh", "char", "unicode"] = "whitespace"
    lowercase: bool = False

    def headline(self) -> tuple[str, ...]:
        """The orders that papers report, after the chosen one if it is a different one."""
        named = super().headline()
        return named if f"distinct_{self.n}" in named else ("score", *named)

    def measure(self, predictions: RaggedTexts) -> list[list[str] | Unscored]:
        """The predictions of each sample as they are: numbers of distinct n-grams don't add up.

        A sample without a token is left out: it has no n-grams, and who answers less repeats less.
        """
        tokens = row_sums(predictions.items.tokens(self.tokenizer).lengths, predictions.offsets)
        blank = Unscored("the text has no token", "no_tokens")
        rows = zip(predictions, tokens.tolist(), strict=True)
        return [list(texts) if number else blank for texts, number in rows]

    def conclude(self, rows: Sequence[Sequence[str] | Vocabulary]) -> Mapping[str, float]:
        """The scores of all predictions together; an order without n-grams is `nan`."""
        texts = [row for row in rows if not isinstance(row, Vocabulary)]
        if len(texts) < len(rows):
            (joined,) = self.condense(rows)
            unique, total = np.array([list(map(len, joined.unique))]), np.array([joined.total])
            counts = _Counts(unique, total)
        else:
            times = Counter(chain.from_iterable(texts))
            counts = self._counts(RaggedTexts(list(times), [0, len(times)]), list(times.values()))
        return {name: float(values[0]) for name, values in self._scores(counts).items()}

    def condense(self, rows: Sequence[Sequence[str] | Vocabulary]) -> Sequence[Vocabulary]:
        """All n-grams as one set of hashes for each order."""
        texts = Texts(list(chain.from_iterable(r for r in rows if not isinstance(r, Vocabulary))))
        column = texts.lower() if self.lowercase else texts
        vocabulary = Vocabulary.of(column.tokens(self.tokenizer), max(self.n, ORDERS))
        return [Vocabulary.joined([vocabulary, *(r for r in rows if isinstance(r, Vocabulary))])]

    def samples(self, rows: Sequence[Sequence[str]]) -> Mapping[str, Sequence[float]]:
        """The scores of each row's predictions together, (R,)."""
        groups = RaggedTexts.of(rows)
        counts = self._counts(groups, [1] * len(groups.items))
        return {name: values.tolist() for name, values in self._scores(counts).items()}

    def resampler(self, rows: Sequence[Sequence[str]]) -> Resampler:
        """A row's n-grams are distinct but for those of other rows that are drawn."""
        groups = RaggedTexts.of(rows)
        column, highest = groups.lower() if self.lowercase else groups, max(self.n, ORDERS)
        tokens = column.items.tokens(self.tokenizer)
        orders = [
            DistinctNgrams(ngrams, column.rows, len(rows))
            for ngrams in ngram_counts(tokens, highest)
        ]
        sizes = np.maximum(tokens.lengths[:, None] - np.arange(highest), 0)
        totals = np.stack([row_sums(size, column.offsets) for size in sizes.T], axis=1)

        def scores(counts: Array) -> Scores:
            unique = np.stack([order.among(counts) for order in orders], axis=1)
            return self._scores(_Counts(unique, counts @ totals))

        return scores

    def _scores(self, counts: _Counts) -> dict[str, Array]:
        with np.errstate(invalid="ignore"):
            share = counts.unique / counts.total
        score = {"score": share[:, self.n - 1]}
        return score | {f"distinct_{n + 1}": share[:, n] for n in range(ORDERS)}

    def _counts(self, groups: RaggedTexts, times: Sequence[int]) -> _Counts:
        """The counts of every group; `times` says how often each text counts in the totals."""
        column = groups.lower() if self.lowercase else groups
        tokens, highest = column.items.tokens(self.tokenizer), max(self.n, ORDERS)
        sizes = np.maximum(tokens.lengths[:, None] - np.arange(highest), 0)
        weighted = sizes * np.array(times, np.int64)[:, None]
        total = np.stack([row_sums(size, groups.offsets) for size in weighted.T], axis=1)
        return _Counts(_unique(tokens, tokens.offsets[groups.offsets], highest), total)


def _unique(tokens: Tokens, offsets: Integers, highest: int) -> Integers:
    """How many distinct n-grams each group of texts has, (R, K); no n-gram leaves its text.

    An n-gram is named by its group and the ranks of its tokens, side by side in 64 bits, so that
    the names of shorter ones are prefixes, and a 0 stands behind the end of a text. Where 64 bits
    don't hold all orders, the names so far are numbered anew, in their order.
    """
    ranks = intern_tokens(tokens, offsets).astype(np.uint64)
    left = np.repeat(tokens.offsets[1:], tokens.lengths) - np.arange(len(ranks))
    bits = int(ranks.max(initial=1)).bit_length()
    names = np.repeat(np.arange(len(offsets) - 1, dtype=np.uint64), np.diff(offsets))
    unique = np.zeros((len(offsets) - 1, highest), np.int64)
    first = 0
    while first < highest:
        room = (64 - int(names.max(initial=0)).bit_length()) // bits
        orders = range(first, min(first + room, highest))
        for k in orders:
            names = names << np.uint64(bits) | np.roll(ranks, -k) * (left > k)
        ordered = np.sort(names)
        for k in reversed(orders):
            new = np.diff(ordered, prepend=~ordered[:1]) != 0
            new &= (ordered & np.uint64((1 << bits) - 1)) != 0
            unique[:, k] = row_sums(new, offsets)
            ordered = ordered >> np.uint64(bits)
        first = orders.stop
        if first < highest:
            names = np.unique(names, return_inverse=True)[1].astype(np.uint64)
    return unique
