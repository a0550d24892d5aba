"""Token F1: the overlap of prediction and reference as bags of tokens, as SQuAD scores answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from metrichub.authoring import Array, Metric
from metrichub.text import Texts, clipped_matches, highlight, lengths

_TOKENIZERS = {"squad": "squad", "words": "bag", "unicode": "unicode", "none": "none"}


@dataclass(frozen=True, kw_only=True)
class TokenF1(Metric):
    """F1 of shared tokens, averaged over samples (macro); Rajpurkar et al. (2016).

    Attributes:
        normalization: How texts are split into tokens. `squad`: lowercased words, without ASCII
            punctuation and the English articles. `words`: the same with articles. `unicode`:
            lowercased runs of letters, marks and digits of any script. `none`: the
            strings between whitespace.
        both_empty: The three scores if neither text has a token: 0 as in SQuAD 1.1, or 1 as in
            SQuAD 2.0.
    """

    normalization: Literal["squad", "words", "unicode", "none"] = "squad"
    both_empty: Literal[0, 1] = 0

    def measure(self, prediction: Texts, reference: Texts) -> dict[str, Array]:
        """F1, precision and recall of every prediction, (N,)."""
        tokenizer = _TOKENIZERS[self.normalization]
        shared = clipped_matches(prediction, reference, tokenizer, 1).matches[:, 0]
        predicted, expected = lengths(prediction, tokenizer), lengths(reference, tokenizer)
        agreed = self.both_empty * (predicted + expected == 0)
        shared, predicted, expected = shared + agreed, predicted + agreed, expected + agreed
        return {
            "score": 2 * shared / np.maximum(predicted + expected, 1),
            "precision": shared / np.maximum(predicted, 1),
            "recall": shared / np.maximum(expected, 1),
        }

    def explain(self, prediction: str, reference: str) -> highlight.Step:
        """Both texts with their shared tokens marked, and the counts."""
        tokenizer = _TOKENIZERS[self.normalization]
        return highlight.shared_by_both(prediction, reference, tokenizer, range(1, 2))
