"""Answer texts: short answers as the scripts of question answering normalize and compare them."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import NamedTuple

from metrichub.errors import Doubt
from metrichub.text import Texts

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)
_BLANKS = str.maketrans(dict.fromkeys(string.punctuation + "‘’´`", " "))


_NUMBER = re.compile(r"(?:(?<![^\s(\[\"'])[-\u2212])?\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
_SIGNS = frozenset("+#<>=")


class Rates(NamedTuple):
    """F1, precision and recall of one answer."""

    f1: float = 0.0
    precision: float = 0.0
    recall: float = 0.0


def differ_in_meaning(first: str, other: str) -> bool:
    """Whether answers that normalization makes equal differ in signs or numbers, or are articles.

    "-5" and "5" do, "1.5" and "15", "C" and "C++", "A" and "The"; "1,000" and "1000" don't.
    """
    if first.strip().lower() == other.strip().lower():
        return False
    return not answer_tokens(first) or _marks(first) != _marks(other)


def _marks(text: str) -> tuple[list[str], list[str]]:
    """The numbers of a text with their signs, and its other signs."""
    numbers = [_THOUSANDS.sub("", n.replace("\u2212", "-")) for n in _NUMBER.findall(text)]
    return numbers, [c for c in text if c in _SIGNS]


def loose_matches(number: int, remedy: str) -> Doubt:
    """The doubt about so many matches of answers that differ."""
    differ = "1 match differs" if number == 1 else f"{number} matches differ"
    what = "in signs, points of numbers or articles only (such as '-5' and '5', or 'A' and 'The')"
    return Doubt(f"{differ} {what}, which the normalization deletes; {remedy}", "deleted answers")


@lru_cache(maxsize=1 << 16)
def answer_tokens(text: str) -> tuple[str, ...]:
    """The words in lower case, without ASCII punctuation and the English articles, as in SQuAD."""
    return tuple(_ARTICLES.sub(" ", text.lower().translate(_WITHOUT_PUNCTUATION)).split())


def shared_tokens(predicted: Sequence[Hashable], expected: Sequence[Hashable]) -> Rates:
    """How far two bags of tokens agree; all is 0 if they share none."""
    shared = (Counter(predicted) & Counter(expected)).total()
    if not shared:
        return Rates()
    return Rates(
        2 * shared / (len(predicted) + len(expected)),
        shared / len(predicted),
        shared / len(expected),
    )


def blanked(texts: Texts) -> Texts:
    """The texts with blanks for ASCII punctuation and four quotes, which TriviaQA drops so."""
    return texts.cached("blanked", lambda: Texts([text.translate(_BLANKS) for text in texts]))
