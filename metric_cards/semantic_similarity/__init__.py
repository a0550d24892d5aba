"""Semantic similarity: the cosine of the embeddings of a prediction and its reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from metrichub.authoring import EmbedderMetric, Range, Unscored, WithTrace, missing_input


@dataclass(frozen=True, kw_only=True)
class SemanticSimilarity(EmbedderMetric):
    """The cosine of two embeddings, averaged over samples (macro).

    Attributes:
        threshold: The cosine from which a prediction scores 1 instead of 0. If None, the cosine
            itself is the score.
    """

    threshold: Annotated[float, Range(-1, 1)] | None = None

    async def observe(self, prediction: str, reference: str) -> WithTrace | Unscored:
        """The score of one prediction, with its cosine."""
        if missing := missing_input({"prediction": prediction, "reference": reference}):
            return missing
        near = await self.similarity_to(reference, prediction)
        if isinstance(near, Unscored):
            return near
        score = near
        if self.threshold is not None:
            # Equal vectors have a cosine a rounding error away from 1.
            score = float(near >= self.threshold - 1e-9)
        return WithTrace({"score": score}, {"cosine": near})
