"""Lexical support: how far a text's words, numbers and negations stand in other texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from metrichub.judge.sentences import sentences
from metrichub.text.tokenize.porter import porter

_UNSPACED = r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
_WORD = re.compile(rf"\d+(?:[.,:]\d+)*|{_UNSPACED}|[^\W\d_]+(?:['’][^\W\d_]+)*|\w+")
_NEGATION = frozenset(
    ("no", "not", "never", "none", "nobody", "nothing", "neither", "nor", "without", "cannot")
)
_FUNCTION = frozenset(
    "a an the of to in on at by for with from and or but as is are was were be been being it its "  # noqa: SIM905  # as prose
    "this that these those he she his her hers him they their them has have had do does did would "
    "can could will shall may might must who whom whose which what when where how there here than "
    "then so such i you we our your my me us s".split()
)
_SPACED_NUMBER = re.compile(r"(?<=\d) ([.,]) (?=\d{3}\b)")
_REACH = 3
_stem = lru_cache(maxsize=65_536)(porter)


def lowercase_words(text: str) -> list[str]:
    """The words of a text in lower case; scripts without spaces give their characters."""
    return [word.lower() for word in _WORD.findall(_SPACED_NUMBER.sub(r"\1", text))]


def content(found: Sequence[str]) -> list[str]:
    """The stems of the words that carry content, or of all words where none does."""
    return [_stem(word) for word in found if word not in _FUNCTION] or [*map(_stem, found)]


def negated(found: Sequence[str]) -> frozenset[str]:
    """The stems of the words that a negation stands before, at most three words away."""
    after = [
        [word for word in found[i + 1 : i + 1 + _REACH] if word not in _FUNCTION]
        for i, word in enumerate(found)
        if word in _NEGATION or word.endswith(("n't", "n’t"))
    ]
    return frozenset(_stem(near[0]) for near in after if near)


class Support(NamedTuple):
    """How far a claim is supported (0 to 1), where best, and what speaks against it there."""

    share: float
    where: str
    against: str | None


class Passages:
    """Texts that claims are held against, by their sentences."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._sentences = [sentence for text in texts for sentence in sentences(text)]
        split = [lowercase_words(sentence) for sentence in self._sentences]
        stems = [[_stem(word) for word in found] for found in split]
        self._words = [frozenset(found) for found in stems]
        self._negated = [negated(found) for found in split]
        self._pairs = {pair for found in stems for pair in pairwise(found)}
        self._all = frozenset().union(*self._words)

    def support(self, claim: str) -> Support:
        """Two thirds the content words that one sentence has, one third the pairs of words."""
        found = lowercase_words(claim)
        if not found or not self._sentences:
            return Support(0.0, "", None)
        wanted = content(found)
        shares = [sum(word in have for word in wanted) / len(wanted) for have in self._words]
        best = max(range(len(shares)), key=shares.__getitem__)
        pairs = list(pairwise(map(_stem, found)))
        paired = sum(pair in self._pairs for pair in pairs) / len(pairs) if pairs else shares[best]
        share = (2 * shares[best] + paired) / 3
        return Support(share, self._sentences[best], self._against(found, best))

    def _against(self, found: Sequence[str], best: int) -> str | None:
        strange = [word for word in found if word[0].isdigit() and _stem(word) not in self._all]
        if strange:
            return f"the number {strange[0]} isn't there"
        common = self._words[best].intersection(map(_stem, found))
        if denied := sorted(common & (negated(found) ^ self._negated[best])):
            return f"{denied[0]!r} is negated in one of the two"
        return None


@lru_cache(maxsize=512)
def passages_of(texts: tuple[str, ...]) -> Passages:
    """The evidence of these texts, prepared once."""
    return Passages(texts)
