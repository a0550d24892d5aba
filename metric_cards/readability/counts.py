"""What the formulas count in a text, by the rules of their papers or by those of textstat."""

from __future__ import annotations

import re
from itertools import chain
from operator import and_
from typing import NamedTuple

from metric_cards.readability.familiar import easy_words, is_familiar
from metric_cards.readability.syllables import dictionary_syllables, syllables

WORD = re.compile(r"(?:[^\W\d_]\.){2,}|[^\W_]+(?:(?:['’‐‑-]|(?<=\d)[.,:](?=\d))[^\W_]+)*")
"""An abbreviation with points, or letters and digits with what joins them."""

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


def of_papers(text: str) -> Counts:
    """The counts by the papers' rules, of the sentences that sentencex finds.

    A capital inside a sentence marks a name: neither complex nor difficult.
    """
    sentences = _sentences(text)
    words = list(chain.from_iterable(sentences))
    names = {id(word) for sentence in sentences for word in sentence[1:] if word[0].isupper()}
    spoken = [syllables(word) for word in words]
    sizes = [sum(map(str.isalnum, word)) for word in words]
    common = [word for word in words if id(word) not in names]
    return Counts(
        words=len(words),
        sentences=len(sentences),
        syllables=sum(spoken),
        letters=sum(sizes),
        characters=sum(sizes),
        tokens=len(words),
        polysyllables=sum(count >= 3 for count in spoken),
        long_words=sum(size > LONG for size in sizes),
        complex_words=sum(map(_is_complex, common)),
        difficult_words=sum(not is_familiar(word) for word in common),
    )


def of_textstat(text: str) -> Counts:
    """The counts of textstat 0.7.13, where syllables come from a dictionary first."""
    words = _textstat_words(text)
    spoken = [dictionary_syllables(word) for word in words]
    lower = [word.lower() for word in words]
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


def _sentences(text: str) -> list[list[str]]:
    """The words of each sentence that has any."""
    from sentencex import segment

    # sentencex takes no lone surrogates; no word holds one.
    readable = text.encode("utf-8", "replace").decode()
    found = (WORD.findall(sentence) for sentence in segment("en", readable))
    return [words for words in found if words]


def _is_complex(word: str) -> bool:
    """Whether a part has three syllables, not counting an -ed or -es that is one of them."""
    return any(_hard_syllables(part) >= 3 for part in re.split("[‐‑-]", word))


def _hard_syllables(word: str) -> int:
    ending = re.search(r"(?:[td]ed|(?:[sxzcg]|ch|sh)es)$", word.lower())
    return syllables(word) - bool(ending)


def _textstat_words(text: str) -> list[str]:
    return _MARK.sub("", _OTHER_APOSTROPHE.sub("", text)).split()
