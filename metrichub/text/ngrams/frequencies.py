"""N-gram counts: how often the n-grams of a whole corpus occur in each of its texts.

Most long n-grams occur once. These are recognized without sorting them: an n-gram occurs once if
its beginning or its end does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from metrichub.text.ngrams.interning import intern_tokens
from metrichub.text.ragged import Flags, Integers, sort_equal
from metrichub.text.tokenize.tokens import Tokens


@dataclass(frozen=True, eq=False)
class NgramCounts:
    """The n-grams of one order in S texts.

    E pairs of an n-gram and a text that has it, for the n-grams that occur more than once, sorted
    by n-gram, then by text; and the n-grams that occur once.

    Attributes:
        starts: whether the pair is the first of its n-gram, (E,).
        text: the number of the text, (E,).
        count: how often it has the n-gram, (E,).
        single: the text of every n-gram that occurs once, (L,).
    """

    starts: Flags
    text: Integers
    count: Integers
    single: Integers

    def all(self) -> NgramCounts:
        """The same, but with pairs for n-grams that occur once too."""
        ones = np.ones(len(self.single), np.int64)
        return NgramCounts(
            np.concatenate((self.starts, ones > 0)),
            np.concatenate((self.text, self.single)),
            np.concatenate((self.count, ones)),
            self.single[:0],
        )

    def limits(self, group: Integers) -> Integers:
        """Where each new pair of an n-gram and a group of texts begins, and E, (P+1,).

        `group` has the group of each text, (S,), in ascending order.
        """
        return _limits(self.starts, group[self.text])


def ngram_counts(tokens: Tokens, max_order: int) -> Iterator[NgramCounts]:
    """The n-gram counts of all texts together, for orders 1 to K."""
    total = len(tokens.starts)
    words = intern_tokens(tokens, np.array([0, total])).astype(np.uint64)
    bits = np.uint64(int(words.max(initial=1)).bit_length())
    text = np.repeat(np.arange(len(tokens.lengths)), tokens.lengths)
    names, at = words, np.arange(total)
    single = np.zeros(0, np.int64)
    for order in range(1, max_order + 1):
        where, changed = sort_equal(names)
        once = changed[:-1] & changed[1:]
        several = ~once
        where, starts = at[where], changed[:-1][several]
        single = np.concatenate((single, where[once]))
        where = where[several]
        of = text[where]
        limits = _limits(starts, of)
        first = limits[:-1]
        yield NgramCounts(starts[first], of[first], np.diff(limits), text[single])
        if order < max_order:
            numbers = np.zeros(total + 1, np.uint64)
            numbers[where] = np.cumsum(starts)
            # A longer n-gram may occur twice if its beginning and its end do.
            inside = text[:-order] == text[order:]
            twice = (numbers[: -order - 1] > 0) & (numbers[1:-order] > 0)
            at, single = np.flatnonzero(inside & twice), np.flatnonzero(inside & ~twice)
            names = numbers[at] << bits | words[at + order]


def _limits(starts: Flags, group: Integers) -> Integers:
    begins = np.append(starts, True)
    begins[1:-1] |= group[1:] != group[:-1]
    return np.flatnonzero(begins)
