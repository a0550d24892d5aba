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
        alpha: The exponent of the fraction of aligned words; 0 ignores it.
        beta: The exponent of the brevity penalty; 0 ignores it.
        tokenize: The tokenizer, by sacrebleu's name; "none" splits at whitespace.
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
    """The position in the reference of every word that can be aligned with certainty.

    That is a word that occurs once in both texts, or is in a run of words that does: the
    shortest that begins or ends with it, or the former if both are equally long.
    """
    after, before = _sizes(words, reference), _sizes(words[::-1], reference[::-1])[::-1]
    for i, word in enumerate(words):
        if word not in reference:
            continue
        if words.count(word) == reference.count(word) == 1:
            yield reference.index(word)
            continue
        # The limit is nltk's; it keeps some words at both ends from their longest runs.
        limit = min(max(i, len(words) - i + 1), len(reference))
        first = words[i : i + after[i]] if after[i] <= limit else ""
        last = words[i + 1 - before[i] : i + 1] if before[i] <= limit else ""
        first, last = (run if run in reference else "" for run in (first, last))
        if first and (not last or len(first) <= len(last)):
            yield reference.index(first)
        elif last:
            yield reference.index(last) + len(last) - 1


def _sizes(words: str, reference: str) -> list[int]:
    """For every word the length of the shortest run from it that occurs at most once in each text.

    A run has at least two words; the length is 0 if there is none. No run ends before that of the
    previous word, as longer runs are rarer.
    """
    sizes, end = [], 0
    for i in range(len(words)):
        end = max(end, i + 2)
        while end <= len(words) and not _rare(words[i:end], words, reference):
            end += 1
        sizes.append(end - i if end <= len(words) else 0)
    return sizes


def _rare(run: str, *texts: str) -> bool:
    """Whether a run occurs at most once in each text; occurrences may overlap."""
    places = ((text, text.find(run)) for text in texts)
    return all(first < 0 or text.find(run, first + 1) < 0 for text, first in places)


def _rising(order: list[int]) -> float:
    """The fraction of word pairs in the order of the reference; 0 with fewer than two words.

    This is Kendall's tau, rescaled to 0..1.
    """
    if len(order) < 2:
        return 0.0
    seen: list[int] = []
    rising = 0
    for place in order:
        rising += bisect_left(seen, place)
        insort(seen, place)
    return (2 * rising / comb(len(order), 2) - 1 + 1) / 2
