"""Fluency: how well the individual sentences of a text are written, as graded by a judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from metrichub.authoring import GradedMetric, Questions, Unscored, WithTrace


@dataclass(frozen=True, kw_only=True)
class Fluency(GradedMetric):
    """The grade and its rescaled value, averaged over samples (macro); Fabbri et al. (2021)."""

    asks: ClassVar[Questions] = {"grade": ("fluency",)}

    async def observe(self, prediction: str) -> WithTrace | Unscored:
        """The grade of one text, with its reason."""
        return await self.graded("fluency", prediction=prediction)
