"""Indices of lexical diversity of every text of a column, (N,) each.

What they are for a text without words means nothing.
"""

from __future__ import annotations

from functools import lru_cache
from math import log10, nan, sqrt

import numpy as np

from metrichub.authoring import Array
from metrichub.text import (
    Flags,
    Integers,
    InternedIds,
    offsets_of,
    positions_within,
    row_sums,
    sort_equal,
    spans,
)

Equal = tuple[Integers, Flags]
"""An order that brings equal words of a text together, (T,), and where they change, (T+1,)."""

COUNTED = (
    *("score", "root_ttr", "corrected_ttr", "log_ttr", "maas", "hdd", "yule_k", "yule_i"),
    "simpson_d",
)


def counted(words: InternedIds, equal: Equal, sample: int) -> dict[str, Array]:
    """The indices that need no order of the words."""
    order, changed = equal
    limits = np.flatnonzero(changed)
    text = _texts(words)[order[limits[:-1]]]
    frequencies = np.diff(limits)
    # Texts with the same frequencies, which most short ones have, have the same indices.
    order = np.lexsort((frequencies, text))
    data = frequencies[order].astype(np.uint32).tobytes()
    ends = offsets_of(np.bincount(text, minlength=len(words.offsets) - 1)) * 4
    texts = [data[start:end] for start, end in spans(ends)]
    kinds = {kind: number for number, kind in enumerate(dict.fromkeys(texts))}
    rows = [_of_frequencies(kind, sample) for kind in kinds]
    table = np.array(rows, np.float64).reshape(-1, len(COUNTED))
    table = table[np.fromiter(map(kinds.__getitem__, texts), np.int64, len(texts))]
    return dict(zip(COUNTED, table.T, strict=True))


@lru_cache(maxsize=1 << 14)
def _of_frequencies(data: bytes, sample: int) -> tuple[float, ...]:
    """The counted indices of a text with these frequencies of words, in rising order."""
    frequencies = np.frombuffer(data, np.uint32).astype(np.int64)
    tokens, types = int(frequencies.sum()), len(frequencies)
    if not tokens:
        return (nan,) * len(COUNTED)
    squares = int((frequencies**2).sum())
    several = tokens > 1
    return (
        types / tokens,
        types / sqrt(tokens),
        types / sqrt(2 * tokens),
        log10(types) / log10(tokens) if several else nan,
        (log10(tokens) - log10(types)) / log10(tokens) ** 2 if several else nan,
        hdd(frequencies, min(sample, tokens)),
        1e4 * (squares - tokens) / tokens**2,
        types**2 / (squares - types) if squares > types else nan,
        (squares - tokens) / (tokens * (tokens - 1)) if several else nan,
    )


def hdd(frequencies: Integers, sample: int) -> float:
    """HD-D: the expected TTR of `sample` words drawn without replacement."""
    kinds, number = np.unique(frequencies, return_counts=True)
    left, drawn = int(frequencies.sum()), np.arange(sample)
    absent = np.maximum(left - kinds[:, None] - drawn, 0) / (left - drawn)
    return float((number * (1 - absent.prod(axis=1))).sum()) / sample


def mattr(words: InternedIds, before: Integers, window: int) -> Array:
    """The mean TTR of all windows; the TTR of a text that is no longer than one.

    A word is the first of its kind in the windows that start behind its last occurrence, `before`.
    """
    tokens = np.diff(words.offsets)
    place, size = _places(words), np.minimum(window, tokens)
    windows, width = (np.repeat(each, tokens) for each in (tokens - size, size))
    first = np.maximum(before + 1, place - width + 1)
    total = row_sums(np.maximum(np.minimum(place, windows) - first + 1, 0), words.offsets)
    return _divided(total, size * (tokens - size + 1))


def msttr(words: InternedIds, before: Integers, window: int) -> Array:
    """The mean TTR of the segments; words that don't fill the last one are left out."""
    tokens = np.diff(words.offsets)
    size = np.minimum(window, tokens)
    segments = tokens // np.maximum(size, 1)
    place, width = _places(words), np.repeat(size, tokens)
    start = place // width * width
    new = (before < start) & (start < np.repeat(segments * size, tokens))
    return _divided(row_sums(new, words.offsets), size * segments)


def previous(words: InternedIds, equal: Equal) -> Integers:
    """Where each word stands in its text for the last time before, or -1, (T,)."""
    order, changed = equal
    place = _places(words)
    earlier = np.full(len(place), -1)
    same = ~changed[1:-1]
    earlier[order[1:][same]] = place[order[:-1][same]]
    return earlier


def equal_words(words: InternedIds) -> Equal:
    """The order of the words of all texts."""
    names = _texts(words) * (words.ids.max(initial=0) + 1) + words.ids
    return sort_equal(names.astype(np.uint64))


def _texts(words: InternedIds) -> Integers:
    return np.repeat(np.arange(len(words.offsets) - 1), np.diff(words.offsets))


def _places(words: InternedIds) -> Integers:
    return positions_within(words.offsets)


def _divided(total: Integers, by: Integers) -> Array:
    quotient: Array = total / np.maximum(by, 1)
    return quotient
