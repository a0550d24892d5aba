"""Pairs of a prediction and one reference: the n-grams that they share, and the best pair.

Characters have a way of their own: few of them make up a block, so that six fit into one
number, and what is gained over `clipped_matches` is a third of the time.
"""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.text.column import Groups, Texts
from metrichub.text.ngrams import BITS, clipped_matches
from metrichub.text.ragged import Integers, Words, sort_rows, spans
from metrichub.text.tokens import Tokens

_NEW = np.uint64(2**BITS - 1)
"""Differs from a name in the first token, so that a new n-gram of every order begins."""


class Shared(NamedTuple):
    """n-grams that both texts have, and those of either, each (N, K) for orders 1 to K."""

    matches: Integers
    predicted: Integers
    referenced: Integers


def shared_ngrams(prediction: Texts, reference: Texts, tokenizer: str, max_order: int) -> Shared:
    """How many n-grams each pair of texts shares, each as often as both texts have it."""
    said, wanted = prediction.tokens(tokenizer), reference.tokens(tokenizer)
    numbers = _alphabet(said, wanted) if said.characters and wanted.characters else None
    if numbers is None or _bits(numbers) * max_order >= BITS:
        matches = clipped_matches(prediction, reference, tokenizer, max_order).matches
    else:
        matches = _character_matches(said, wanted, numbers, max_order)
    return Shared(matches, _counts(said, max_order), _counts(wanted, max_order))


def best_pairs(scores: NDArray[np.float64], references: Groups) -> Integers:
    """The pair of every row that scores best, the first of several, (N,).

    The pairs (P,) are those of each row with its references, in order; no row is without one.
    """
    best_first = np.lexsort((-scores, references.rows))
    best: Integers = best_first[references.offsets[:-1]]
    return best


def _counts(tokens: Tokens, max_order: int) -> Integers:
    counts: Integers = np.maximum(tokens.lengths[:, None] - np.arange(max_order), 0)
    return counts


def _alphabet(said: Tokens, wanted: Tokens) -> Integers:
    """A number from 1 for every code point that occurs; the last is the number of them."""
    highest = max(int(tokens.codes.max(initial=0)) for tokens in (said, wanted))
    present = np.zeros(highest + 1, np.bool_)
    present[said.codes] = present[wanted.codes] = True
    return np.cumsum(present)


def _bits(numbers: Integers) -> int:
    """The bits of the numbers and of one more, which is the mark where a reference ends."""
    return int(numbers[-1] + 1).bit_length()


def _character_matches(said: Tokens, wanted: Tokens, numbers: Integers, max_order: int) -> Integers:
    """The shared n-grams of all orders from one sort, (N, K)."""
    names = _merged(
        *(_names(said, numbers, max_order, side=0), said.offsets),
        *(_names(wanted, numbers, max_order, side=1), wanted.offsets),
    )
    rows = said.offsets + wanted.offsets
    sort_rows(names, rows)
    return _matches(names, rows, _bits(numbers), max_order)


def _names(tokens: Tokens, numbers: Integers, max_order: int, side: int) -> Words:
    """The n-gram that starts at every character as one number: K numbers, and the side as a bit.

    Where a text ends before, a mark stands for what follows. It is 0 for the prediction and for
    the reference the number after the last, so that such an n-gram never matches.
    """
    bits = np.uint64(_bits(numbers))
    mark = np.uint64((int(numbers[-1]) + 1) * side)
    stream = np.zeros(len(tokens.codes) + max_order - 1, np.uint64)
    stream[: len(tokens.codes)] = numbers[tokens.codes]
    names = _windows(stream, max_order, bits)
    for left in range(1, max_order):
        cut = tokens.offsets[1:][tokens.lengths >= left] - left
        below = bits * np.uint64(max_order - left)
        names[cut] = names[cut] >> below << below | mark << (below - bits)
    names <<= np.uint64(1)
    names |= np.uint64(side)
    return names


def _windows(stream: Words, width: int, bits: np.uint64) -> Words:
    """The numbers at each place and the `width` - 1 after it packed into one, of halves."""
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


def _merged(first: Words, starts: Integers, second: Words, others: Integers) -> Words:
    """Every row of the one before the same row of the other."""
    own = (first[start:end] for start, end in spans(starts))
    other = (second[start:end] for start, end in spans(others))
    return np.concatenate([first[:0], *chain.from_iterable(zip(own, other, strict=True))])


def _matches(names: Words, rows: Integers, bits: int, max_order: int) -> Integers:
    """How many n-grams of both sides are alike in every row of sorted names, (N, K).

    The names of one n-gram stand together. Their minimum over both sides is half of what the
    sum of both counts has over the difference, and the difference is that of a running balance.
    """
    balance = np.zeros(len(names) + 1, np.int32)
    np.cumsum((names & np.uint64(1)).astype(np.int8) * 2 - 1, dtype=np.int32, out=balance[1:])
    step = np.empty(len(names) + 1, np.uint64)
    np.bitwise_xor(names[1:], names[:-1], out=step[1:-1])
    step[rows] = _NEW
    size = np.diff(rows)
    some = np.flatnonzero(size)
    matches = np.zeros((len(size), max_order), np.int64)
    for order in range(1, max_order + 1):
        limits = np.flatnonzero(step >= np.uint64(1 << (1 + bits * (max_order - order))))
        surplus = np.diff(balance[limits])
        np.abs(surplus, out=surplus)
        runs = np.searchsorted(limits, rows[some])
        matches[some, order - 1] = (size[some] - np.add.reduceat(surplus, runs)) // 2
    return matches
