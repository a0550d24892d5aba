"""Texts that have UTF-8, as tokenizers and splitters of other libraries need them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from itertools import chain


def mixed_forms(columns: Iterable[Iterable[str]]) -> set[str]:
    r"""The characters that occur both composed (NFC) and as a letter with its marks (NFD).

    >>> mixed_forms([["caf\u00e9"], ["cafe\u0301", "n\u0303"]]) == {"\u00e9"}
    True
    """
    text = "\n".join(chain.from_iterable(columns))
    if unicodedata.is_normalized("NFC", text):
        return set()
    before, after = Counter(text), Counter(unicodedata.normalize("NFC", text))
    return {
        character
        for character, number in after.items()
        if number > before[character] > 0 and not unicodedata.is_normalized("NFD", character)
    }


def well_formed(text: str) -> str:
    r"""The text with each lone surrogate replaced by U+FFFD; nothing else changes.

    >>> well_formed("a\ud800b") == "a\ufffdb"
    True
    """
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def segments(text: str, language: str = "en") -> list[str]:
    """The sentences that sentencex finds; it takes neither lone surrogates nor "J\u00a0."."""
    from sentencex import segment

    readable = text if text.isascii() else _WIDE_SPACE.sub(" ", well_formed(text))
    return list(segment(language, readable))


_WIDE_SPACE = re.compile(r"[^\S\x00-\x7f](?=\.)")
