"""Arguments of instructions: what each may be, and how it is read."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, NamedTuple

Relation = Callable[[int, int], bool]
RELATIONS: dict[str, Relation] = {"less than": operator.lt, "at least": operator.ge}


class Kind(NamedTuple):
    """A kind of argument in words, and how it is read; `ValueError` if it isn't of that kind."""

    words: str
    read: Callable[[Any], Any]


def _count(value: Any) -> int:
    # Tables with typed columns make 3.0 of 3 where other rows have none.
    integral = isinstance(value, Integral) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not integral or value < 0:
        raise ValueError
    return int(value)


def _place(value: Any) -> int:
    if not (place := _count(value)):
        raise ValueError
    return place


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value.strip()


def _letter(value: Any) -> str:
    if len(letter := _text(value)) != 1:
        raise ValueError
    return letter.lower()


def _relation(value: Any) -> Relation:
    if not isinstance(value, str) or value not in RELATIONS:
        raise ValueError
    return RELATIONS[value]


def _patterns(around: str) -> Callable[[Any], Sequence[re.Pattern[str]]]:
    """Reads regular expressions, each between two of `around`; IFEval doesn't escape keywords."""

    def read(value: Any) -> Sequence[re.Pattern[str]]:
        # pandas reads a list from Parquet as an array.
        words = value.tolist() if hasattr(value, "tolist") else value
        words = [words] if isinstance(words, str) else words
        if not isinstance(words, (list, tuple)) or not words:
            raise ValueError
        return [_pattern(f"{around}{_literal(word)}{around}") for word in words]

    return read


def _literal(word: Any) -> str:
    _text(word)
    return str(word)


def _pattern(expression: str) -> re.Pattern[str]:
    try:
        return re.compile(expression, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError):
        raise ValueError from None


def _section(value: Any) -> re.Pattern[str]:
    try:
        return re.compile(rf"\s?{_text(value)}\s?\d+\s?")
    except (re.error, OverflowError, RecursionError):
        raise ValueError from None


def _marker(value: Any) -> re.Pattern[str]:
    """The expression of a marker of a postscript, in a text without capitals."""
    marker = _text(value)
    patterns = {"P.S.": r"p\.\s?s\.", "P.P.S": r"p\.\s?p\.\s?s"}
    return _pattern(patterns.get(marker, marker.lower()))


COUNT = Kind("a whole number from 0", _count)
PLACE = Kind("a whole number from 1", _place)
TEXT = Kind("a text", _text)
LETTER = Kind("one character", _letter)
RELATION = Kind("'less than' or 'at least'", _relation)
KEYWORD = Kind("a regular expression", lambda value: _patterns("")([_text(value)])[0])
KEYWORDS = Kind("a list of regular expressions", _patterns(""))
FORBIDDEN = Kind("a list of regular expressions", _patterns(r"\b"))
SECTION = Kind("a regular expression", _section)
MARKER = Kind("a regular expression", _marker)
