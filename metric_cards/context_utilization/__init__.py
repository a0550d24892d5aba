"""Context utilization: whether the passages that the answer needs stand first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from metrichub.catalog.parameters import Range
from metrichub.evaluation.explanation import Explained
from metrichub.judge.aggregate import average_precision, values
from metrichub.judge.metric import JudgeMetric
from metrichub.judge.protocol import Questions
from metrichub.metric import Unscored


@dataclass(frozen=True, kw_only=True)
class RankedContexts(JudgeMetric):
    """Average precision of the passages that are useful for an answer, the mean of samples.

    Attributes:
        epsilon: Added to the number of useful passages before it divides; 1e-10 gives the numbers
            that ragas prints.
    """

    asks: ClassVar[Questions] = {"verify": ("useful",)}

    epsilon: Annotated[float, Range(0)] = 0.0

    async def ranked(
        self, question: str, answer: str, contexts: Sequence[str]
    ) -> Explained | Unscored:
        """The average precision of one sample, with the verdict on each passage."""
        given = {"question": [question], "answer": [answer], "context": contexts}
        for name, texts in given.items():
            if not any(text.strip() for text in texts):
                return Unscored(f"there is no {name}")
        verdicts = await self.verify("useful", contexts, question=question, answer=answer)
        labels = values(verdicts)
        useful = sum(labels)
        exact = average_precision(labels)
        score = exact * useful / (useful + self.epsilon) if useful else 0.0
        return Explained({"score": score}, {"contexts": verdicts})


@dataclass(frozen=True, kw_only=True)
class ContextUtilization(RankedContexts):
    """The average precision of the passages that are useful for the answer that was given."""

    async def observe(
        self, question: str, prediction: str, contexts: Sequence[str]
    ) -> Explained | Unscored:
        """The score of one answer, with the verdict on each of its passages."""
        return await self.ranked(question, prediction, contexts)
