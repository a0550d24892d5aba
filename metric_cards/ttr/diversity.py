"""Indices of lexical diversity of one text, given the word numbers in reading order."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10, nan, sqrt

import numpy as np

from metrichub.text import Integers

SHORTEST_FACTOR = 10
"""Words that a factor of the `lexical-diversity` variants of MTLD has at least."""


def counted(words: Sequence[int], sample: int) -> dict[str, float]:
    """The indices that need no order of the words."""
    frequencies = np.unique(words, return_counts=True)[1]
    tokens, types = len(words), len(frequencies)
    squares = int((frequencies**2).sum())
    several = tokens > 1
    return {
        "score": types / tokens,
        "root_ttr": types / sqrt(tokens),
        "corrected_ttr": types / sqrt(2 * tokens),
        "log_ttr": log10(types) / log10(tokens) if several else nan,
        "maas": (log10(tokens) - log10(types)) / log10(tokens) ** 2 if several else nan,
        "hdd": hdd(frequencies, min(sample, tokens)),
        "yule_k": 1e4 * (squares - tokens) / tokens**2,
        "yule_i": types**2 / (squares - types) if squares > types else nan,
        "simpson_d": (squares - tokens) / (tokens * (tokens - 1)) if several else nan,
    }


def hdd(frequencies: Integers, sample: int) -> float:
    """HD-D: the expected TTR of `sample` words drawn without replacement."""
    kinds, number = np.unique(frequencies, return_counts=True)
    left, drawn = int(frequencies.sum()), np.arange(sample)
    absent = np.maximum(left - kinds[:, None] - drawn, 0) / (left - drawn)
    return float((number * (1 - absent.prod(axis=1))).sum()) / sample


def mattr(words: Sequence[int], window: int) -> float:
    """The mean TTR of all windows; the TTR of a text that is no longer than one.

    A word is the first of its kind in the windows that start behind its last occurrence.
    """
    tokens = len(words)
    window = min(window, tokens)
    last: dict[int, int] = {}
    total = 0
    for place, word in enumerate(words):
        first = max(last.get(word, -1) + 1, place - window + 1)
        total += max(min(place, tokens - window) - first + 1, 0)
        last[word] = place
    return total / (window * (tokens - window + 1))


def msttr(words: Sequence[int], window: int) -> float:
    """The mean TTR of the segments; words that don't fill the last one are left out."""
    window = min(window, len(words))
    segments = len(words) // window
    different = sum(len(set(words[i * window : (i + 1) * window])) for i in range(segments))
    return different / (window * segments)


def mtld(words: Sequence[int], threshold: float, variant: str) -> float:
    """MTLD in one of four variants; `nan` where a moving one completes no factor."""
    if variant == "wrap":
        return _moving([*words, *words], len(words), threshold)
    if variant == "bidirectional":
        both = (_moving(order, len(words), threshold) for order in (words, words[::-1]))
        return sum(both) / 2
    least = 1 if variant == "mccarthy-jarvis" else SHORTEST_FACTOR
    return (_pass(words, threshold, least) + _pass(words[::-1], threshold, least)) / 2


def _pass(words: Sequence[int], threshold: float, least: int) -> float:
    """The words a factor, in one direction; all words if none repeats.

    In lexical_diversity the last word ends a partial factor, even where it completes one.
    """
    factors, seen, size = 0.0, set[int](), 0
    last = len(words) - 1 if least > 1 else len(words)
    for place, word in enumerate(words):
        seen.add(word)
        size += 1
        if place < last and _complete(len(seen), size, threshold, least):
            factors, seen, size = factors + 1, set(), 0
    if size:
        factors += (1 - len(seen) / size) / (1 - threshold)
    return len(words) / factors if factors else float(len(words))


def _complete(types: int, tokens: int, threshold: float, least: int) -> bool:
    if least == 1:
        return types / tokens <= threshold
    return tokens >= least and types / tokens < threshold


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
        if _complete(len(seen), size, threshold, SHORTEST_FACTOR):
            return size
    return 0
