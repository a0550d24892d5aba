"""Lexical support: how far a text's words, numbers and negations stand in other texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from metrichub.judge.sentences import sentences
from metrichub.judge.words import (
    content,
    is_number,
    is_year,
    lowercase_words,
    negated,
    scores,
    stem,
    words_beside_numbers,
)


class Support(NamedTuple):
    """How far a claim is supported (0 to 1), where best, and what speaks against it there."""

    share: float
    where: str
    against: str | None


class _Sentence(NamedTuple):
    """A sentence of the evidence as claims are held against it."""

    text: str
    words: frozenset[str]
    negated: frozenset[str]
    beside: Mapping[str, frozenset[str]]
    scores: frozenset[tuple[str, str]]


class Passages:
    """Texts that claims are held against, by their sentences."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._sentences = []
        self._pairs: set[tuple[str, str]] = set()
        for sentence in (sentence for text in texts for sentence in sentences(text)):
            found = lowercase_words(sentence)
            stems = [*map(stem, found)]
            self._pairs |= set(pairwise(stems))
            self._sentences.append(
                _Sentence(
                    sentence,
                    frozenset(stems),
                    negated(found),
                    words_beside_numbers(sentence),
                    scores(sentence),
                )
            )
        self._all = frozenset().union(*(sentence.words for sentence in self._sentences))
        self._scores = frozenset().union(*(sentence.scores for sentence in self._sentences))
        self._beside = {
            (number, word)
            for sentence in self._sentences
            for number, words in sentence.beside.items()
            for word in words
        }

    def support(self, claim: str) -> Support:
        """Two thirds the content words that one sentence has, one third the pairs of words."""
        found = lowercase_words(claim)
        if not found or not self._sentences:
            return Support(0.0, "", None)
        wanted = content(found)
        counts = [sum(word in one.words for word in wanted) for one in self._sentences]
        best, against = self._nearest(claim, found, counts)
        pairs = list(pairwise(map(stem, found)))
        worded = max(counts) / len(wanted)
        paired = sum(pair in self._pairs for pair in pairs) / len(pairs) if pairs else worded
        strange = [word for word in found if is_number(word) and stem(word) not in self._all]
        if strange:
            against = f"the number {strange[0]} isn't there"
        return Support((2 * worded + paired) / 3, best.text, against)

    def _nearest(
        self, claim: str, found: Sequence[str], counts: Sequence[int]
    ) -> tuple[_Sentence, str | None]:
        """The sentence with most of the words, if possible one without anything against it."""
        if not (most := max(counts)):
            return self._sentences[0], None
        claimed, denied = words_beside_numbers(claim), negated(found)
        stems = frozenset(map(stem, found))
        best = [one for one, count in zip(self._sentences, counts, strict=True) if count == most]
        for one in best:
            against = (
                self._displaced(claimed, one)
                or self._reversed(scores(claim), one)
                or _contrary(stems, denied, one)
            )
            if against is None:
                return one, None
        return best[-1], against

    def _displaced(self, claimed: Mapping[str, frozenset[str]], best: _Sentence) -> str | None:
        """That another number of its kind stands by the words of one of the claim's.

        One such word is enough for a year; what is counted has to be the same in other cases.
        """
        for number, words in claimed.items():
            if not words or any((number, word) in self._beside for word in words):
                continue
            for other, its in best.beside.items():
                same = words & its if is_year(number) else words <= its
                if same and is_year(other) == is_year(number) and other not in claimed:
                    return f"it says {other} there, not {number}"
        return None

    def _reversed(self, claimed: frozenset[tuple[str, str]], best: _Sentence) -> str | None:
        """That a score has its numbers the other way round there, and nowhere as in the claim."""
        for ours, theirs in sorted(claimed - self._scores):
            if (theirs, ours) in best.scores:
                return f"it says {theirs}-{ours} there, not {ours}-{theirs}"
        return None


def _contrary(stems: frozenset[str], denied: frozenset[str], best: _Sentence) -> str | None:
    """That a word of both is negated in only one of them."""
    if words := sorted(best.words & stems & (denied ^ best.negated)):
        return f"{words[0]!r} is negated in one of the two"
    return None


@lru_cache(maxsize=512)
def passages_of(texts: tuple[str, ...]) -> Passages:
    """The evidence of these texts, prepared once."""
    return Passages(texts)
