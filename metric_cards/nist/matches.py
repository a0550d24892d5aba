"""The bits that the matches of every sample tell, where information is that of all references.

Sums are made in the order of a loop over the samples and, within each, over the n-grams of its
prediction: another order would round otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import log2
from typing import NamedTuple

import numpy as np

from metric_cards.nist.corpus import Row, laid_end_to_end
from metrichub.authoring import Array
from metrichub.text import Flags, Integers, Words, offsets_of, sort_equal


class Order(NamedTuple):
    """The sums that R samples add to one order, (R,) each."""

    information: Array
    reference_length: Array
    ngrams: Integers


class _Column:
    """The S texts of R samples, T tokens in all: each prediction, then its references.

    Attributes:
        tokens: The tokens of all texts, (T,).
        lengths: How many each text has, (S,).
        text: The text of every token, (T,).
        row: The sample of every text, (S,).
        sample: The sample of every token, (T,).
        heads: The prediction of every sample, (R,).
        number: How many references each sample has, (R,).
        referenced: The length of every reference, 0 for predictions, (S,).
        mean_length: The mean length of every sample's references, (R,).
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        texts = [text for prediction, references in rows for text in (prediction, *references)]
        self.lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        self.tokens = laid_end_to_end(texts)
        self.text = np.repeat(np.arange(len(texts)), self.lengths)
        self.number = np.array([len(references) for _, references in rows], np.int64)
        self.row = np.repeat(np.arange(len(rows)), 1 + self.number)
        self.heads = offsets_of(1 + self.number)[:-1]
        self.referenced = self.lengths.copy()
        self.referenced[self.heads] = 0
        self.mean_length = np.bincount(self.row, self.referenced, len(rows)) / self.number
        self.is_prediction = np.zeros(len(texts), np.bool_)
        self.is_prediction[self.heads] = True
        self.sample = self.row[self.text]

    def ngrams(self, order: int) -> Integers:
        """How many n-grams each prediction has, (R,)."""
        return np.maximum(self.lengths[self.heads] - order + 1, 0)


class _Grams:
    """The n-grams of one order: G different ones, in P pairs of one and a text that has it.

    Attributes:
        first: Where the pair's n-gram begins first in its text, (P,).
        count: How often the text has it, (P,).
        gram: The number of the pair's n-gram, from 0, (P,); pairs of one stand together.
        total: How often the references have each n-gram, (G,).
        example: A place where each n-gram begins, (G,).
    """

    def __init__(self, column: _Column, names: Words, at: Integers) -> None:
        self.column = column
        order, changed = sort_equal(names)
        where = at[order]
        text = column.text[where]
        begins = changed.copy()
        begins[1:-1] |= text[1:] != text[:-1]
        limits = np.flatnonzero(begins)
        starts = changed[limits[:-1]]
        self.where, self.begins = where, changed[:-1]
        self.first, self.text = where[limits[:-1]], text[limits[:-1]]
        self.count = np.diff(limits)
        self.gram = np.cumsum(starts) - 1
        self.starts = np.flatnonzero(starts)
        self.example = self.first[self.starts]
        self.is_prediction = column.is_prediction[self.text]
        self.referenced = np.where(self.is_prediction, 0, self.count)
        self.total = _each(np.add, self.referenced, self.starts)

    @cached_property
    def number(self) -> Integers:
        """The number of the n-gram that begins at every token, -1 for none, (T,)."""
        number = np.full(len(self.column.tokens), -1)
        number[self.where] = np.cumsum(self.begins) - 1
        return number

    @cached_property
    def matches(self) -> tuple[Integers, Integers]:
        """The pairs of matches with their predictions, and how often they match.

        An n-gram counts at most as often as in the reference that has most of it.
        """
        row = self.column.row[self.text]
        begins = np.diff(row, prepend=-1) != 0
        begins[self.starts] = True
        heads = np.flatnonzero(begins)
        most = _each(np.maximum, self.referenced, heads)
        times = np.minimum(self.count[heads], most) * self.is_prediction[heads]
        matching = np.flatnonzero(times)
        return heads[matching], times[matching]

    @cached_property
    def matched(self) -> Flags:
        """Whether each n-gram matches in some sample, (G+1,); the last is for -1, none."""
        some = np.zeros(len(self.total) + 1, np.bool_)
        some[self.gram[self.matches[0]]] = True
        return some

    def matches_by_reference(self) -> tuple[Integers, Integers, Integers]:
        """The pairs of matches with their predictions and references, and how often they match."""
        pairs = np.arange(len(self.text))
        head = np.maximum.accumulate(np.where(self.is_prediction, pairs, -1))
        row = self.column.row[self.text]
        same = (head >= 0) & (self.gram[head] == self.gram) & (row[head] == row)
        places = np.flatnonzero(same & ~self.is_prediction)
        heads = head[places]
        return heads, places, np.minimum(self.count[heads], self.count[places])


