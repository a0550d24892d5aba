"""Syllables of words: of English ones from the CMU dictionary, else from hyphenation patterns."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache

from metrichub.errors import MissingDependency

INSTALL = "pip install 'metrichub[readability]'"

ENGLISH = "en"
_JOINT = re.compile(r"[^\w'’]+")


@lru_cache(maxsize=1 << 17)
def syllables(word: str, language: str = ENGLISH) -> int:
    """The syllables of a word, at least 1; of a compound those of its parts."""
    parts = filter(None, _JOINT.split(word.replace("’", "'")))
    return sum(max(_simple(part, language), 1) for part in parts)


@lru_cache(maxsize=1 << 17)
def dictionary_syllables(word: str, language: str = ENGLISH) -> int:
    """The syllables of a word by the dictionary, else by patterns: textstat's rule."""
    lower = word.lower()
    syllables = _dictionary() if language == ENGLISH else {}
    return syllables[lower] if lower in syllables else _by_patterns(lower, language)


def _simple(word: str, language: str) -> int:
    lower = word.lower()
    if language != ENGLISH:
        return _by_patterns(lower, language)
    syllables = _dictionary()
    if lower in syllables:
        return syllables[lower]
    stem = lower.removesuffix("'s")
    return syllables[stem] if stem in syllables else _by_patterns(stem)


def _by_patterns(word: str, language: str = ENGLISH) -> int:
    return len(_hyphens(language)(word)) + 1


@cache
def _dictionary() -> Mapping[str, int]:
    try:
        from pysyllables import SYLLABLE_COUNTS
    except ImportError:
        raise MissingDependency("readability", "pysyllables", INSTALL) from None
    counts: Mapping[str, int] = SYLLABLE_COUNTS
    return counts


@cache
def _hyphens(language: str) -> Callable[[str], list[int]]:
    """A function from a word to the places where it may be hyphenated."""
    try:
        from pyphen import Pyphen
    except ImportError:
        raise MissingDependency("readability", "pyphen", INSTALL) from None
    positions: Callable[[str], list[int]] = Pyphen(
        lang="en_US" if language == ENGLISH else language
    ).positions
    return positions
