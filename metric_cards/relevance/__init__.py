"""Relevance: whether a summary holds what matters in its source, as a judge grades it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from metrichub.authoring import GradedMetric, Questions, Unscored, WithTrace


@dataclass(frozen=True, kw_only=True)
class Relevance(GradedMetric):
    """The grade and its rescaled value, averaged over samples (macro); Fabbri et al. (2021)."""

    asks: ClassVar[Questions] = {"grade": ("relevance",)}

    async def observe(self, prediction: str, source: str) -> WithTrace | Unscored:
        """The grade of one summary, with its reason."""
        return await self.graded("relevance", prediction=prediction, source=source)
