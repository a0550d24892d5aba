"""N-grams of all texts of a corpus as numbers, with the number of what stands before the last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from metrichub.text import Flags, Integers, Words, offsets_of, sort_equal


class Ngrams(NamedTuple):
    """The n-grams of one order in all texts, (G,) each.

    `number` and `text` are those of every n-gram, and `context` is the number of the shorter
    n-gram that it begins with; 0 for single tokens. `order` sorts them by number, then by text;
    `changed` is where the number changes in it, (G+1,).
    """

    number: Integers
    text: Integers
    context: Integers
    order: Integers
    changed: Flags


def numbered_ngrams(
    tokens: Integers | Words, lengths: Integers, max_order: int
) -> Iterator[Ngrams]:
    """The n-grams of orders 1 to K of texts laid end to end; equal ones of an order have a number.

    Numbers start at 0 in each order.
    """
    text = np.repeat(np.arange(len(lengths)), lengths)
    left = np.repeat(offsets_of(lengths)[1:], lengths) - np.arange(len(text))
    tokens, order, changed = _numbered(tokens)
    kinds = int(tokens.max(initial=0)) + 1
    numbers = tokens
    yield Ngrams(numbers, text, np.zeros_like(tokens), order, changed)
    for length in range(2, max_order + 1):
        complete = np.flatnonzero(left >= length)
        context = numbers[complete]
        longer, order, changed = _numbered(context * kinds + tokens[complete + length - 1])
        numbers = np.zeros_like(tokens)
        numbers[complete] = longer
        yield Ngrams(longer, text[complete], context, order, changed)


def _numbered(keys: Integers | Words) -> tuple[Integers, Integers, Flags]:
    """Numbers from 0 that are equal where the keys are and rise as they do, and their order."""
    order, changed = sort_equal(keys.astype(np.uint64, copy=False))
    numbers = np.empty(len(keys), np.int64)
    numbers[order] = np.cumsum(changed[:-1]) - 1
    return numbers, order, changed
