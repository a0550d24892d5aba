"""Consistency: whether a summary says only what its source does, as a judge grades it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from metrichub.authoring import GradedMetric, Questions, Unscored, WithTrace


@dataclass(frozen=True, kw_only=True)
class Consistency(GradedMetric):
    """The grade and its place on the scale, the mean of samples (macro); Fabbri et al. (2021)."""

    asks: ClassVar[Questions] = {"grade": ("consistency",)}

    async def observe(self, prediction: str, source: str) -> WithTrace | Unscored:
        """The grade of one summary, with its reason."""
        return await self.graded("consistency", prediction=prediction, source=source)
