"""Conciseness: whether an answer is no longer than its question requires, as graded by a judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from metrichub.authoring import GradedMetric, Questions, Unscored, WithTrace


@dataclass(frozen=True, kw_only=True)
class Conciseness(GradedMetric):
    """The grade and its rescaled value, averaged over samples (macro)."""

    asks: ClassVar[Questions] = {"grade": ("conciseness",)}

    async def observe(self, prediction: str, question: str) -> WithTrace | Unscored:
        """The grade of one answer, with its reason."""
        return await self.graded("conciseness", prediction=prediction, question=question)
