"""n-grams of whole columns: clipped matches, novel n-grams, distinct n-grams and lengths.

An n-gram is named by the interned ids of its tokens, packed into one 64-bit number. Sorted within a
row, equal n-grams of all orders stand together: an order-k gram is a prefix of the number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from metrichub.text.column import RaggedTexts, Texts
from metrichub.text.ngrams.interning import InternedIds, intern_both, intern_one
from metrichub.text.ragged import (
    Flags,
    Integers,
    Words,
    offsets_of,
    row_sums,
    sort_rows,
    spans,
    start_runs,
)
from metrichub.text.tokenize.characters import Codes
from metrichub.text.tokenize.tokenizers import Tokenizer

BITS = 64
FEW_GRAMS = 16
"""Up to so many rows times orders are counted text by text."""

_NEW = np.uint64(2**BITS - 1)
"""Differs from a name in the first token, so that a new n-gram of every order begins."""


class Matches(NamedTuple):
    """Clipped matches and the prediction's number of n-grams, each (N, K) for orders 1 to K."""

    matches: Integers
    totals: Integers


class Novel(NamedTuple):
    """n-grams of the prediction that no reference has, and all of them, each (N,)."""

    novel: Integers
    total: Integers


class Distinct(NamedTuple):
    """Distinct n-grams of the prediction, and all of them, each (N, K) for orders 1 to K."""

    unique: Integers
    total: Integers


def clipped_matches(
    prediction: Texts, references: Texts | RaggedTexts, tokenizer: str, max_order: int
) -> Matches:
    """How many n-grams of the prediction a reference also has, for orders 1 to K.

    An n-gram counts as often as it occurs in the prediction, but at most as often as in the
    reference that has the most of it. With one reference a running balance counts what otherwise
    has to be counted side by side.
    """
    few = len(prediction) * max_order <= FEW_GRAMS
    if few and (rows := _words_of_rows(prediction, references, tokenizer)):
        orders = range(1, max_order + 1)
        counts = [[_matches_of_row(*row, order) for order in orders] for row in rows]
        totals = ngram_totals(lengths(prediction, tokenizer), max_order)
        return Matches(np.array(counts, np.int64), totals)
    together = intern_both(prediction, references, tokenizer)
    totals = ngram_totals(lengths(prediction, tokenizer), max_order)
    sides = together.sides
    if len(sides) == 2 * len(totals) and sides.max(initial=0) <= 1:
        pairs = Pairs.of(together.ids, together.segments)
        if pairs.bits * max_order < BITS:
            return Matches(paired_matches(pairs, max_order), totals)
    matches = [
        grams.sum_rows(np.minimum(grams.predicted, grams.referenced))
        for grams in _orders(together, max_order)
    ]
    return Matches(np.stack(matches, axis=1), totals)


def novel_ngrams(
    prediction: Texts, references: Texts | RaggedTexts, tokenizer: str, order: int
) -> Novel:
    """How many n-grams of the prediction, counted as often as they occur, are in no reference."""
    together = intern_both(prediction, references, tokenizer)
    *_, grams = _orders(together, order)
    novel = grams.sum_rows(grams.predicted * (grams.predicted == grams.counts))
    return Novel(novel, ngram_totals(lengths(prediction, tokenizer), order)[:, -1])


def distinct_ngrams(prediction: Texts, tokenizer: str, max_order: int) -> Distinct:
    """How many different n-grams the prediction has, for orders 1 to K."""
    unique = [
        grams.sum_rows(np.ones(len(grams.valid), np.int64))
        for grams in _orders(intern_one(prediction, tokenizer), max_order)
    ]
    totals = ngram_totals(lengths(prediction, tokenizer), max_order)
    return Distinct(np.stack(unique, axis=1), totals)


def lengths(column: Texts | RaggedTexts, tokenizer: Tokenizer) -> Integers:
    """The number of tokens of every text, (N,); of every item for `RaggedTexts`."""
    items = column.items if isinstance(column, RaggedTexts) else column
    strings: Sequence[Sequence[str]] | None = items.strings(tokenizer)
    if strings is None and not items.tokenized(tokenizer):
        strings = items.words(tokenizer)
    if strings is not None:
        return np.fromiter(map(len, strings), np.int64, len(strings))
    return items.tokens(tokenizer).lengths


def closest_lengths(prediction: Texts, references: Texts | RaggedTexts, tokenizer: str) -> Integers:
    """The length of the reference closest to the prediction's, (N,); of two, the shorter.

    A row without references gets 0.
    """
    if isinstance(references, Texts):
        return lengths(references, tokenizer)
    if len(references.items) == len(references) and (references.counts == 1).all():
        return lengths(references.items, tokenizer)
    rows, candidates = references.rows, lengths(references, tokenizer)
    distance = np.abs(candidates - lengths(prediction, tokenizer)[rows])
    best_first = np.lexsort((candidates, distance, rows))
    closest = np.zeros(len(prediction), np.int64)
    closest[rows[best_first][::-1]] = candidates[best_first][::-1]
    return closest


