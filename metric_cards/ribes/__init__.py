"""RIBES: how well the words that a prediction shares with its reference stand in its order."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, exp
from typing import Annotated, Literal

import numpy as np

from metric_cards.ribes.alignment import NOWHERE, places
from metric_cards.ribes.order import rising_pairs
from metrichub.authoring import Array, Metric, Range
from metrichub.text import Texts, intern_both, offsets_of, row_sums


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
        own, reference_lengths = lengths[::2], lengths[1::2]
        place = places(words)
        known = place != NOWHERE
        aligned = row_sums(known, offsets_of(own))
        rising = rising_pairs(place[known], offsets_of(aligned))
        counts = (each.tolist() for each in (rising, aligned, own, reference_lengths))
        return {"score": np.array(list(map(self._ribes, *counts)), np.float64)}

    def _ribes(self, rising: int, aligned: int, size: int, reference: int) -> float:
        if aligned < 2:
            return 0.0
        # Kendall's tau, rescaled to 0..1.
        order = (2 * rising / comb(aligned, 2) - 1 + 1) / 2
        brevity = min(1.0, exp(1 - reference / size))
        return float(order * (aligned / size) ** self.alpha * brevity**self.beta)
