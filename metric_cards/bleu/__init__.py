"""BLEU: clipped n-gram precision with a brevity penalty, equal to sacrebleu's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from metrichub.metric import Metric, Scores
from metrichub.parameters import Range
from metrichub.stats import Array
from metrichub.text import Groups, Texts, clipped_matches, closest_lengths

_SMOOTH_VALUES = {"floor": 0.1, "add-k": 1.0, "exp": 0.0, "none": 0.0}


@dataclass(frozen=True, kw_only=True)
class Bleu(Metric):
    """Corpus BLEU (Papineni et al. 2002) as sacrebleu 2.6 computes it (Post 2018).

    Attributes:
        tokenize: The tokenizer, by sacrebleu's name.
        smooth_method: What a precision without a match becomes (Chen and Cherry 2014).
        smooth_value: The value of `floor` (0.1 if None) or the k of `add-k` (1 if None).
        max_order: The longest n-grams that count.
        effective_order: Whether orders that the prediction is too short for are left out.
        lowercase: Whether case is ignored.
    """

    tokenize: Literal[
        "13a", "intl", "zh", "char", "none", "ja-mecab", "ko-mecab", "flores101", "flores200", "spm"
    ] = "13a"
    smooth_method: Literal["exp", "floor", "add-k", "none"] = "exp"
    smooth_value: Annotated[float, Range(0)] | None = None
    max_order: Annotated[int, Range(1, 16)] = 4
    effective_order: bool = False
    lowercase: bool = False

    def measure(self, prediction: Texts, references: Groups) -> dict[str, Array]:
        """Matches and totals of every order, (N, max_order), and the closest length, (N,)."""
        if self.lowercase:
            prediction, references = prediction.lower(), references.lower()
        matches, totals = clipped_matches(prediction, references, self.tokenize, self.max_order)
        closest = closest_lengths(prediction, references, self.tokenize)
        return {"matches": matches, "totals": totals, "reference_length": closest}

    def score(self, matches: Array, totals: Array, reference_length: Array) -> Scores:
        """The geometric mean of the precisions times the brevity penalty; 0 without a match."""
        length = totals[..., 0]
        ratio = length / reference_length
        penalty = np.where(length < reference_length, np.exp(1 - 1 / ratio), 1.0)
        precisions, valid = self._precisions(matches.astype(float), totals.astype(float))
        orders = valid.sum(axis=-1) if self.effective_order else self.max_order
        logs = np.log(precisions)
        mean = np.where(valid, logs, 0.0 if self.effective_order else -np.inf).sum(axis=-1) / orders
        found = {"score": np.where(matches.any(axis=-1), penalty * np.exp(mean), 0.0)}
        found |= {f"precision_{n + 1}": precisions[..., n] for n in range(self.max_order)}
        return {**found, "brevity_penalty": penalty, "length_ratio": ratio}

    def outputs(self) -> tuple[str, ...]:
        """The score, one precision an order, and the two parts of the brevity penalty."""
        precisions = (f"precision_{n + 1}" for n in range(self.max_order))
        return ("score", *precisions, "brevity_penalty", "length_ratio")

    def _precisions(self, matches: Array, totals: Array) -> tuple[Array, Array]:
        """The smoothed precisions, and the orders up to the first without an n-gram."""
        value = self.smooth_value
        value = _SMOOTH_VALUES[self.smooth_method] if value is None else value
        if self.smooth_method == "add-k":
            added = np.where(np.arange(self.max_order) > 0, value, 0.0)
            matches, totals = matches + added, totals + added
        valid = np.logical_and.accumulate(totals > 0, axis=-1)
        missed = valid & (matches == 0)
        if self.smooth_method == "exp":
            matches = np.where(missed, 0.5 ** np.cumsum(missed, axis=-1), matches)
        elif self.smooth_method == "floor":
            matches = np.where(missed, value, matches)
        return np.where(valid, matches / totals, 0.0), valid
