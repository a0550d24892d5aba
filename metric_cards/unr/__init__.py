"""UNR: the fractions of 1-, 2- and 3-grams that are distinct within a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from metrichub.authoring import Measured, Metric, Range
from metrichub.text import Texts, distinct_ngrams, lengths

ORDERS = 3


@dataclass(frozen=True, kw_only=True)
class UniqueNgramRatio(Metric):
    """The unique n-gram ratios of Xiao and Carenini (2020), averaged over texts (macro).

    Attributes:
        shortest: The minimum number of tokens in a text that is scored.
        tokenizer: How texts are split into tokens; with `13a`, punctuation marks are tokens, and
            case counts.
    """

    shortest: Annotated[int, Range(ORDERS)] = 6
    tokenizer: Literal["13a", "intl", "zh", "char", "unicode", "whitespace"] = "13a"

    def measure(self, prediction: Texts) -> Measured:
        """The ratio of each order and the mean of the three, each (N,)."""
        unique, total = distinct_ngrams(prediction, self.tokenizer, ORDERS)
        short = lengths(prediction, self.tokenizer) < self.shortest
        with np.errstate(invalid="ignore"):
            ratios = np.where(short[:, None], np.nan, unique / total)
        scores = {f"unr_{n + 1}": ratios[:, n] for n in range(ORDERS)}
        reason = f"the text has fewer than {self.shortest} tokens"
        rows = np.flatnonzero(short).tolist()
        kinds = dict.fromkeys(rows, "too_short")
        statistics = {"score": ratios.mean(axis=1), **scores}
        return Measured(statistics, dict.fromkeys(rows, reason), kinds)
