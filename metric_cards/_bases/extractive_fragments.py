"""Extractive fragments: what coverage and density have in common, after Grusky et al. (2018)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from metrichub.authoring import Array, Metric
from metrichub.text import highlight


@dataclass(frozen=True, kw_only=True)
class ExtractiveFragments(Metric):
    """A number a token of the prediction, made out of the fragments that it copies.

    Attributes:
        tokenizer: How lowercased texts are split: at whitespace, or into runs of letters, marks
            and digits of any script without punctuation (`unicode`).
    """

    tokenizer: Literal["whitespace", "unicode"] = "whitespace"

    def explain(self, prediction: str, source: str) -> highlight.Step:
        """The prediction with its fragments marked, and how many tokens they hold."""
        return highlight.copied_fragments(prediction, source, self.tokenizer, lower=True)


def per_token(amount: Array, tokens: Array) -> dict[str, Array]:
    """The amount over the tokens of every prediction, (N,); 0 for one without a token."""
    return {"score": amount / np.maximum(tokens, 1)}
