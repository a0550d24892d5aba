"""Context precision: whether the passages that the reference answer needs are ranked first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from metrichub.authoring import ContextOrderMetric, Unscored, WithTrace


@dataclass(frozen=True, kw_only=True)
class ContextPrecision(ContextOrderMetric):
    """The average precision of the passages that are useful for the reference answer."""

    async def observe(
        self, question: str, reference: str, contexts: Sequence[str]
    ) -> WithTrace | Unscored:
        """The score of one list of passages, with the verdict on each."""
        return await self.ranked(question, reference, contexts, predicted=False)
