"""CIDEr in two passes: document frequencies of a whole corpus, and samples that they weigh."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metric_cards._bases.corpus_ngrams import CorpusNgrams, ngram_names, tokens_left
from metric_cards.cider.corpus import Captions
from metrichub.authoring import Array
from metrichub.text import Integers, Texts, Words, offsets_of, sort_equal


def document_frequencies(samples: Sequence[str], max_order: int) -> CorpusNgrams:
    """In how many samples some reference has each n-gram; the total is that of samples."""
    references = [sample.split("\n")[1:] for sample in samples]
    tokens = Texts([text for own in references for text in own]).tokens("whitespace")
    texts = offsets_of(np.array([len(own) for own in references], np.int64))
    row = np.repeat(np.arange(len(samples)), np.diff(tokens.offsets[texts]))
    left, seen = tokens_left(tokens.lengths), [np.zeros(0, np.uint64)]
    for order, names in enumerate(ngram_names(tokens.hashes, max_order), 1):
        at = np.flatnonzero(left >= order)
        pairs = _Pairs(names[at], row[at])
        seen.append(pairs.names[pairs.gram])
    return CorpusNgrams.of(np.concatenate(seen), len(samples))


def weighed(
    samples: Sequence[str], frequencies: CorpusNgrams, max_order: int, sigma: float | None
) -> Array:
    """The score of every sample, (R,), by the document frequencies of the whole corpus."""
    captions = Captions(samples, max_order, sigma)
    tokens, similar = captions.tokens, np.zeros(len(captions.row))
    left = tokens_left(tokens.lengths)
    text = np.repeat(np.arange(len(tokens.lengths)), tokens.lengths)
    for order, names in enumerate(ngram_names(tokens.hashes, max_order), 1):
        at = np.flatnonzero(left >= order)
        similar += _similarities(_Pairs(names[at], text[at]), captions, frequencies, bool(sigma))
    return captions.sums(similar)


class _Pairs:
    """G different n-grams, (G,), in P pairs of one and a group that has it, by n-gram and group.

    `gram` is the n-gram of every pair, `group` its group, and `count` how often that has it, (P,).
    """

    def __init__(self, names: Words, group: Integers) -> None:
        """`group` is that of each name, and doesn't fall."""
        order, changed = sort_equal(names)
        group = group[order]
        begins = changed.copy()
        begins[1:-1] |= group[1:] != group[:-1]
        limits = np.flatnonzero(begins)
        first = limits[:-1]
        self.gram = np.cumsum(changed[first]) - 1
        self.group, self.count = group[first], np.diff(limits)
        self.names = names[order[first[changed[first]]]]


def _similarities(
    pairs: _Pairs, captions: Captions, frequencies: CorpusNgrams, clipped: bool
) -> Array:
    """The cosine of the TF-IDF vectors of every text and its prediction, (S,), for one order."""
    frequency = np.maximum(frequencies.numbers(pairs.names), 1)
    squares = ((np.log(frequencies.total) - np.log(frequency)) ** 2)[pairs.gram]
    text, count, size = pairs.group, pairs.count, len(captions.row)
    norm = np.sqrt(np.bincount(text, count**2 * squares, size))
    norms = norm * norm[captions.partner]
    # A sample's prediction stands before its references.
    row = captions.row[text]
    begins = (np.diff(pairs.gram, prepend=-1) != 0) | (np.diff(row, prepend=-1) != 0)
    head = np.flatnonzero(begins)[np.cumsum(begins) - 1]
    predicted = np.where(captions.is_reference[text[head]], 0, count[head])
    shared = np.minimum(predicted, count) if clipped else predicted
    products = np.bincount(text, shared * count * squares, size)
    return np.asarray(products / np.where(norms > 0, norms, 1))
