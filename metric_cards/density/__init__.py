"""Density: how long the fragments of the prediction copied from the source are."""

from __future__ import annotations

from dataclasses import dataclass

from metric_cards._bases.extractive_fragments import ExtractiveFragments, per_token
from metrichub.authoring import Array
from metrichub.text import Texts, fragments


@dataclass(frozen=True, kw_only=True)
class Density(ExtractiveFragments):
    """The mean length of the fragment that a token lies in, averaged over samples (macro)."""

    def measure(self, prediction: Texts, source: Texts) -> dict[str, Array]:
        """The sum of squared fragment lengths over the length of every prediction, (N,)."""
        copied = fragments(prediction.lower(), source.lower(), self.tokenizer)
        return per_token(copied.squared, copied.prediction)
