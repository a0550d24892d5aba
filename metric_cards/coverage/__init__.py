"""Coverage: the fraction of the prediction's tokens in fragments copied from the source."""

from __future__ import annotations

from dataclasses import dataclass

from metric_cards._bases.extractive_fragments import ExtractiveFragments, per_token
from metrichub.authoring import Array
from metrichub.text import Texts, novel_ngrams


@dataclass(frozen=True, kw_only=True)
class Coverage(ExtractiveFragments):
    """Tokens in extractive fragments over all tokens, averaged over samples (macro)."""

    def measure(self, prediction: Texts, source: Texts) -> dict[str, Array]:
        """The fraction of copied tokens of every prediction, (N,).

        A fragment may be one token, so the tokens outside are those that the source doesn't have.
        """
        new, total = novel_ngrams(prediction.lower(), source.lower(), self.tokenizer, 1)
        return per_token(total - new, total)