def orders(
    rows: Sequence[Row],
    max_order: int,
    ignored: int | None,
    best: bool,
) -> Iterator[Order]:
    """The sums that the samples add to each order.

    `ignored` is the word that isn't context. With `best`, the matches and the length are those of
    one reference, the one with most information, the longest of several; else those of all.
    """
    column = _Column(rows)
    words = column.referenced.sum()
    informed = _best if best and (column.number > 1).any() else _pooled
    left = np.repeat(offsets_of(column.lengths)[1:], column.lengths) - np.arange(len(column.text))
    tokens = grams = _Grams(column, column.tokens, np.arange(len(column.text)))
    context = np.full(len(grams.total), words)
    for order in range(1, max_order + 1):
        if order > 1:
            # What doesn't match isn't part of a longer n-gram that does.
            some = grams.matched[grams.number]
            at = np.flatnonzero(some[:-1] & some[1:] & (left[:-1] >= order))
            kinds = len(tokens.total)
            longer = grams.number[at] * kinds + tokens.number[at + order - 1]
            shorter, grams = grams, _Grams(column, longer.astype(np.uint64), at)
            context = shorter.total[shorter.number[grams.example]]
            if order == 2 and ignored is not None:
                none = column.tokens[grams.example] == np.uint64(ignored)
                context[none] = words
        yield Order(*informed(grams, context), column.ngrams(order))


def _pooled(grams: _Grams, context: Integers) -> tuple[Array, Array]:
    """The bits that are told to every sample, (R,), and the mean length of its references, (R,)."""
    column = grams.column
    pairs, times = grams.matches
    bits = np.zeros(len(column.text))
    bits[grams.first[pairs]] = times * _information(grams, context, pairs)
    information = np.bincount(column.sample, bits, len(column.heads))
    return information, column.mean_length


def _best(grams: _Grams, context: Integers) -> tuple[Array, Array]:
    """The most bits that one reference of every sample gets, (R,), and its length, (R,)."""
    column = grams.column
    pairs, places, times = grams.matches_by_reference()
    order = np.lexsort((grams.first[pairs], grams.text[places]))
    bits = (times * _information(grams, context, pairs))[order]
    information = np.bincount(grams.text[places][order], bits, len(column.lengths))
    information[column.heads] = -1
    ordered = np.lexsort((column.referenced, information, column.row))
    last = ordered[column.heads + column.number]
    return information[last], column.referenced[last].astype(np.float64)


def _information(grams: _Grams, context: Integers, pairs: Integers) -> Array:
    """The bits that the last word adds to those before, of the n-grams of some pairs."""
    which = grams.gram[pairs]
    needed = np.zeros(len(grams.total), np.bool_)
    needed[which] = True
    ratio = context[needed] / grams.total[needed]
    bits: Array = np.zeros(len(needed))
    # numpy's own logarithm may differ in the last bit.
    bits[needed] = np.fromiter(map(log2, ratio.tolist()), np.float64, len(ratio))
    information: Array = bits[which]
    return information


def _each(function: np.ufunc, values: Integers, starts: Integers) -> Integers:
    results: Integers = function.reduceat(values, starts) if len(starts) else values[:0]
    return results
