"""Answer relevancy: how similar the questions that an answer fits are to the question asked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal

from metrichub.authoring import (
    EmbedderMetric,
    JudgeMetric,
    Questions,
    Range,
    Unscored,
    WithTrace,
    are_yes,
    cosine,
)


@dataclass(frozen=True, kw_only=True)
class AnswerRelevancy(JudgeMetric, EmbedderMetric):
    """The mean cosine of generated questions and the one asked; Es et al. (2024), section 3.

    Attributes:
        n: The number of questions that the judge generates from the answer.
        noncommittal: How many of the generated questions an answer has to evade to score 0:
            "all" or "any" of them. If None, the judge isn't asked about evasion.
    """

    n: Annotated[int, Range(1)] = 3
    noncommittal: Literal["all", "any"] | None = None

    def questions(self) -> Questions:
        """The tasks of the judge: generating questions and, if it counts, detecting evasion."""
        evaded: Questions = {"verify": ("evaded",)} if self.noncommittal else {}
        return {"extract": ("questions",), **evaded}

    async def observe(self, question: str, prediction: str) -> WithTrace | Unscored:
        """The score of one answer, with the generated questions and their cosines."""
        if not question.strip():
            return Unscored("there is no question")
        questions = await self.extract(
            "questions", limit=self.n, answer=prediction, number=str(self.n)
        )
        if not questions:
            return Unscored("the answer gives rise to no question", "no_questions")
        vectors = await self.embed([question, *questions])
        near = cosine(vectors[:1], vectors[1:])[0].tolist()
        mean = sum(near) / len(near)
        if math.isnan(mean):
            return Unscored("a question has no vector")
        asked = [
            {"question": text, "cosine": value} for text, value in zip(questions, near, strict=True)
        ]
        if self.noncommittal is None:
            return WithTrace({"score": mean}, {"questions": asked})
        verdicts = await self.verify("evaded", questions, answer=prediction)
        evaded = {"all": all, "any": any}[self.noncommittal](are_yes(verdicts))
        score = 0.0 if evaded else mean
        return WithTrace({"score": score}, {"questions": asked, "evaded": verdicts})
