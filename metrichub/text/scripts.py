"""Scripts: the letters of a column by script, and what a tokenizer makes of each script.

Most tokenizers look for spaces. Of a script that has none they make a token of a whole clause, and
a score then says whether clauses are equal, not how alike they are.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from metrichub.text.ragged import Bytes, Flags, Integers, row_sums
from metrichub.text.tokenize.characters import GAP, Characters
from metrichub.text.tokenize.reference import TOKENIZERS, category
from metrichub.text.tokenize.tokenizers import SACREBLEU, SPACES, Classes, Tokenizer

OTHER, LATIN, EMOJI = "other", "Latin", "emoji"

EXAMPLES = {
    OTHER: "яя",
    LATIN: "éé",
    EMOJI: "🙂🙃",
    "Han": "中文",
    "kana": "かな",
    "Thai": "ไทย",
    "Lao": "ລາວ",
    "Khmer": "ខ្មែរ",
    "Myanmar": "မြန်မာ",
    "Tibetan": "བོད་ཡིག",
    "Javanese": "ꦗꦮ",
    "Balinese": "ᬩᬮ",
    "Tai Tham": "ᨲᩅ",
    "Tai Le": "ᥖᥭ",
    "New Tai Lue": "ᦑᦺ",
}
"""Two letters or more of every script without spaces, of Latin beyond ASCII, emoji, and others."""

_NAMES = {
    "Han": ("CJK ", "IDEOGRAPHIC ", "HANGZHOU NUMERAL"),
    "kana": ("HIRAGANA", "HENTAIGANA", "KATAKANA", "HALFWIDTH KATAKANA"),
}
"""How the Unicode names of letters begin, where not with the name of their script."""

_SCRIPTS = tuple(EXAMPLES)
_BEGINNINGS = tuple(
    _NAMES.get(script, (f"{script.upper()} ",)) if script not in (OTHER, EMOJI) else ()
    for script in _SCRIPTS
)
_NO_LETTER, _ASCII = 1, 2
_FIRST = 3
_UNSPACED = _EMOJI = _FIRST + _SCRIPTS.index(EMOJI)
_FIRST_EMOJI = "\u2600"


WORDS, LETTERS = 3, 4
"""A text of so many words with no more letters each on average has been cut into words already."""


@dataclass(frozen=True)
class ScriptCounts:
    """The letters and digits of a column, emoji too.

    Attributes:
        total: all of them.
        beyond_ascii: those that aren't ASCII, by script.
        joined: those of scripts without spaces that stand beside another between two spaces, but
            for texts whose words somebody has set apart.
    """

    total: int
    beyond_ascii: dict[str, int]
    joined: dict[str, int]

    @classmethod
    def of(cls, characters: Characters) -> ScriptCounts:
        """The counts of a column's characters."""
        kinds = _KINDS.of(characters)
        ascii_letters = int(np.count_nonzero(kinds == _ASCII))
        if characters.is_ascii:
            return cls(ascii_letters, {}, {})
        beyond_ascii = _by_script(kinds)
        at = np.flatnonzero(kinds >= _UNSPACED)
        joined = _by_script(kinds[at][_joined(characters, at)]) if len(at) else {}
        return cls(ascii_letters + sum(beyond_ascii.values()), beyond_ascii, joined)


def mostly(characters: Characters, scripts: Collection[str]) -> Flags:
    """Which rows have over half of their letters and digits in some scripts, (R,).

    ASCII letters are of no script, and emoji don't count as letters here.
    """
    kinds = _KINDS.of(characters)
    letters = (kinds >= _ASCII) & (kinds != _EMOJI)
    chosen = letters & np.isin(kinds, [_FIRST + _SCRIPTS.index(script) for script in scripts])
    part, others = (row_sums(of, characters.rows) for of in (chosen, letters & ~chosen))
    majority: Flags = part > others
    return majority


@lru_cache(maxsize=1 << 10)
def treatment(tokenizer: Tokenizer, script: str) -> Literal["cut", "uncut", "dropped"]:
    """How a tokenizer treats the letters of a script, seen from its tokens of an example."""
    if isinstance(tokenizer, str):
        # These were trained, or bring a dictionary, to cut what has no spaces.
        if tokenizer in SACREBLEU:
            return "cut"
        tokenizer = TOKENIZERS[tokenizer]
    tokens = len(tokenizer(EXAMPLES[script]))
    return "cut" if tokens > 1 else "uncut" if tokens else "dropped"


@lru_cache(maxsize=1 << 10)
def dropped_scripts(tokenizer: Tokenizer) -> frozenset[str]:
    """The scripts of which a tokenizer keeps no letter."""
    return frozenset(s for s in EXAMPLES if s != EMOJI and treatment(tokenizer, s) == "dropped")


def _kind(character: str) -> int:
    if character.isascii():
        return _ASCII if character.isalnum() else _NO_LETTER
    if unicodedata.category(character) == "So" and character >= _FIRST_EMOJI:
        return _FIRST + _SCRIPTS.index(EMOJI)
    if category(character) not in "LN":
        return _NO_LETTER
    name = unicodedata.name(character, "")
    matches = (n for n, starts in enumerate(_BEGINNINGS) if name.startswith(starts))
    return _FIRST + next(matches, _SCRIPTS.index(OTHER))


_KINDS = Classes(_kind)


def _by_script(kinds: Bytes) -> dict[str, int]:
    counts = np.bincount(kinds, minlength=_FIRST + len(_SCRIPTS))[_FIRST:].tolist()
    return {script: number for script, number in zip(_SCRIPTS, counts, strict=True) if number}


def _joined(characters: Characters, at: Integers) -> Integers:
    """Which of the letters at some positions, (L,), are `ScriptCounts.joined`."""
    chunk = np.cumsum(SPACES.of(characters) == GAP)[at]
    first = np.flatnonzero(np.diff(chunk, prepend=-1))
    sizes = np.diff(first, append=len(at))
    row = np.searchsorted(characters.rows, at[first], side="right")
    words, letters = np.bincount(row), np.bincount(row, sizes)
    cut = (words >= WORDS) & (letters <= LETTERS * words)
    return np.flatnonzero(np.repeat((sizes > 1) & ~cut[row], sizes))
