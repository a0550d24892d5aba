"""Density: how long the fragments are that the prediction copies from the source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from metrichub.metric import Measured, Metric
from metrichub.text import Texts, fragments
from metrichub.text.highlight import marks


@dataclass(frozen=True, kw_only=True)
class Density(Metric):
    """The mean length of the fragment that a token lies in, averaged over samples (macro).

    Grusky et al. (2018).

    Attributes:
        tokenizer: How lower-cased texts are cut: at white space, or into runs of letters, marks
            and digits of any script without punctuation (`unicode`).
    """

    tokenizer: Literal["whitespace", "unicode"] = "whitespace"

    def measure(self, prediction: Texts, source: Texts) -> Measured:
        """The sum of squared fragment lengths over the length of every prediction, (N,)."""
        found = fragments(prediction.lower(), source.lower(), self.tokenizer)
        empty = found.prediction == 0
        score = np.where(empty, np.nan, found.squared / np.maximum(found.prediction, 1))
        reasons = dict.fromkeys(np.flatnonzero(empty).tolist(), "the prediction has no token")
        return Measured({"score": score}, reasons)

    def explain(self, prediction: str, source: str) -> marks.Step:
        """The prediction with its fragments marked, and how many tokens they hold."""
        return marks.copied_fragments(prediction, source, self.tokenizer, lower=True)