def _words_of_rows(
    prediction: Texts, references: Texts | RaggedTexts, tokenizer: str
) -> list[tuple[Sequence[str], Sequence[Sequence[str]]]] | None:
    """The tokens of each prediction and of its references; None where the texts are many."""
    items = references.items if isinstance(references, RaggedTexts) else references
    predicted, expected = prediction.words(tokenizer), items.words(tokenizer)
    if predicted is None or expected is None:
        return None
    if isinstance(references, Texts):
        return [(words, [others]) for words, others in zip(predicted, expected, strict=True)]
    rows = spans(references.offsets)
    return [(words, expected[a:b]) for words, (a, b) in zip(predicted, rows, strict=True)]


def _matches_of_row(
    predicted: Sequence[str], references: Sequence[Sequence[str]], order: int
) -> int:
    """The clipped matches of one prediction."""
    grams, *others = (_grams(words, order) for words in (predicted, *references))
    if len(others) != 1:
        most = Counter[object]()
        for reference in others:
            most |= Counter(reference)
        return (most & Counter(grams)).total()
    (reference,) = others
    distinct, allowed = set(grams), set(reference)
    both = distinct & allowed
    # Where all n-grams of one side are different, each counts once.
    if len(distinct) == len(grams) or len(allowed) == len(reference):
        return len(both)
    counts, limits = Counter(grams), Counter(reference)
    return sum([min(counts[gram], limits[gram]) for gram in both])


def _grams(words: Sequence[str], order: int) -> Sequence[object]:
    """The n-grams of a text as they stand."""
    return words if order == 1 else [*zip(*[words[n:] for n in range(order)], strict=False)]


def ngram_totals(lengths: Integers, max_order: int) -> Integers:
    """The number of n-grams of texts of so many tokens, for orders 1 to K, (N, K)."""
    totals: Integers = np.maximum(lengths[:, None] - np.arange(max_order), 0)
    return totals


class Pairs(NamedTuple):
    """The tokens of N pairs of texts, T in all, each prediction before its reference.

    Attributes:
        ids: from 1; equal within a pair if and only if the tokens are equal, (T,). Of any type.
        segments: where the tokens of each text start, (2N+1,).
        bits: what an id needs, and `end`, which is none.
        end: stands where a reference has ended; 0 stands where a prediction has.
    """

    ids: Codes
    segments: Integers
    bits: int
    end: int

    @classmethod
    def of(cls, ids: Codes, segments: Integers) -> Pairs:
        """The pairs with what their ids need."""
        end = int(ids.max(initial=0)) + 1
        return cls(ids, segments, end.bit_length(), end)


def paired_matches(pairs: Pairs, max_order: int) -> Integers:
    """The n-grams that both texts have, for orders 1 to K, from one sort, (N, K).

    Where the names of a pair stand sorted, those of one n-gram stand together. Their minimum
    over both sides is half of what the sum of both counts has over the difference, and the
    difference is that of a running balance.
    """
    names, rows = _names(pairs, max_order), pairs.segments[::2]
    sort_rows(names, rows)
    balance = np.zeros(len(names) + 1, np.int32)
    np.cumsum((names & np.uint64(1)).astype(np.int8) * 2 - 1, dtype=np.int32, out=balance[1:])
    step = np.empty(len(names) + 1, np.uint64)
    np.bitwise_xor(names[1:], names[:-1], out=step[1:-1])
    step[rows] = _NEW
    size = np.diff(rows)
    some = np.flatnonzero(size)
    matches = np.zeros((len(size), max_order), np.int64)
    for order in range(1, max_order + 1):
        limits = np.flatnonzero(step >= np.uint64(1 << (1 + pairs.bits * (max_order - order))))
        surplus = np.diff(balance.take(limits))
        np.abs(surplus, out=surplus)
        runs = np.searchsorted(limits, rows[some])
        matches[some, order - 1] = (size[some] - np.add.reduceat(surplus, runs)) // 2
    return matches


