"""RIBES: how well the words that a prediction shares with its reference stand in its order."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass
from math import comb, exp
from typing import Annotated, Literal

import numpy as np

from metric_cards.ribes.alignment import NOWHERE, places
from metrichub.authoring import Array, Metric, Range
from metrichub.text import Integers, Texts, intern_both, offsets_of, row_sums

_LONGEST = 64
"""Rows of up to so many numbers are compared all with all."""


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
        lengths = np.diff(words.segments)
        predicted_lengths, reference_lengths = lengths[::2], lengths[1::2]
        place = places(words)
        is_aligned = place != NOWHERE
        aligned = row_sums(is_aligned, offsets_of(predicted_lengths))
        rising = _rising_pairs(place[is_aligned], offsets_of(aligned))
        counts = (each.tolist() for each in (rising, aligned, predicted_lengths, reference_lengths))
        return {"score": np.array(list(map(self._ribes, *counts)), np.float64)}

    def _ribes(self, rising: int, aligned: int, size: int, reference: int) -> float:
        if aligned < 2:
            return 0.0
        # Kendall's tau, rescaled to 0..1.
        order = (2 * rising / comb(aligned, 2) - 1 + 1) / 2
        brevity = min(1.0, exp(1 - reference / size))
        return float(order * (aligned / size) ** self.alpha * brevity**self.beta)


def _rising_pairs(numbers: Integers, offsets: Integers) -> Integers:
    """How many pairs of each row have the smaller number first, (R,)."""
    sizes = np.diff(offsets)
    counts = np.zeros(len(sizes), np.int64)
    for size in np.flatnonzero(np.bincount(sizes)).tolist():
        rows = np.flatnonzero(sizes == size)
        table = numbers[offsets[rows, None] + np.arange(size)]
        if size > _LONGEST:
            counts[rows] = [_rising(row) for row in table.tolist()]
        else:
            pairs = (table[:, :, None] < table[:, None, :]) & np.tri(size, k=-1, dtype=np.bool_).T
            counts[rows] = np.count_nonzero(pairs, axis=(1, 2))
    return counts


def _rising(row: list[int]) -> int:
    seen: list[int] = []
    rising = 0
    for number in row:
        rising += bisect_left(seen, number)
        insort(seen, number)
    return rising
