"""The counts of a text that formulas use, by the rules of their papers or of textstat."""

from __future__ import annotations

import re
from functools import lru_cache
from operator import and_
from typing import NamedTuple

from metric_cards.readability.familiar import easy_words, is_familiar
from metric_cards.readability.syllables import ENGLISH, dictionary_syllables, syllables
from metrichub.text import segments

WORD = re.compile(r"(?:[^\W\d_]\.){2,}|[^\W_]+(?:(?:['’‐‑-]|(?<=\d)[.,:](?=\d))[^\W_]+)*")
"""An abbreviation with points, or letters and digits with what joins them."""

_LATIN = re.compile(r"[a-z0-9À-ÖØ-öø-ɏḀ-ỿ]+", re.IGNORECASE)
_CYRILLIC = re.compile(r"[0-9\u0400-\u052f]+")

LONG = 6
"""A long word, for LIX and RIX, has more letters."""

# textstat takes an apostrophe before one of these endings for a contraction's.
_OTHER_APOSTROPHE = re.compile(r"'(?![tsd]|ve|ll|re)")
_MARK = re.compile(r"[^\w\s']")
_ANY_MARK = re.compile(r"[^\w\s]")
_SENTENCE = re.compile(r"\b[^.!?]+[.!?]*")


class Counts(NamedTuple):
    """Counts of one text.

    `characters` and `tokens` are what ARI counts. `polysyllables` have three syllables or more;
    `complex_words` are those of Gunning's fog index, `difficult_words` those of Dale and Chall.
    """

    words: int
    sentences: int
    syllables: int
    letters: int
    characters: int
    tokens: int
    polysyllables: int
    long_words: int
    complex_words: int
    difficult_words: int


def cyrillic_words(text: str) -> list[str]:
    """The runs of Cyrillic letters and digits, for Russian."""
    return _CYRILLIC.findall(text)


def latin_words(text: str) -> list[str]:
    """The runs of Latin letters and digits, of which alone the formulas know the syllables."""
    return _LATIN.findall(text)


def of_papers(text: str, language: str = ENGLISH) -> Counts:
    """The counts by the papers' rules, of the sentences that sentencex finds.

    A capital inside a sentence marks a name: neither complex nor difficult.
    """
    sentences = _sentences(text, language)
    words = [
        _as_name(word, language) if place and word[0].isupper() else _of_word(word, language)
        for sentence in sentences
        for place, word in enumerate(sentence)
    ]
    sums = _Word(*map(sum, zip(*words, strict=True))) if words else _NONE
    return Counts(
        words=len(words),
        sentences=len(sentences),
        syllables=sums.syllables,
        letters=sums.letters,
        characters=sums.letters,
        tokens=len(words),
        polysyllables=sums.polysyllable,
        long_words=sums.long,
        complex_words=sums.complex,
        difficult_words=sums.difficult,
    )


class _Word(NamedTuple):
    """The counts of one word."""

    syllables: int
    letters: int
    polysyllable: int
    long: int
    complex: int
    difficult: int


_NONE = _Word(0, 0, 0, 0, 0, 0)


@lru_cache(maxsize=1 << 17)
def _of_word(word: str, language: str) -> _Word:
    spoken, size = syllables(word, language), sum(map(str.isalnum, word))
    english = language == ENGLISH
    is_complex, is_hard = english and _is_complex(word), english and not is_familiar(word)
    several, is_long = spoken >= 3, size > LONG
    return _Word(spoken, size, int(several), int(is_long), int(is_complex), int(is_hard))


@lru_cache(maxsize=1 << 17)
def _as_name(word: str, language: str) -> _Word:
    return _of_word(word, language)._replace(complex=0, difficult=0)


def of_textstat(text: str, language: str) -> Counts:
    """The counts of textstat 0.7.13, where syllables come from a dictionary first."""
    words = _textstat_words(text)
    spoken = [dictionary_syllables(word, language) for word in words]
    lower = [word.lower() for word in words] if language == ENGLISH else []
    hard = [word not in easy_words() for word in lower]
    # Hard words are cleaned again in lower case, where "İ" has got a mark.
    long = [dictionary_syllables(_MARK.sub("", word)) >= 3 for word in lower]
    bare = _ANY_MARK.sub("", text)
    runs = _SENTENCE.findall(text)
    longer = sum(len(_textstat_words(run)) > 2 for run in runs)
    return Counts(
        words=len(words),
        sentences=max(longer, 1) if text else 0,
        syllables=sum(spoken),
        letters=sum(map(len, bare.split())),
        characters=sum(map(len, text.split())),
        tokens=len(text.split()),
        polysyllables=sum(count >= 3 for count in spoken),
        long_words=sum(len(word) > LONG for word in bare.split()),
        complex_words=sum(map(and_, hard, long)),
        difficult_words=sum(hard),
    )


def _sentences(text: str, language: str) -> list[list[str]]:
    """The words of each sentence that has any."""
    by_sentence = (WORD.findall(sentence) for sentence in segments(text, language))
    return [words for words in by_sentence if words]


def _is_complex(word: str) -> bool:
    """Whether a part has three syllables, not counting an -ed or -es that is one of them."""
    return any(_hard_syllables(part) >= 3 for part in re.split("[‐‑-]", word))


def _hard_syllables(word: str) -> int:
    ending = re.search(r"(?:[td]ed|(?:[sxzcg]|ch|sh)es)$", word.lower())
    return syllables(word) - bool(ending)


def _textstat_words(text: str) -> list[str]:
    return _MARK.sub("", _OTHER_APOSTROPHE.sub("", text)).split()
