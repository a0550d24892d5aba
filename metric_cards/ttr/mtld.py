"""MTLD: the mean number of words after which the TTR of a text has fallen to a threshold."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from operator import itemgetter

import numpy as np

from metrichub.authoring import Array
from metrichub.text import Integers, InternedIds

SHORTEST_FACTOR = 10
"""Words that a factor of the `lexical-diversity` variants of MTLD has at least."""


def mtld(words: InternedIds, before: Integers, threshold: float, variant: str) -> Array:
    """MTLD in one of four variants, (N,); `nan` where a moving one completes no factor.

    `before` is where each word stands in its text for the last time before, or -1, (T,).
    """
    if variant == "mccarthy-jarvis":
        return _by_repeats(words.offsets, before, threshold)
    values = (_of_text(text, threshold, variant) if text else nan for text in words.lists)
    return np.array(list(values), np.float64)


def _by_repeats(offsets: Integers, before: Integers, threshold: float) -> Array:
    """The mean of both directions, read off the words that their text has had before.

    The TTR falls at such words alone, and they are few.
    """
    sizes = np.diff(offsets)
    values = sizes.astype(np.float64)
    repeats = np.flatnonzero(before >= 0)
    limits = np.searchsorted(repeats, offsets)
    numbers = np.diff(limits)
    some = np.flatnonzero(numbers)
    size, repeated = sizes[some], numbers[some]
    # Most texts complete no factor: all of it is one part of a factor, in both directions.
    values[some] = size / ((1 - (size - repeated) / size) / (1 - threshold))
    earlier, place = before[repeats], repeats - np.repeat(offsets[:-1], numbers)
    text = np.repeat(np.arange(len(sizes)), numbers)
    for row in _completing(offsets, text, limits, earlier, place, threshold):
        part, length = slice(limits[row], limits[row + 1]), int(sizes[row])
        pairs = list(zip(earlier[part].tolist(), place[part].tolist(), strict=True))
        backwards = [(length - 1 - last, length - 1 - first) for first, last in pairs]
        backwards.sort(key=itemgetter(1))
        both = (_words(direction, length, threshold) for direction in (pairs, backwards))
        values[row] = sum(both) / 2
    return values


def _completing(
    offsets: Integers,
    text: Integers,
    limits: Integers,
    earlier: Integers,
    place: Integers,
    threshold: float,
) -> list[int]:
    """The texts that complete a factor in one direction: the first, which starts with the text.

    Each repeated word has its `text`, its own `place` there, and the `earlier` one of its kind.
    """
    repeated = np.arange(len(text)) - limits[text] + 1
    falls = (place + 1 - repeated) / (place + 1) <= threshold
    # Read backwards, the earlier word is the repeated one; those behind it came before.
    first = np.zeros(int(offsets[-1]) + 1, np.int64)
    first[offsets[text] + earlier + 1] = 1
    passed = np.cumsum(first)
    tokens = offsets[text + 1] - offsets[text] - earlier
    repeated = passed[offsets[text + 1]] - passed[offsets[text] + earlier]
    falls |= (tokens - repeated) / tokens <= threshold
    texts: list[int] = np.unique(text[falls]).tolist()
    return texts


def _words(repeats: list[tuple[int, int]], size: int, threshold: float) -> float:
    """The words a factor, in one direction; all words if no factor holds a repeated one.

    `repeats` are the places of words that were there before, the earlier and their own.
    """
    factors, start, repeated = 0.0, 0, 0
    for earlier, place in repeats:
        if earlier >= start:
            repeated += 1
            tokens = place - start + 1
            if (tokens - repeated) / tokens <= threshold:
                factors, start, repeated = factors + 1, place + 1, 0
    if left := size - start:
        factors += (1 - (left - repeated) / left) / (1 - threshold)
    return size / factors if factors else float(size)


def _of_text(words: list[int], threshold: float, variant: str) -> float:
    if variant == "wrap":
        return _moving([*words, *words], len(words), threshold)
    if variant == "bidirectional":
        both = (_moving(order, len(words), threshold) for order in (words, words[::-1]))
        return sum(both) / 2
    return (_pass(words, threshold) + _pass(words[::-1], threshold)) / 2


def _pass(words: Sequence[int], threshold: float) -> float:
    """The words a factor as lexical_diversity counts them; all words if none repeats.

    The last word ends a partial factor, even where it completes one.
    """
    factors, seen, size = 0.0, set[int](), 0
    last = len(words) - 1
    for place, word in enumerate(words):
        seen.add(word)
        size += 1
        if place < last and _complete(len(seen), size, threshold):
            factors, seen, size = factors + 1, set(), 0
    if size:
        factors += (1 - len(seen) / size) / (1 - threshold)
    return len(words) / factors if factors else float(len(words))


def _complete(types: int, tokens: int, threshold: float) -> bool:
    return tokens >= SHORTEST_FACTOR and types / tokens < threshold


def _moving(words: Sequence[int], starts: int, threshold: float) -> float:
    """The mean length of the factors that start at the first words; `nan` if none is complete."""
    lengths = [_factor(words[start:], threshold) for start in range(starts)]
    complete = [length for length in lengths if length]
    return sum(complete) / len(complete) if complete else nan


def _factor(words: Sequence[int], threshold: float) -> int:
    """The length of the factor that these words start with; 0 if they run out."""
    seen = set[int]()
    for size, word in enumerate(words, start=1):
        seen.add(word)
        if _complete(len(seen), size, threshold):
            return size
    return 0
