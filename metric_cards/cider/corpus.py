"""The n-grams of all samples, ready to be weighted by how often a resample has each sample."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from metric_cards._bases.resampling import Documents, Sparse, different
from metrichub.authoring import Array
from metrichub.text import Integers, NgramCounts, Texts, ngram_counts, offsets_of, row_sums


class Corpus:
    """The S texts of R samples: `partner` is the prediction beside each, `row` its sample.

    Each sample is a line for its prediction and one for each reference. `sigma` is None where the
    n-grams aren't clipped, and the lengths not compared. The documents are the samples' references.
    """

    def __init__(self, samples: Sequence[str], max_order: int, sigma: float | None) -> None:
        lines = [sample.split("\n") for sample in samples]
        self.limits = offsets_of(np.fromiter(map(len, lines), np.int64, len(lines)))
        self.row = np.repeat(np.arange(len(samples)), np.diff(self.limits))
        self.partner = self.limits[:-1][self.row]
        tokens = Texts(list(chain.from_iterable(lines))).tokens("whitespace")
        self.is_reference = self.partner != np.arange(len(self.partner))
        self.factor = self.is_reference * 10 / max_order / (np.diff(self.limits) - 1)[self.row]
        if sigma is not None:
            bigrams = np.maximum(tokens.lengths - 1, 0)
            distance = bigrams - bigrams[self.partner]
            self.factor = self.factor * np.exp(-(distance**2) / (2 * sigma**2))
        self.documents = Documents([sample.partition("\n")[2] for sample in samples])
        counted = ngram_counts(tokens, max_order)
        self.orders = [_Order(counts, self, sigma is not None) for counts in counted]

    def scores(self, weights: Array) -> Array:
        """The score of every sample, (d, R), where the documents have weights, (d, D)."""
        similar = sum((order.similarities(weights) for order in self.orders), np.zeros(1))
        scores = np.add.reduceat(similar * self.factor, self.limits[:-1], axis=-1)
        return np.where(self.tells(weights)[:, None], scores, np.nan)

    def tells(self, weights: Array) -> Array:
        """Whether any n-gram of the documents is rarer than they are, (d,); else all weigh 0."""
        telling = np.zeros(len(weights), np.bool_)
        for order in self.orders:
            if not telling.all():
                telling |= order.tells(weights)
        return telling


class _Order:
    """The n-grams of one order, those of the same documents as one kind: they weigh the same.

    Of most n-grams only one sample, or none, has them in its references.
    """

    def __init__(self, counts: NgramCounts, corpus: Corpus, clipped: bool) -> None:
        self.partner, texts = corpus.partner, len(corpus.row)
        document = corpus.documents.row[corpus.row]
        is_reference = corpus.is_reference
        limits = counts.limits(corpus.row)
        first = limits[:-1]
        gram = np.cumsum(counts.starts) - 1
        referenced = row_sums(is_reference[counts.text], limits) > 0
        documents = document[counts.text[first]][referenced]
        number = int(counts.starts.sum())
        kinds = _Kinds(gram[first][referenced], documents, number, corpus.documents.number)
        self.frequencies = kinds.frequencies
        alone = np.where(is_reference[counts.single], 1 + document[counts.single], 0)
        self.norms = Sparse(
            np.concatenate((counts.text, counts.single)),
            np.concatenate((kinds.of[gram], alone)),
            np.concatenate((counts.count**2, np.ones(len(alone), np.int64))),
            (texts, kinds.number),
        )
        head = np.repeat(first, np.diff(limits))
        predicted = np.where(is_reference[counts.text[head]], 0, counts.count[head])
        shared = np.minimum(predicted, counts.count) if clipped else predicted
        both = np.flatnonzero(shared * is_reference[counts.text])
        products = (shared * counts.count)[both]
        shape = texts, kinds.number
        self.products = Sparse(counts.text[both], kinds.of[gram[both]], products, shape)

    def tells(self, weights: Array) -> Array:
        """Whether an n-gram is in some of the documents and not in all, (d,)."""
        occurs = np.bincount(self.norms.column, minlength=self.norms.shape[1]) > 0
        frequency = self.frequencies.times(weights)[:, occurs]
        somewhere = (frequency > 0) & (frequency < weights.sum(axis=1, keepdims=True))
        return np.asarray(somewhere.any(axis=1))

    def similarities(self, weights: Array) -> Array:
        """The cosine of the TF-IDF vectors of every text and its prediction, (d, S)."""
        frequency = np.maximum(self.frequencies.times(weights), 1)
        rarity = np.log(weights.sum(axis=1, keepdims=True)) - np.log(frequency)
        squares = rarity**2
        norm = np.sqrt(self.norms.times(squares))
        norms = norm * norm[:, self.partner]
        return np.asarray(self.products.times(squares) / np.where(norms > 0, norms, 1))


class _Kinds:
    """The kind of every n-gram: 0 of no document, 1 + d of document d alone, else one of its own.

    `of` is (G,), and `frequencies` (K, D) has a 1 where a document has the n-grams of a kind.
    """

    def __init__(self, gram: Integers, document: Integers, grams: int, documents: int) -> None:
        pairs = different(gram * documents + document)
        gram, document = np.divmod(pairs, documents)
        having = np.bincount(gram, minlength=grams)
        alone = 1 + np.bincount(gram, document, grams).astype(np.int64)
        several = having > 1
        places = documents + np.cumsum(several)
        self.of = np.where(several, places, np.where(having == 1, alone, 0))
        self.number = 1 + documents + int(several.sum())
        common = several[gram]
        each = np.arange(documents)
        column = np.concatenate((each, document[common]))
        row = np.concatenate((1 + each, self.of[gram[common]]))
        shape = self.number, documents
        self.frequencies = Sparse(row, column, np.ones(len(column)), shape)
