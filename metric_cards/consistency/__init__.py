"""Consistency: whether a summary states only what follows from its source, as graded by a judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from metrichub.authoring import GradedMetric, Questions, Unscored, WithTrace


@dataclass(frozen=True, kw_only=True)
class Consistency(GradedMetric):
    """The grade and its rescaled value, averaged over samples (macro); Fabbri et al. (2021)."""

    asks: ClassVar[Questions] = {"grade": ("consistency",)}

    async def observe(self, prediction: str, source: str) -> WithTrace | Unscored:
        """The grade of one summary, with its reason."""
        return await self.graded("consistency", prediction=prediction, source=source)
