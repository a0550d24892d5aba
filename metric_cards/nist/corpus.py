"""The n-grams of all samples, ready to be weighted by how often a resample has each sample."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any, NamedTuple

import numpy as np

from metric_cards._bases.numbered_ngrams import Ngrams, numbered_ngrams
from metric_cards._bases.resampling import Documents, Sparse, drawn_sums
from metrichub.authoring import Array, Scores
from metrichub.text import Integers, Tokens, Words

Row = tuple[Words, list[Words]]
"""The hashes of the tokens of a prediction, and of each of its references."""

BETA = log(0.5) / log(1.5) ** 2


def hashed(rows: Sequence[Row]) -> Sequence[Row]:
    """Rows as they are measured; a report that was saved earlier has lists of hashes or strings."""
    if {type(prediction) for prediction, _ in rows} <= {np.ndarray}:
        return rows
    return [(_named(prediction), list(map(_named, references))) for prediction, references in rows]


def _named(text: Any) -> Words:
    if len(text) and isinstance(text[0], str):
        return Tokens.of([text]).hashes
    return np.asarray(text, np.uint64)


def penalties(ratio: Array) -> Array:
    """1 for predictions that are long enough, 1/2 for those of two thirds of the length."""
    with np.errstate(all="ignore"):
        short = np.exp(BETA * np.log(ratio) ** 2)
    return np.where((ratio > 0) & (ratio < 1), short, np.minimum(ratio, 1))


def laid_end_to_end(texts: Sequence[Words]) -> Words:
    """The tokens of all texts, (T,)."""
    return np.concatenate([np.zeros(0, np.uint64), *texts])


class Corpus:
    """R samples; their texts are all predictions, then all references.

    Attributes:
        row: The row of every text.
        documents: Which rows have the same references.
        counted: Whether a text makes the counts: it is a reference of a document's first row.
    """

    def __init__(self, rows: Sequence[Row], max_order: int, ignored: int | None) -> None:
        references = [reference for _, group in rows for reference in group]
        each = np.array([len(group) for _, group in rows], np.int64)
        numbers = np.arange(len(rows))
        self.row = np.concatenate((numbers, np.repeat(numbers, each)))
        self.documents = Documents([tuple(map(bytes, group)) for _, group in rows])
        first = np.zeros(len(rows), np.bool_)
        first[self.documents.first] = True
        self.counted = first[self.row] & (np.arange(len(self.row)) >= len(rows))
        texts = [*(prediction for prediction, _ in rows), *references]
        lengths = np.array([len(text) for text in texts], np.int64)
        self.length = lengths[: len(rows)]
        self.reference_length = np.bincount(self.row[len(rows) :], lengths[len(rows) :]) / each
        tokens, zero = _interned(texts, ignored)
        self.orders: list[_Order] = []
        earlier: list[Ngrams] = []
        for ngrams in numbered_ngrams(tokens, lengths, max_order):
            self.orders.append(_Order(self, ngrams, _contexts(ngrams, earlier, zero)))
            earlier = [*earlier[:1], ngrams]

    def scores(self, counts: Array) -> Scores:
        """The scores of b resamples, (b,), by how often each has every row, (b, R)."""
        weights, which = self.documents.different(counts)
        precision = np.zeros(len(counts))
        for number, order in enumerate(self.orders):
            information = drawn_sums(order.information(weights)[which], counts)
            ngrams = drawn_sums(np.maximum(self.length - number, 0), counts)
            precision += information / np.maximum(ngrams, 1)
        with np.errstate(all="ignore"):
            length = drawn_sums(self.reference_length, counts)
            ratio = np.where(length > 0, drawn_sums(self.length, counts) / length, np.nan)
        penalty = penalties(ratio)
        return {"score": precision * penalty, "length_penalty": penalty, "length_ratio": ratio}

    def occurrences(self, numbers: Integers, number: Integers, text: Integers) -> Sparse:
        """How often each document has the n-grams of these numbers, (len(numbers), D).

        `number` and `text` are those of all n-grams.
        """
        place = np.full(int(number.max(initial=-1)) + 1, -1)
        place[numbers] = np.arange(len(numbers))
        occurring = np.flatnonzero((place[number] >= 0) & self.counted[text])
        document = self.documents.row[self.row[text[occurring]]]
        shape = len(numbers), self.documents.number
        return Sparse(place[number[occurring]], document, np.ones(len(occurring)), shape)


class _Contexts(NamedTuple):
    """The words before the last one, the context of every n-gram, (G,), where all contexts are.

    Context 0 is none: all words. `number` and `text` are those of all occurrences.
    """

    of: Integers
    number: Integers
    text: Integers


def _contexts(ngrams: Ngrams, shorter: Sequence[Ngrams], zero: int | None) -> _Contexts:
    """The contexts of n-grams, of the single words and the n-grams that are one word shorter."""
    if not shorter:
        return _Contexts(np.zeros_like(ngrams.number), np.zeros_like(ngrams.number), ngrams.text)
    of = 1 + ngrams.context
    if len(shorter) == 1 and zero is not None:
        of[ngrams.context == zero] = 0
    words, before = shorter[0], shorter[-1]
    number = np.concatenate((np.zeros_like(words.number), 1 + before.number))
    return _Contexts(of, number, np.concatenate((words.text, before.text)))


class _Order:
    """The matches of one order, and what their information depends on."""

    def __init__(self, corpus: Corpus, ngrams: Ngrams, contexts: _Contexts) -> None:
        number, row, times = _matches(corpus, ngrams)
        context = np.zeros(int(ngrams.number.max(initial=-1)) + 1, np.int64)
        context[ngrams.number] = contexts.of
        # What always follows its context is certain in every resample: 0 bits.
        total = np.bincount(ngrams.number[corpus.counted[ngrams.text]], minlength=len(context))
        before = np.bincount(contexts.number[corpus.counted[contexts.text]])
        informative = np.flatnonzero(total[number] < before[context[number]])
        numbers, place = np.unique(number[informative], return_inverse=True)
        before, self.context = np.unique(context[numbers], return_inverse=True)
        self.matches = Sparse(
            row[informative], place, times[informative], (len(corpus.length), len(numbers))
        )
        self.counts = corpus.occurrences(numbers, ngrams.number, ngrams.text)
        self.before = corpus.occurrences(before, contexts.number, contexts.text)

    def information(self, weights: Array) -> Array:
        """The bits of the matches of every row, (d, R), where the documents weigh (d, D)."""
        counts = np.maximum(self.counts.times(weights), 1)
        before = np.maximum(self.before.times(weights), 1)
        return self.matches.times(np.log2(before[:, self.context] / counts))


class _Matches(NamedTuple):
    """n-grams that a row's prediction and references have: number, row and how often, (P,)."""

    number: Integers
    row: Integers
    times: Integers