def _names(pairs: Pairs, max_order: int) -> Words:
    """The n-gram that starts at every token as one number, its ids and the side, (T,).

    Where a text ends before, a mark of its side follows, so that such an n-gram never matches.
    """
    bits = np.uint64(pairs.bits)
    sizes = np.diff(pairs.segments)
    sides = np.tile(np.arange(2, dtype=np.uint64), len(sizes) // 2)
    stream = np.zeros(len(pairs.ids) + max_order - 1, np.uint64)
    stream[: len(pairs.ids)] = pairs.ids
    names = _windows(stream, max_order, bits)
    for left in range(1, max_order):
        long = sizes >= left
        cut = pairs.segments[1:][long] - left
        below = bits * np.uint64(max_order - left)
        marks = sides[long] * np.uint64(pairs.end)
        names[cut] = names[cut] >> below << below | marks << (below - bits)
    names <<= np.uint64(1)
    names |= np.repeat(sides, sizes)
    return names


def _windows(stream: Words, width: int, bits: np.uint64) -> Words:
    """The numbers at each place and the `width` - 1 after it packed into one."""
    if width == 1:
        return stream.copy()
    half = width // 2
    parts = _windows(stream, half, bits)
    packed: Words = parts[:-half] << bits * np.uint64(half)
    packed |= parts[half:]
    if width % 2:
        packed = packed[:-1] << bits
        packed |= stream[width - 1 :]
    return packed


class _Sides:
    """The side of every n-gram in sorted order, (T,)."""

    def __init__(self, keys: Words, bits: int) -> None:
        self.side = keys & np.uint64((1 << bits) - 1)
        self.several = bits > 1
        self.predicted = offsets_of((self.side == 0).astype(np.int64))
        """How many n-grams of predictions stand before each place, (T+1,)."""


class _Grams:
    """The n-grams of one order, sorted within each row: G runs of equal ones.

    `names` are (T,); a name whose last `bits` are 0 is that of no n-gram, since the text ends
    before. `limits` is where every run starts, and T, (G+1,).
    """

    def __init__(self, names: Words, sides: _Sides, offsets: Integers, bits: int) -> None:
        self.sides, self.offsets = sides, offsets
        self.changed: Flags = np.ones(len(names) + 1, np.bool_)
        np.not_equal(names[1:], names[:-1], out=self.changed[1:-1])
        start_runs(self.changed, offsets)
        self.limits = np.flatnonzero(self.changed)
        self.valid = (names.take(self.limits[:-1]) & np.uint64((1 << bits) - 1)) != 0

    @cached_property
    def counts(self) -> Integers:
        """How often each occurs in the row, (G,)."""
        return np.diff(self.limits)

    @cached_property
    def predicted(self) -> Integers:
        """How often each occurs in the prediction, (G,)."""
        return np.diff(self.sides.predicted.take(self.limits))

    @cached_property
    def referenced(self) -> Integers:
        """How often each occurs in the reference that has most of it, (G,)."""
        if not self.sides.several:
            return self.counts - self.predicted
        group = (np.cumsum(self.changed[:-1]) - 1).astype(np.uint64)
        highest = self.sides.side.max(initial=0) + np.uint64(1)
        pairs = group * highest + self.sides.side
        sort_rows(pairs, self.offsets)
        limits = np.flatnonzero(np.append(np.diff(pairs, prepend=~np.uint64(0)), np.uint64(1)))
        group, side = np.divmod(pairs[limits[:-1]], highest)
        count = np.diff(limits) * (side > 0)
        best = np.zeros(len(self.limits) - 1, np.int64)
        np.maximum.at(best, group.astype(np.int64), count)
        return best

    def sum_rows(self, values: Integers) -> Integers:
        """The sum over the n-grams of every row, (N,)."""
        return row_sums(values * self.valid, np.searchsorted(self.limits, self.offsets))


def _orders(together: InternedIds, max_order: int) -> Iterator[_Grams]:
    """The n-grams of orders 1 to K."""
    bits = int(together.ids.max(initial=1)).bit_length()
    side_bits = int(together.sides.max(initial=0)).bit_length()
    if bits * max_order + side_bits <= BITS:
        return _packed_orders(together, max_order, bits, side_bits)
    return _condensed_orders(together, max_order, bits, side_bits)


def _packed_orders(
    together: InternedIds, max_order: int, bits: int, side_bits: int
) -> Iterator[_Grams]:
    """All orders from one sort."""
    names = together.ids.astype(np.uint64)
    for k in range(1, max_order):
        names = names << np.uint64(bits) | _following(together, k)
    keys = names << np.uint64(side_bits) | together.side.astype(np.uint64)
    sort_rows(keys, together.offsets)
    sides = _Sides(keys, side_bits)
    for k in range(1, max_order + 1):
        names = keys >> np.uint64(side_bits + bits * (max_order - k))
        yield _Grams(names, sides, together.offsets, bits)


def _condensed_orders(
    together: InternedIds, max_order: int, bits: int, side_bits: int
) -> Iterator[_Grams]:
    """One order after the other, the shorter n-grams ranked anew whenever bits run out."""
    names, used = together.ids.astype(np.uint64), bits
    for k in range(1, max_order + 1):
        keys = names << np.uint64(side_bits) | together.side.astype(np.uint64)
        sort_rows(keys, together.offsets)
        sides = _Sides(keys, side_bits)
        yield _Grams(keys >> np.uint64(side_bits), sides, together.offsets, bits)
        if k == max_order:
            return
        if used + bits + side_bits > BITS:
            names = _condensed(names, together.offsets)
            used = int(names.max(initial=1)).bit_length()
        names = names << np.uint64(bits) | _following(together, k)
        used += bits


def _following(together: InternedIds, k: int) -> Words:
    """The id of the token k places further on in the same text, or 0, (T,)."""
    ids = np.zeros(len(together.ids), np.uint64)
    ids[:-k] = together.ids[k:] * (together.left[:-k] > k)
    return ids


def _condensed(names: Words, offsets: Integers) -> Words:
    """Numbers from 0 that are equal within a row if and only if the names are, (T,)."""
    numbers = np.zeros(len(names), np.uint64)
    for start, end in spans(offsets):
        numbers[start:end] = np.unique(names[start:end], return_inverse=True)[1]
    return numbers
