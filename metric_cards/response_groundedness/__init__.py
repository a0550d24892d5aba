"""Response groundedness: how far an answer rests on its contexts, as two grades say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from metric_cards._bases.two_grades import TwoGrades, ungraded
from metrichub.authoring import Questions, Unscored, WithTrace, missing_input


@dataclass(frozen=True, kw_only=True)
class ResponseGroundedness(TwoGrades):
    """Half the mean of two grades from 0 to 2, averaged over samples (macro).

    Attributes:
        shortcuts: Whether to skip the judge where ragas does: a blank answer or blank contexts
            score 0, and an answer that occurs word for word in the contexts scores 1.
    """

    asks: ClassVar[Questions] = {"grade": ("grounded", "struck_out")}

    shortcuts: bool = False

    async def observe(self, prediction: str, contexts: Sequence[str]) -> WithTrace | Unscored:
        """The score of one answer, with both grades and their reasons."""
        joined = "\n".join(contexts).strip()
        if missing := missing_input({"answer": prediction}, prediction="answer"):
            return ungraded(0.0, missing.reason) if self.shortcuts else missing
        if not joined:
            return ungraded(0.0, "there is no context")
        if self.shortcuts and prediction.strip() in joined:
            return ungraded(1.0, "the answer stands word for word in the contexts")
        pair = {"answer": prediction, "contexts": contexts}
        return await self.graded_twice("grounded", "struck_out", pair)
