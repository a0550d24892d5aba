"""RIBES: how well the words that a prediction shares with its reference stand in its order."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass
from math import comb, exp
from typing import Annotated, Literal

import numpy as np

from metrichub.authoring import Array, Metric, Range
from metrichub.text import Texts, intern_both


@dataclass(frozen=True, kw_only=True)
class Ribes(Metric):
    """RIBES (Isozaki et al. 2010) as nltk 3.10 computes it; the mean over the samples (macro).

    Attributes:
        alpha: The exponent of the share of aligned words; 0 ignores it.
        beta: The exponent of the brevity penalty; 0 ignores it.
        tokenize: The tokenizer, by sacrebleu's name; "none" splits at white space.
    """

    alpha: Annotated[float, Range(0)] = 0.25
    beta: Annotated[float, Range(0)] = 0.1
    tokenize: Literal["none", "13a", "intl", "zh", "char"] = "none"

    def measure(self, prediction: Texts, reference: Texts) -> dict[str, Array]:
        """The score of each pair, (N,)."""
        texts = intern_both(prediction, reference, self.tokenize).strings
        pairs = zip(texts[::2], texts[1::2], strict=True)
        return {"score": np.array([self._ribes(*pair) for pair in pairs], np.float64)}

    def _ribes(self, words: str, reference: str) -> float:
        if not words:
            return 0.0
        order = list(_alignment(words, reference))
        precision = len(order) / len(words)
        brevity = min(1.0, exp(1 - len(reference) / len(words)))
        return float(_rising(order) * precision**self.alpha * brevity**self.beta)


def _alignment(words: str, reference: str) -> Iterator[int]:
    """The place in the reference of every word that has one for certain.

    That is a word that occurs once in both texts, or stands in a run of words that does: the
    shortest that begins with it or ends with it, the former if both are as long.
    """
    for i, word in enumerate(words):
        if word not in reference:
            continue
        if words.count(word) == reference.count(word) == 1:
            yield reference.index(word)
            continue
        # The limit is nltk's; it keeps some words at both ends from their longest runs.
        limit = min(max(i, len(words) - i + 1), len(reference))
        after = _needed(words[i : i + limit], words, reference)
        before = _needed(words[max(0, i + 1 - limit) : i + 1], words, reference, last=True)
        if after and (not before or after <= before):
            yield reference.index(words[i : i + after])
        elif before:
            yield reference.index(words[i + 1 - before : i + 1]) + before - 1


def _needed(run: str, words: str, reference: str, last: bool = False) -> int:
    """How many of the first (or last) words of a run occur once in both texts; 0 if no number does.

    The longer a part is, the rarer, so the shortest that occurs nowhere twice is searched.
    """

    def part(size: int) -> str:
        return run[len(run) - size :] if last else run[:size]

    size = bisect_left(
        range(len(run) + 1),
        True,
        lo=2,
        key=lambda size: _rare(part(size), words) and _rare(part(size), reference),
    )
    return size if size <= len(run) and part(size) in reference else 0


def _rare(part: str, text: str) -> bool:
    """Whether a part occurs at most once in a text; occurrences may overlap."""
    first = text.find(part)
    return first < 0 or text.find(part, first + 1) < 0


def _rising(order: list[int]) -> float:
    """The share of pairs of words that stand in the order of the reference; 0 below two words.

    Kendall's tau, brought to 0..1.
    """
    if len(order) < 2:
        return 0.0
    seen: list[int] = []
    rising = 0
    for place in order:
        rising += bisect_left(seen, place)
        insort(seen, place)
    return (2 * rising / comb(len(order), 2) - 1 + 1) / 2
