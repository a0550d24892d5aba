"""The words that Dale and Chall found familiar, and their regular inflections."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

from metric_cards.readability.syllables import INSTALL
from metrichub.errors import MissingDependency

_ENDINGS = (
    *(("ies", "y"), ("es", ""), ("s", ""), ("'s", ""), ("s'", "s"), ("ied", "y"), ("ed", "")),
    *(("d", ""), ("n", ""), ("ing", ""), ("ing", "e"), ("ier", "y"), ("er", ""), ("r", "")),
    *(("iest", "y"), ("est", ""), ("st", ""), ("n't", ""), ("'ll", ""), ("'re", "")),
    *(("'ve", ""), ("'d", ""), ("'m", "")),
)
"""Endings that leave a word familiar, and what stands in their place in the list."""


@lru_cache(maxsize=1 << 17)
def is_familiar(word: str) -> bool:
    """Whether every part is a number, in the list, or a regular inflection of a word in it."""
    parts = re.split("[‐‑-]", word.lower().replace("’", "'"))
    easy = easy_words()
    return all(
        part[:1].isdigit() or part in easy or any(base in easy for base in _bases(part))
        for part in parts
    )


@cache
def easy_words() -> frozenset[str]:
    """The list that textstat carries, read without importing textstat."""
    package = find_spec("textstat")
    if package is None or package.origin is None:
        raise MissingDependency("readability", "textstat", INSTALL)
    path = Path(package.origin).parent / "resources" / "en" / "easy_words.txt"
    return frozenset(path.read_text(encoding="utf-8").split())


def _bases(word: str) -> Iterator[str]:
    for ending, before in _ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 1:
            stem = word.removesuffix(ending)
            yield stem + before
            if ending in ("ed", "ing", "er", "est") and stem[-1] == stem[-2]:
                yield stem[:-1]
