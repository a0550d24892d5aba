"""Whisper's normalizers of transcripts: Radford et al. (2022), appendix C.

The rules and the spellings are those of openai-whisper 20250625; LICENSE is its licence.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from metric_cards._bases.whisper.numbers import numbers_in_digits

_BRACKETS = re.compile(r"[<\[][^>\]]*[>\]]")
_PARENTHESES = re.compile(r"\([^)]+?\)")
_FILLERS = re.compile(r"\b(?:hmm|mm|mhm|mmm|uh|um)\b")
_WORDS = {
    **{"won't": "will not", "can't": "can not", "let's": "let us", "ain't": "aint"},
    **{"y'all": "you all", "i'ma": "i am going to", "ma'am": "madam", "imma": "i am going to"},
    **{"wanna": "want to", "gotta": "got to", "gonna": "going to"},
    **{"woulda": "would have", "coulda": "could have", "shoulda": "should have"},
    **{"mr": "mister ", "mrs": "missus ", "st": "saint ", "dr": "doctor ", "prof": "professor "},
    **{"capt": "captain ", "gov": "governor ", "ald": "alderman ", "gen": "general "},
    **{"sen": "senator ", "rep": "representative ", "pres": "president ", "rev": "reverend "},
    **{"hon": "honorable ", "asst": "assistant ", "assoc": "associate ", "lt": "lieutenant "},
    **{"col": "colonel ", "jr": "junior ", "sr": "senior ", "esq": "esquire "},
}
_PERFECTS = {
    **{"'d been": " had been", "'s been": " has been", "'d gone": " had gone"},
    **{"'s gone": " has gone", "'d done": " had done", "'s got": " has got"},
}
_CLITICS = {
    **{"'re": " are", "'s": " is", "'d": " would", "'ll": " will", "'t": " not"},
    **{"'ve": " have", "'m": " am"},
}
_WHOLE = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b")
_PERFECT = re.compile(rf"(?:{'|'.join(_PERFECTS)})\b")
_CLITIC = re.compile(rf"(?:{'|'.join(_CLITICS)})\b")
_COMMA = re.compile(r"(\d),(\d)")
_POINT = re.compile(r"\.([^0-9]|$)")
_NO_PREFIX = re.compile(r"[.$¢€£]([^0-9])")
_NO_SUFFIX = re.compile(r"([^0-9])%")
_SPACES = re.compile(r"\s+")


class _Basic(dict[int, str]):
    """A table for `str.translate` that makes spaces of marks, symbols and punctuation."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = " " if unicodedata.category(character)[0] in "MSP" else character
        return self[code]


class _English(_Basic):
    """The same, but it drops combining accents and knows letters that none was added to."""

    def __missing__(self, code: int) -> str:
        if unicodedata.category(chr(code)) != "Mn":
            return super().__missing__(code)
        self[code] = ""
        return ""


class _WithMarks(_Basic):
    """The same, but marks of a script's own stay: vowels of India's, which aren't accents."""

    def __missing__(self, code: int) -> str:
        if not _is_own_mark(chr(code)):
            return super().__missing__(code)
        self[code] = chr(code)
        return self[code]


class _EnglishWithMarks(_WithMarks, _English):
    """Both."""


_BASIC = _Basic()
_LETTERS = {
    **{"œ": "oe", "æ": "ae", "ø": "o", "ß": "ss", "đ": "d", "ð": "d", "þ": "th", "ł": "l"},
    **{sign: sign for sign in ".%$¢€£"},
}
_CODES = {ord(character): text for character, text in _LETTERS.items()}
_ENGLISH = _English(_CODES)
_BASIC_WITH_MARKS, _ENGLISH_WITH_MARKS = _WithMarks(), _EnglishWithMarks(_CODES)


def basic(text: str, keep_marks: bool = False) -> str:
    """The text in lower case without brackets, marks, symbols and punctuation, for any language."""
    text = _without_brackets(text.lower())
    text = _form("NFKC", text).translate(_BASIC_WITH_MARKS if keep_marks else _BASIC).lower()
    return _SPACES.sub(" ", text)


def english(text: str, keep_marks: bool = False) -> str:
    """The text in lower case with contractions, titles, numbers and spellings of one form."""
    text = _without_brackets(text.lower())
    if "m" in text or "uh" in text:
        text = _FILLERS.sub("", text)
    if "'" in text:
        text = re.sub(r"\s+'", "'", text)
    # The order of openai-whisper's rules matters only between these groups.
    text = _WHOLE.sub(lambda match: _WORDS[match[0]], text)
    if "'" in text:
        text = _PERFECT.sub(lambda match: _PERFECTS[match[0]], text)
        text = re.sub(r"n't\b", " not", text)
        text = _CLITIC.sub(lambda match: _CLITICS[match[0]], text)
    if "," in text:
        text = _COMMA.sub(r"\1\2", text)
    text = _POINT.sub(r" \1", text)
    text = _form("NFKD", text).translate(_ENGLISH_WITH_MARKS if keep_marks else _ENGLISH)
    words = numbers_in_digits(_form("NFC", text) if keep_marks else text).split()
    text = " ".join(map(_spellings().get, words, words))
    # Signs without a number.
    text = _NO_PREFIX.sub(r" \1", text)
    if "%" in text:
        text = _NO_SUFFIX.sub(r"\1 ", text)
    return _SPACES.sub(" ", text)


NORMALIZERS = {"whisper": english, "whisper-basic": basic}
_FORMS: Mapping[str, Literal["NFKC", "NFKD"]] = {"whisper": "NFKD", "whisper-basic": "NFKC"}


def share_of_marked_words(text: str, normalizer: str) -> float:
    """How many of a text's words have marks of their script's own, which the normalizer drops."""
    if max(text, default="") < _FIRST_MARK:
        return 0.0
    words = _form(_FORMS[normalizer], text).split()
    return sum(map(bool, map(_own_marks().search, words))) / max(len(words), 1)


_FIRST_MARK = "\u0590"
"""Scripts that come before have accents, for which a letter doesn't become another."""


def _is_own_mark(character: str) -> bool:
    """Whether it is a mark of one script, such as a vowel, and no accent or variant of any."""
    if character < _FIRST_MARK or unicodedata.category(character)[0] != "M":
        return False
    name = unicodedata.name(character, "")
    return name.startswith("COMBINING KATAKANA") or not name.startswith(("COMBINING", "VARIATION"))


@cache
def _own_marks() -> re.Pattern[str]:
    marks = filter(_is_own_mark, map(chr, range(0x590, 0x1F000)))
    return re.compile(f"[{''.join(marks)}]")


def _without_brackets(text: str) -> str:
    return _PARENTHESES.sub("", _BRACKETS.sub("", text))


def _form(name: Literal["NFC", "NFKC", "NFKD"], text: str) -> str:
    return text if text.isascii() else unicodedata.normalize(name, text)


@cache
def _spellings() -> dict[str, str]:
    """British spellings with their American ones."""
    spellings: dict[str, str] = json.loads(
        (Path(__file__).parent / "spellings.json").read_text(encoding="utf-8")
    )
    return spellings
