"""Perplexity: how surprised a causal model is by the predictions (Jelinek et al., 1977)."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from metrichub.authoring import Array, Measured, Scores
from metrichub.text import Texts
from metrichub_neural._likelihood import LikelihoodMetric


@dataclass(frozen=True, kw_only=True)
class Perplexity(LikelihoodMetric):
    """The exponential of the mean negative log-likelihood of a token (micro).

    Attributes:
        prompt: A text that stands before each prediction and isn't scored.
    """

    prompt: str = ""

    def measure(self, prediction: Texts) -> Measured:
        """Summed likelihoods, and each text's own perplexity, (N,)."""
        measured = self.likelihoods([self.prompt] * len(prediction), list(prediction))
        sums = dict(measured.statistics)
        return measured._replace(statistics={**sums, "mean": np.exp(sums["mean"])})

    def score(  # the statistics
        self, nll: Array, tokens: Array, bytes: Array, mean: Array, count: Array
    ) -> Scores:
        """Micro over all tokens, macro over the texts, and bits for each byte."""
        return {
            "score": np.exp(nll / tokens),
            "macro": mean / count,
            "bits_per_byte": nll / log(2) / bytes,
        }
