"""Compression: how many times longer the source is than the prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from metrichub.authoring import Array, Metric
from metrichub.text import Texts, lengths


@dataclass(frozen=True, kw_only=True)
class Compression(Metric):
    """Tokens of the source over tokens of the prediction, averaged over samples (macro).

    Grusky et al. (2018).

    Attributes:
        tokenizer: How texts are split into tokens: at whitespace, or into runs of letters, marks
            and digits of any script, without punctuation (`unicode`).
    """

    tokenizer: Literal["whitespace", "unicode"] = "whitespace"

    def measure(self, prediction: Texts, source: Texts) -> dict[str, Array]:
        """The ratio of the lengths of every pair, (N,); 0 for a prediction without a token."""
        short, long = (lengths(text, self.tokenizer) for text in (prediction, source))
        return {"score": np.where(short == 0, 0.0, long / np.maximum(short, 1))}
