"""Context utilization: whether the passages that the answer needs are ranked first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from metrichub.authoring import ContextOrderMetric, Unscored, WithTrace


@dataclass(frozen=True, kw_only=True)
class ContextUtilization(ContextOrderMetric):
    """The average precision of the passages that are useful for the answer that was given."""

    async def observe(
        self, question: str, prediction: str, contexts: Sequence[str]
    ) -> WithTrace | Unscored:
        """The score of one answer, with the verdict on each of its passages."""
        return await self.ranked(question, prediction, contexts, predicted=True)
