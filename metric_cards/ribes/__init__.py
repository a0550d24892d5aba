"""RIBES: how well the words that a prediction shares with its reference stand in its order."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass
from math import comb, exp
from typing import Annotated, Literal

import numpy as np

from metric_cards.ribes.alignment import IN_CONTEXT, NOWHERE, in_context, places
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
        words = intern_both(prediction, reference, self.tokenize)
        texts = words.strings
        pairs = zip(texts[::2], texts[1::2], places(words), strict=True)
        return {"score": np.array([self._ribes(*pair) for pair in pairs], np.float64)}

    def _ribes(self, words: str, reference: str, found: list[int]) -> float:
        if not words:
            return 0.0
        if IN_CONTEXT in found:
            starts = [i for i, place in enumerate(found) if place == IN_CONTEXT]
            known = in_context(starts, words, reference)
            found = [next(known) if place == IN_CONTEXT else place for place in found]
        order = [place for place in found if place != NOWHERE]
        precision = len(order) / len(words)
        brevity = min(1.0, exp(1 - len(reference) / len(words)))
        return float(_rising(order) * precision**self.alpha * brevity**self.beta)


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
