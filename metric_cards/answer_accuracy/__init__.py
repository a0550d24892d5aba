"""Answer accuracy: how far an answer agrees with the reference, as two grades say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from metric_cards.response_groundedness import SCALE, mean_grade
from metrichub.evaluation.explanation import Explained
from metrichub.judge.metric import JudgeMetric
from metrichub.judge.protocol import Questions
from metrichub.metric import Unscored


@dataclass(frozen=True, kw_only=True)
class AnswerAccuracy(JudgeMetric):
    """Half the mean of two grades from 0 to 2, the mean of samples (macro)."""

    asks: ClassVar[Questions] = {"grade": ("agrees", "marked")}

    async def observe(self, question: str, prediction: str, reference: str) -> Explained | Unscored:
        """The score of one answer, with both grades and their reasons."""
        given = {"question": question, "answer": prediction, "reference": reference}
        for name, text in given.items():
            if not text.strip():
                return Unscored(f"there is no {name}")
        # A judge may favour what it reads first, so each of the two comes first once.
        return await mean_grade(
            self.grade(
                "agrees", scale=SCALE, question=question, answer=prediction, reference=reference
            ),
            self.grade(
                "marked", scale=SCALE, question=question, reference=reference, answer=prediction
            ),
        )
