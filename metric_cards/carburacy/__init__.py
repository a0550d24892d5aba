"""Carburacy: a summarizer's ROUGE, discounted by its carbon emissions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from metrichub.authoring import Array, Metric, Range, Scores
from metrichub.text import Texts, clipped_matches, lcs, lengths


@dataclass(frozen=True, kw_only=True)
class Carburacy(Metric):
    """Carbon-aware accuracy (Moro et al. 2023), with the emissions that the caller measured.

    Attributes:
        emission_train: The emissions of training, in kg of CO2.
        emission_test: The emissions of one prediction, in kg of CO2.
        alpha: The base of the logarithm; the larger it is, the less ROUGE counts.
        beta_train: The weight of the emissions of training.
        beta_test: The weight of the emissions of one prediction.
        stemmer: Whether ROUGE compares Porter stems.
    """

    emission_train: Annotated[float, Range(0)] = 0.0
    emission_test: Annotated[float, Range(0)] = 0.0
    alpha: Annotated[float, Range(1.01)] = 10.0
    beta_train: Annotated[float, Range(0)] = 1.0
    beta_test: Annotated[float, Range(0)] = 100.0
    stemmer: bool = False

    def declared_tokenizer(self) -> str:
        """ROUGE's, with Porter stems if it compares these."""
        return "rouge-stem" if self.stemmer else "rouge"

    def measure(self, prediction: Texts, reference: Texts) -> dict[str, Array]:
        """F1 of ROUGE-1, ROUGE-2 and ROUGE-L, (N, 3)."""
        tokenizer = self.declared_tokenizer()
        ngrams = clipped_matches(prediction, reference, tokenizer, 2).matches
        common = np.column_stack((ngrams, lcs(prediction, reference, tokenizer)))
        both = lengths(prediction, tokenizer), lengths(reference, tokenizer)
        total = sum(np.maximum(size[:, None] - np.array([0, 1, 0]), 0) for size in both)
        return {"rouge": 2 * common / np.maximum(total, 1)}

    def score(self, rouge: Array, count: Array) -> Scores:
        """The harmonic mean of ROUGE discounted for training and for use."""
        means = rouge / count[..., None]
        effectiveness = means.mean(axis=-1) / (1 + means.var(axis=-1))
        worth = effectiveness ** (1 / np.log(self.alpha))
        train = worth / (1 + self.beta_train * self.emission_train)
        test = worth / (1 + self.beta_test * self.emission_test)
        both = train + test
        score = 2 * train * test / np.where(both > 0, both, 1)
        return {"score": score, "train": train, "test": test, "effectiveness": effectiveness}

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """A note that no emissions were given, if that is the case."""
        free = not (self.emission_train or self.emission_test)
        return ["no emissions were given, so this scores a model without any"] * free
