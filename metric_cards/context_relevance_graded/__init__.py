"""Context relevance, graded: how well the contexts can answer the question, in two grades."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from metric_cards._bases.two_grades import TwoGrades, ungraded
from metrichub.authoring import Questions, Unscored, WithTrace, missing_input


@dataclass(frozen=True, kw_only=True)
class ContextRelevanceGraded(TwoGrades):
    """Half the mean of two grades from 0 to 2, averaged over samples (macro).

    Attributes:
        shortcuts: Whether a sample scores 0 without a judge call in the cases where ragas does so:
            a blank question, blank contexts, or contexts that occur word for word in the question.
    """

    asks: ClassVar[Questions] = {"grade": ("informative", "answerable")}

    shortcuts: bool = False

    async def observe(self, question: str, contexts: Sequence[str]) -> WithTrace | Unscored:
        """The score of one sample, with both grades and their reasons."""
        joined = "\n".join(contexts).strip()
        if missing := missing_input({"question": question, "context": joined}):
            return ungraded(0.0, missing.reason) if self.shortcuts else missing
        if self.shortcuts and joined in question.strip():
            return ungraded(0.0, "the contexts stand word for word in the question")
        pair = {"question": question, "contexts": contexts}
        return await self.graded_twice("informative", "answerable", pair)
