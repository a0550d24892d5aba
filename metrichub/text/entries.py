"""Entries: how often every n-gram of a corpus occurs in every text, as sparse vectors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from metrichub.text.ragged import Flags, Integers, offsets_of
from metrichub.text.ranks import rank
from metrichub.text.tokens import Tokens

BITS = 64


class Entries:
    """The n-grams of one order: E pairs of an n-gram and a text that has it, of S texts.

    They are sorted by n-gram, then by text. `starts` says where a new n-gram begins, (E,).
    """

    def __init__(self, starts: Flags, text: Integers, count: Integers) -> None:
        self.starts, self.text, self.count = starts, text, count

    @cached_property
    def gram(self) -> Integers:
        """The number of the n-gram, from 0, (E,)."""
        numbers: Integers = np.cumsum(self.starts) - 1
        return numbers

    def limits(self, group: Integers) -> Integers:
        """Where a new pair of an n-gram and a group of texts begins, and E, (P+1,).

        `group` says for every text, (S,), in which group it is; the groups are in order.
        """
        of = group[self.text]
        begins = self.starts.copy()
        begins[1:] |= of[1:] != of[:-1]
        return np.append(np.flatnonzero(begins), len(begins))


def ngram_entries(tokens: Tokens, max_order: int) -> Iterator[Entries]:
    """The entries of all texts together, for orders 1 to K."""
    total = len(tokens.starts)
    words = rank(tokens, np.array([0, total])).astype(np.uint64)
    bits = np.uint64(int(words.max(initial=1)).bit_length())
    text = np.repeat(np.arange(len(tokens.lengths)), tokens.lengths)
    left = np.repeat(tokens.offsets[1:], tokens.lengths) - np.arange(total)
    names = words
    for order in range(1, max_order + 1):
        at = np.flatnonzero(left >= order)
        if order > 1:
            names = names[at] << bits | words[at + order - 1]
        where, changed = _sorted(names)
        of = text[at[where]]
        begins = changed.copy()
        begins[1:] |= of[1:] != of[:-1]
        first = np.flatnonzero(begins)
        yield Entries(changed[first], of[first], np.diff(first, append=len(of)))
        if order < max_order:
            names = _numbered(where, changed, at, total)


def _sorted(names: Integers) -> tuple[Integers, Flags]:
    """The order that brings equal names together, and where a new name begins in it, (T,)."""
    width = len(names).bit_length()
    if int(names.max(initial=0)).bit_length() + width > BITS:
        where = np.argsort(names, kind="stable")
        found = names[where]
    else:
        low = np.uint64((1 << width) - 1)
        keys = names << np.uint64(width) | np.arange(len(names), dtype=np.uint64)
        keys.sort()
        where, found = (keys & low).astype(np.int64), keys >> np.uint64(width)
    changed = np.ones(len(names), np.bool_)
    np.not_equal(found[1:], found[:-1], out=changed[1:])
    return where, changed


def _numbered(where: Integers, changed: Flags, at: Integers, total: int) -> Integers:
    """The number of the name at every place of the text, 0 where there is none, (total,)."""
    numbers = np.zeros(total, np.uint64)
    numbers[at[where]] = np.cumsum(changed)
    return numbers
