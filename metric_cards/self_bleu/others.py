"""What every text shares with all others: counted once, from the two highest counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from metrichub.text import Integers, Words, offsets_of


class Grams(NamedTuple):
    """The n-grams of one order in all texts: the number of each, and of its text, (G,)."""

    number: Integers
    text: Integers


def grams(rows: Sequence[Words], max_order: int) -> Iterator[Grams]:
    """The n-grams of orders 1 to K; equal ones of one order have one number."""
    lengths = np.array([len(row) for row in rows], np.int64)
    text = np.repeat(np.arange(len(rows)), lengths)
    left = np.repeat(offsets_of(lengths)[1:], lengths) - np.arange(len(text))
    tokens = _numbered(np.concatenate(rows))
    kinds = int(tokens.max(initial=0)) + 1
    numbers = tokens
    yield Grams(numbers, text)
    for order in range(2, max_order + 1):
        whole = np.flatnonzero(left >= order)
        longer = numbers[whole] * kinds + tokens[whole + order - 1]
        numbers = np.zeros_like(tokens)
        numbers[whole] = _numbered(longer)
        yield Grams(numbers[whole], text[whole])


def clipped_by_others(ngrams: Grams, texts: int) -> Integers:
    """The n-grams of each text, (N,), each at most as often as in the other that has most of it.

    That other is the text with the highest count, or for this text itself the one behind it.
    """
    pairs, counts = np.unique(ngrams.number * texts + ngrams.text, return_counts=True)
    number, text = np.divmod(pairs, texts)
    order = np.lexsort((-counts, number))
    first = np.flatnonzero(np.diff(number[order], prepend=-1))
    behind = np.minimum(first + 1, max(len(order) - 1, 0))
    several = number[order[behind]] == number[order[first]]
    several &= behind > first
    highest = counts[order[first]]
    second = np.where(several, counts[order[behind]], 0)
    group = np.cumsum(np.diff(number, prepend=-1) != 0) - 1
    top = np.zeros(len(pairs), np.bool_)
    top[order[first]] = True
    clipped = np.minimum(counts, np.where(top, second[group], highest[group]))
    matches: Integers = np.bincount(text, clipped, texts).astype(np.int64)
    return matches


def closest_other(lengths: Integers) -> Integers:
    """The length closest to each one, (N,), among the others; the shorter of two. N is 2 or more.

    In the order of their lengths it is one of the two neighbours.
    """
    order = np.argsort(lengths, kind="stable")
    ordered = lengths[order]
    far = np.int64(1 << 62)
    below = np.concatenate(([-far], ordered[:-1]))
    above = np.concatenate((ordered[1:], [far]))
    closest = np.empty_like(ordered)
    closest[order] = np.where(ordered - below <= above - ordered, below, above)
    return closest


def _numbered(keys: Integers | Words) -> Integers:
    """Numbers from 0 that are equal where the keys are."""
    numbers: Integers = np.unique(keys, return_inverse=True)[1].astype(np.int64)
    return numbers
