"""Coherence: how well the sentences of a summary form one text, as graded by a judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from metrichub.authoring import GradedMetric, Questions, Unscored, WithTrace


@dataclass(frozen=True, kw_only=True)
class Coherence(GradedMetric):
    """The grade and its rescaled value, averaged over samples (macro); Fabbri et al. (2021)."""

    asks: ClassVar[Questions] = {"grade": ("coherence",)}

    async def observe(self, prediction: str, source: str) -> WithTrace | Unscored:
        """The grade of one summary, with its reason."""
        return await self.graded("coherence", prediction=prediction, source=source)
