"""Answer texts: short answers as the scripts of question answering normalize and compare them."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import NamedTuple

from metrichub.text import Texts

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)
_BLANKS = str.maketrans(dict.fromkeys(string.punctuation + "‘’´`", " "))


class Rates(NamedTuple):
    """F1, precision and recall of one answer."""

    f1: float = 0.0
    precision: float = 0.0
    recall: float = 0.0


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
