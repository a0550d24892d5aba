"""Response groundedness: how far an answer rests on its contexts, as two grades say."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from metrichub.evaluation.explanation import Explained
from metrichub.judge.metric import JudgeMetric
from metrichub.judge.protocol import Grade, Questions
from metrichub.metric import Unscored

SCALE = (0, 2)
"""No, partly, wholly."""


async def mean_grade(*asked: Awaitable[Grade]) -> Explained:
    """The mean of grades on the scale as a fraction, with each grade and its reason."""
    grades = await asyncio.gather(*asked)
    mean = sum(grade.score for grade in grades) / len(grades)
    return Explained({"score": mean / SCALE[1]}, {"grades": grades})


def ungraded(score: float, why: str) -> Explained:
    """A score that no judge was asked for, and why."""
    return Explained({"score": score}, {"grades": [], "shortcut": why})


@dataclass(frozen=True, kw_only=True)
class ResponseGroundedness(JudgeMetric):
    """Half the mean of two grades from 0 to 2, the mean of samples (macro).

    Attributes:
        shortcuts: Whether no judge is asked where ragas asks none: 0 for a blank answer or blank
            contexts, 1 for an answer that stands word for word in the contexts.
    """

    asks: ClassVar[Questions] = {"grade": ("grounded", "struck_out")}

    shortcuts: bool = False

    async def observe(self, prediction: str, contexts: Sequence[str]) -> Explained | Unscored:
        """The score of one answer, with both grades and their reasons."""
        joined = "\n".join(contexts).strip()
        for name, text in {"answer": prediction.strip(), "context": joined}.items():
            if not text:
                why = f"there is no {name}"
                return ungraded(0.0, why) if self.shortcuts else Unscored(why)
        if self.shortcuts and prediction.strip() in joined:
            return ungraded(1.0, "the answer stands word for word in the contexts")
        return await mean_grade(
            self.grade("grounded", scale=SCALE, answer=prediction, contexts=contexts),
            self.grade("struck_out", scale=SCALE, contexts=contexts, answer=prediction),
        )
