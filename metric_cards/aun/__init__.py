"""AUN: the average fraction of n-grams that are distinct within a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from metrichub.authoring import Measured, Metric, Range
from metrichub.text import Texts, distinct_ngrams


@dataclass(frozen=True, kw_only=True)
class AverageUniqueNgrams(Metric):
    """Distinct n-grams over all n-grams of a text, averaged over texts (macro).

    Attributes:
        n: Length of the n-grams, in tokens.
        tokenizer: How texts are split into tokens; `unicode` ignores case and punctuation.
    """

    n: Annotated[int, Range(1)] = 1
    tokenizer: Literal["unicode", "13a", "intl", "zh", "char", "whitespace"] = "unicode"

    def measure(self, prediction: Texts) -> Measured:
        """The score of each text, (N,); `nan` for a text without n-grams."""
        counts = distinct_ngrams(prediction, self.tokenizer, self.n)
        unique, total = counts.unique[:, -1], counts.total[:, -1]
        with np.errstate(invalid="ignore"):
            share = unique / total
        short = np.flatnonzero(total == 0).tolist()
        reason = f"the text has fewer than {self.n} token{'s' if self.n > 1 else ''}"
        kinds = dict.fromkeys(short, "too_short")
        return Measured({"score": share}, dict.fromkeys(short, reason), kinds)
