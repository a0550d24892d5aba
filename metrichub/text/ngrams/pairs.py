"""Pairs of a prediction and one reference: the n-grams that they share, and the best pair.

With one reference a running balance counts what `clipped_matches` has to count side by side:
six orders of characters take three fifths of its time, two of words nine tenths.
"""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.text.column import RaggedTexts, Texts
from metrichub.text.ngrams.interning import alphabet, intern_both
from metrichub.text.ngrams.overlap import BITS, clipped_matches, lengths, ngram_totals
from metrichub.text.ragged import Integers, Words, offsets_of, sort_rows
from metrichub.text.tokenize.characters import Codes, code_points

_ASCII = 1 << 7
"""Code points; as many more fit in a byte."""

_NEW = np.uint64(2**BITS - 1)
"""Differs from a name in the first token, so that a new n-gram of every order begins."""


class Shared(NamedTuple):
    """n-grams that both texts have, and those of either, each (N, K) for orders 1 to K."""

    matches: Integers
    predicted: Integers
    referenced: Integers


def shared_ngrams(prediction: Texts, reference: Texts, tokenizer: str, max_order: int) -> Shared:
    """How many n-grams each pair of texts shares, counted as often as both texts have them."""
    predicted, expected = lengths(prediction, tokenizer), lengths(reference, tokenizer)
    pairs = _paired(prediction, reference, tokenizer, max_order)
    if pairs.bits * max_order < BITS:
        matches = _matches(pairs, max_order)
    else:
        matches = clipped_matches(prediction, reference, tokenizer, max_order).matches
    return Shared(matches, ngram_totals(predicted, max_order), ngram_totals(expected, max_order))


def best_pairs(scores: NDArray[np.float64], references: RaggedTexts) -> Integers:
    """The best-scoring pair of each row, the first if several are equal, (N,).

    The pairs (P,) are those of each row with its references, in order; each row has at least one.
    """
    best_first = np.lexsort((-scores, references.rows))
    best: Integers = best_first[references.offsets[:-1]]
    return best


class _Pairs(NamedTuple):
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


def _paired(prediction: Texts, reference: Texts, tokenizer: str, max_order: int) -> _Pairs:
    predicted, expected = prediction.strings(tokenizer), reference.strings(tokenizer)
    ids: Codes
    if predicted is not None and expected is not None:
        texts = list(chain.from_iterable(zip(predicted, expected, strict=True)))
        segments = offsets_of(np.fromiter(map(len, texts), np.int64, len(texts)))
        ids = _numbered(code_points("".join(texts)), max_order)
    else:
        together = intern_both(prediction, reference, tokenizer)
        ids, segments = together.ids, together.segments
    end = int(ids.max(initial=0)) + 1
    return _Pairs(ids, segments, end.bit_length(), end)


def _numbered(codes: Codes, max_order: int) -> Codes:
    """Numbers from 1, equal if and only if the code points are: most often they themselves."""
    wide = np.flatnonzero(codes >= _ASCII)
    if 0 < len(wide) < len(codes) // 8:
        kinds, number = np.unique(codes[wide], return_inverse=True)
        if len(kinds) < _ASCII:
            codes = codes.astype(np.uint8)
            codes[wide] = _ASCII + number
    fit = (int(codes.max(initial=0)) + 1).bit_length() * max_order < BITS
    return codes if fit and codes.all() else alphabet(codes).take(codes)


def _matches(pairs: _Pairs, max_order: int) -> Integers:
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


def _names(pairs: _Pairs, max_order: int) -> Words:
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
