"""Pairs of texts to measure on: generated ones of about 33 words, and real ones of about 20."""

from __future__ import annotations

import random
from itertools import accumulate
from typing import NamedTuple

from benchmarks.exact_texts import SHARED, corpora, distinct

_SYLLABLES = (
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "ha",
    "ki",
    "lo",
    "me",
    "na",
    "qui",
    "ra",
    "se",
    "ti",
    "un",
)


class Pairs(NamedTuple):
    """Predictions and references, one of each a pair."""

    name: str
    predictions: list[str]
    references: list[str]

    @property
    def words(self) -> float:
        """The mean number of words of a reference."""
        return sum(len(text.split()) for text in self.references) / max(1, len(self.references))


def generated(pairs: int, words: int = 33, seed: int = 0) -> Pairs:
    """Noisy copies of sentences of Zipf-drawn words: drops, substitutions, shifts, inflection."""
    source = random.Random(seed)
    vocabulary = _vocabulary(source, 30_000)
    weights = list(accumulate(1 / (rank + 2) for rank in range(len(vocabulary))))
    references, predictions = [], []
    for _ in range(pairs):
        length = max(4, int(source.gauss(words, words / 4)))
        drawn = source.choices(vocabulary, cum_weights=weights, k=length)
        references.append(_sentence(source, drawn))
        predictions.append(_sentence(source, _noisy(source, drawn, vocabulary)))
    return Pairs(f"generated, {words} words", predictions, references)


def real(pairs: int) -> Pairs | None:
    """The first pairs of newstest2016, WebNLG and SummEval; None where they aren't.

    No two are alike. If there are too few they are repeated; every repetition starts with one more
    space: no score changes, but no peer's cache helps it.
    """
    if not SHARED.is_dir():
        return None
    corpus = distinct(corpora()[:3], pairs)
    predictions, references = (repeated(c, pairs) for c in (corpus.predictions, corpus.first))
    return Pairs(corpus.name, predictions, references)


def repeated(texts: list[str], number: int) -> list[str]:
    """As many of the texts, with one more space before each from repetition to repetition."""
    return [" " * (i // len(texts)) + texts[i % len(texts)] for i in range(number)]


def _vocabulary(source: random.Random, size: int) -> list[str]:
    words = [
        "the",
        "of",
        "and",
        "to",
        "in",
        "a",
        "is",
        "for",
        "that",
        "on",
        "1,000",
        "2026",
        "U.S.",
    ]
    while len(words) < size:
        word = "".join(source.choices(_SYLLABLES, k=source.randint(1, 4)))
        words.append(word.capitalize() if source.random() < 0.1 else word)
    return words


def _noisy(source: random.Random, words: list[str], vocabulary: list[str]) -> list[str]:
    noisy = [word for word in words if source.random() > 0.06]
    noisy = [source.choice(vocabulary) if source.random() < 0.12 else word for word in noisy]
    noisy = [f"{word}s" if source.random() < 0.04 else word for word in noisy]
    if source.random() < 0.4 and len(noisy) > 8:
        start, length = source.randrange(len(noisy) - 5), source.randint(2, 4)
        phrase, others = noisy[start : start + length], noisy[:start] + noisy[start + length :]
        place = source.randrange(len(others) + 1)
        noisy = others[:place] + phrase + others[place:]
    return noisy or ["the"]


def _sentence(source: random.Random, words: list[str]) -> str:
    marked = [f"{word}," if source.random() < 0.06 else word for word in words]
    return f"{' '.join(marked)}{source.choice('...?!')}"
