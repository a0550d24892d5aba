"""Coverage: the share of the prediction's tokens that lie in fragments copied from the source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from metrichub.metric import Measured, Metric
from metrichub.text import Texts, novel_ngrams
from metrichub.text.highlight import marks


@dataclass(frozen=True, kw_only=True)
class Coverage(Metric):
    """Tokens in extractive fragments over all tokens, averaged over samples (macro).

    Grusky et al. (2018).

    Attributes:
        tokenizer: How lower-cased texts are cut: at white space, or into runs of letters, marks
            and digits of any script without punctuation (`unicode`).
    """

    tokenizer: Literal["whitespace", "unicode"] = "whitespace"

    def measure(self, prediction: Texts, source: Texts) -> Measured:
        """The share of copied tokens of every prediction, (N,).

        A fragment may be one token, so the tokens outside are those that the source doesn't have.
        """
        new, total = novel_ngrams(prediction.lower(), source.lower(), self.tokenizer, 1)
        score = np.where(total == 0, np.nan, (total - new) / np.maximum(total, 1))
        empty = np.flatnonzero(total == 0).tolist()
        return Measured({"score": score}, dict.fromkeys(empty, "the prediction has no token"))

    def explain(self, prediction: str, source: str) -> marks.Step:
        """The prediction with its fragments marked, and how many tokens they hold."""
        return marks.copied_fragments(prediction, source, self.tokenizer, lower=True)
