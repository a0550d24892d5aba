"""Self-BLEU: how much the texts of a system repeat each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from metric_cards.self_bleu.others import clipped_by_others, closest_other, grams
from metrichub.authoring import Array, CorpusMetric, Range, Unscored
from metrichub.text import Texts, Words, spans

EPSILON = 0.1
"""What `method1` of nltk puts in the place of no match."""


@dataclass(frozen=True, kw_only=True)
class SelfBleu(CorpusMetric):
    """The mean BLEU of every text against all others, after Zhu et al. (2018).

    Attributes:
        max_order: The maximum order of the n-grams in `score`.
        tokenizer: How texts are split into tokens.
        lowercase: Whether case is ignored.
    """

    max_order: Annotated[int, Range(1, 9)] = 5
    tokenizer: Literal["13a", "intl", "zh", "char", "unicode", "whitespace"] = "13a"
    lowercase: bool = False

    def outputs(self) -> tuple[str, ...]:
        """The score, and self-BLEU for n-grams up to each length."""
        return ("score", *(f"bleu_{order + 1}" for order in range(self.max_order)))

    def measure(self, prediction: Texts) -> list[Words | Unscored]:
        """The tokens of each text, named by 64-bit hashes; 1e6 kinds collide once in 1e7 runs."""
        column = prediction.lower() if self.lowercase else prediction
        tokens = column.tokens(self.tokenizer)
        return [
            tokens.hashes[start:end].copy()
            if end > start
            else Unscored("the text has no tokens", "no_tokens")
            for start, end in spans(tokens.offsets)
        ]

    def conclude(self, rows: Sequence[Words]) -> Mapping[str, float]:
        """The mean over the texts; `nan` for a single one."""
        return {name: float(values.mean()) for name, values in self._scores(rows).items()}

    def samples(self, rows: Sequence[Words]) -> Mapping[str, Sequence[float]]:
        """The BLEU of each text against all others."""
        return {name: values.tolist() for name, values in self._scores(rows).items()}

    def _scores(self, rows: Sequence[Words]) -> dict[str, Array]:
        if len(rows) < 2:
            return {name: np.full(len(rows), np.nan) for name in self.outputs()}
        lengths = np.array([len(row) for row in rows])
        logarithms = np.zeros(len(rows))
        found: dict[str, Array] = {}
        for order, ngrams in enumerate(grams(rows, self.max_order), start=1):
            matches = clipped_by_others(ngrams, len(rows))
            if order == 1:
                alike = matches > 0
            totals = np.maximum(lengths - order + 1, 1)
            logarithms = logarithms + np.log(np.where(matches, matches, EPSILON) / totals)
            found[f"bleu_{order}"] = np.exp(logarithms / order) * alike
        penalty = np.exp(np.minimum(1 - closest_other(lengths) / lengths, 0.0))
        scores = {name: values * penalty for name, values in found.items()}
        return {"score": scores[f"bleu_{self.max_order}"], **scores}