def _matches(corpus: Corpus, ngrams: Ngrams) -> _Matches:
    """The n-grams of each prediction, at most as often as in the reference that has most of it."""
    rows, texts = len(corpus.length), len(corpus.row)
    predicted = ngrams.text < rows
    predictions, times = np.unique(
        ngrams.number[predicted] * rows + ngrams.text[predicted], return_counts=True
    )
    pairs, counts = np.unique(
        ngrams.number[~predicted] * texts + ngrams.text[~predicted], return_counts=True
    )
    number, text = np.divmod(pairs, texts)
    referenced = number * rows + corpus.row[text]
    starts = np.flatnonzero(np.diff(referenced, prepend=-1))
    most = np.maximum.reduceat(counts, starts) if len(starts) else counts
    both, here, places = np.intersect1d(
        predictions, referenced[starts], assume_unique=True, return_indices=True
    )
    number, row = np.divmod(both, rows)
    return _Matches(number, row, np.minimum(times[here], most[places]))


def _interned(texts: Sequence[Words], ignored: int | None) -> tuple[Integers, int | None]:
    """The tokens of all texts as numbers, and the number of the ignored one, if it occurs."""
    numbers: dict[int, int] = {}
    tokens = [numbers.setdefault(token, len(numbers)) for token in laid_end_to_end(texts).tolist()]
    return np.array(tokens, np.int64), None if ignored is None else numbers.get(ignored)
