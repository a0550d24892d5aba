"""Answer correctness: weighted mean of the F-score over claims and the cosine similarity."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

from metrichub.authoring import (
    ClaimCounts,
    EmbedderMetric,
    JudgeMetric,
    Questions,
    Range,
    Unscored,
    WithTrace,
    f_beta,
    missing_input,
    no_claims,
)
from metrichub.errors import ParameterError


@dataclass(frozen=True, kw_only=True)
class AnswerCorrectness(JudgeMetric, EmbedderMetric):
    """The weighted mean of F-beta over claims and a cosine, averaged over samples (macro).

    Attributes:
        weights: The weights of factuality and similarity. A part with weight 0 is not computed.
        beta: How many times as much weight recall has as precision in the factuality.
    """

    asks: ClassVar[Questions] = {"extract": ("claims",), "verify": ("supported",)}

    weights: tuple[Annotated[float, Range(0)], ...] = (0.75, 0.25)
    beta: Annotated[float, Range(0)] = 1.0

    def __post_init__(self) -> None:
        """Check the parameters, and that there are two weights with a positive, finite sum."""
        super().__post_init__()
        if len(self.weights) != 2 or not 0 < sum(self.weights) < math.inf:
            allowed = "two numbers at least 0, one of them above 0"
            raise ParameterError(self.name, "weights", self.weights, allowed)

    def outputs(self) -> tuple[str, ...]:
        """The score, and the parts whose weight isn't 0."""
        return ("score", *self._weights())

    def models(self) -> tuple[str, ...]:
        """The judge for factuality and the embedder for similarity, if their weights aren't 0."""
        asked = zip(("judge", "embedder"), self.weights, strict=True)
        return tuple(kind for kind, weight in asked if weight)

    async def observe(self, prediction: str, reference: str) -> WithTrace | Unscored:
        """The scores of one answer, with the verdict on each claim of both texts."""
        if missing := missing_input({"prediction": prediction, "reference": reference}):
            return missing
        measures = {"factuality": self._factuality, "similarity": self._similarity}
        weights = self._weights()
        parts = await asyncio.gather(*(measures[part](prediction, reference) for part in weights))
        row: dict[str, float] = {}
        step: dict[str, object] = {}
        for part in parts:
            if isinstance(part, Unscored):
                return part
            row |= part.row
            step |= part.step
        score = sum(weight * row[part] for part, weight in weights.items()) / sum(weights.values())
        return WithTrace({"score": score, **row}, step)

    def _weights(self) -> dict[str, float]:
        named = zip(("factuality", "similarity"), self.weights, strict=True)
        return {part: weight for part, weight in named if weight}

    async def _factuality(self, prediction: str, reference: str) -> WithTrace | Unscored:
        predicted, expected = await asyncio.gather(
            self.checked_claims(prediction, [reference]),
            self.checked_claims(reference, [prediction]),
        )
        for name, claims in {"prediction": predicted, "reference": expected}.items():
            if not claims:
                return no_claims(name)
        row = {"factuality": f_beta(*ClaimCounts.of(predicted, expected), self.beta)}
        return WithTrace(row, {"prediction_claims": predicted, "reference_claims": expected})

    async def _similarity(self, prediction: str, reference: str) -> WithTrace | Unscored:
        near = await self.similarity_to(reference, prediction)
        if isinstance(near, Unscored):
            return near
        return WithTrace({"similarity": near}, {})
