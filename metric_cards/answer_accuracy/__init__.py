"""Answer accuracy: how well an answer agrees with the reference, according to two grades."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from metric_cards._bases.two_grades import TwoGrades
from metrichub.authoring import Questions, Unscored, WithTrace, missing_input


@dataclass(frozen=True, kw_only=True)
class AnswerAccuracy(TwoGrades):
    """Half the mean of two grades from 0 to 2, averaged over samples (macro)."""

    asks: ClassVar[Questions] = {"grade": ("agrees", "marked")}

    async def observe(self, question: str, prediction: str, reference: str) -> WithTrace | Unscored:
        """The score of one answer, with both grades and their reasons."""
        texts = {"question": question, "answer": prediction, "reference": reference}
        if missing := missing_input(texts, prediction="answer"):
            return missing
        pair = {"answer": prediction, "reference": reference}
        return await self.graded_twice("agrees", "marked", pair, question=question)
