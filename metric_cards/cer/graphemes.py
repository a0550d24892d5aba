"""Graphemes: what a reader takes for one character, near enough to Unicode's rules (UAX 29)."""

from __future__ import annotations

import re
import unicodedata
from functools import cache


def graphemes(text: str) -> list[str]:
    """The graphemes of a text without the whitespace at its ends.

    A character with the marks after it (category M, of which vowel signs and variation selectors
    are), Thai and Lao AM, skin tones and the later letters of a Hangul syllable; what a zero-width
    joiner joins; two regional indicators. Conjuncts of India's scripts aren't joined, and Burmese
    AA is a mark as any other.
    """
    return _grapheme().findall(text.strip())


@cache
def _grapheme() -> re.Pattern[str]:
    marks = filter(lambda c: unicodedata.category(c)[0] == "M", map(chr, range(0x300, 0xE01F0)))
    extending = "".join(marks) + "\u0e33\u0eb3\u200c\u1160-\u11ff\U0001f3fb-\U0001f3ff"
    base = "(?:[\U0001f1e6-\U0001f1ff]{2}|.)"
    # After a joiner, whatever isn't a letter: India's scripts put one inside of conjuncts, too.
    return re.compile(f"{base}(?:[{extending}]|\u200d[^\\w\\s]?)*", re.DOTALL)
