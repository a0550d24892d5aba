"""Summarization score: the source's questions that a summary answers, weighed with its brevity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from metrichub.authoring import (
    JudgeMetric,
    Questions,
    Range,
    Unscored,
    WithTrace,
    missing_input,
    ratio,
)


@dataclass(frozen=True, kw_only=True)
class SummarizationScore(JudgeMetric):
    """QA score and conciseness, averaged over samples (macro), as in the ragas documentation.

    Attributes:
        coeff: The weight of the part that `coeff_of` names; the other part gets the rest.
        coeff_of: The part to which `coeff` applies, on which the two published formulas differ.
        length_penalty: Whether conciseness counts; if not, `score` is the QA score.
        filter_questions: Whether questions that the source itself doesn't answer are left out; that
            takes one more call.
    """

    asks: ClassVar[Questions] = {"extract": ("keyphrases", "questions"), "verify": ("answered",)}

    coeff: Annotated[float, Range(0, 1)] = 0.5
    coeff_of: Literal["conciseness", "qa"] = "conciseness"
    length_penalty: bool = True
    filter_questions: bool = False

    async def observe(self, prediction: str, source: str) -> WithTrace | Unscored:
        """The scores of one summary, with the answer to each question."""
        if missing := missing_input(
            {"source": source, "summary": prediction}, prediction="summary"
        ):
            return missing
        phrases = await self.extract("keyphrases", text=source)
        questions = await self.extract("questions", text=source, keyphrases=phrases)
        if not questions:
            return Unscored("the source gives no question to ask")
        trace: dict[str, object] = {"keyphrases": phrases}
        if self.filter_questions:
            # The same prompt and field, so that both texts are held to the same standard.
            asked = await self.verify("answered", questions, summary=source)
            trace["source_answers"] = asked
            questions = [verdict.item for verdict in asked if verdict.verdict == "yes"]
            if not questions:
                return WithTrace(Unscored("the source answers none of the questions"), trace)
        answers = await self.verify("answered", questions, summary=prediction)
        qa, conciseness = ratio(answers), _conciseness(len(prediction), len(source))
        row = {"score": self._weighed(qa, conciseness), "qa": qa, "conciseness": conciseness}
        return WithTrace(row, trace | {"questions": answers})

    def _weighed(self, qa: float, conciseness: float) -> float:
        if not self.length_penalty:
            return qa
        if self.coeff_of == "qa":
            return qa * self.coeff + conciseness * (1 - self.coeff)
        return qa * (1 - self.coeff) + conciseness * self.coeff


def _conciseness(summary: int, text: int) -> float:
    return 1 - min(summary, text) / (text + 1e-10)
