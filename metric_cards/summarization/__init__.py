"""Summarization: the lesser of a summary's alignment with its source and its coverage of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from metrichub.authoring import (
    JudgeMetric,
    Questions,
    Range,
    Unscored,
    Verdict,
    WithTrace,
    missing_input,
    ratio,
)


@dataclass(frozen=True, kw_only=True)
class Summarization(JudgeMetric):
    """Alignment, coverage and their minimum, averaged over samples (macro), after deepeval.

    Attributes:
        assessment_questions: The closed questions to ask of every sample; if there are none, the
            judge writes some for each source.
        n: The maximum number of questions that the judge writes for a source.
        threshold: The lowest score with which a summary passes.
        truths: Whether claims are checked against facts that the judge first lists from the source,
            not against the source itself.
    """

    assessment_questions: tuple[str, ...] = ()
    n: Annotated[int, Range(1)] = 5
    threshold: Annotated[float, Range(0, 1)] = 0.5
    truths: bool = False

    def questions(self) -> Questions:
        """Claims, their support and answers; facts and questions if the judge writes them."""
        truths = ("truths",) if self.truths else ()
        questions = () if self.assessment_questions else ("questions",)
        return {
            "extract": ("claims", *truths, *questions),
            "verify": ("supported", "answered"),
        }

    async def observe(self, prediction: str, source: str) -> WithTrace | Unscored:
        """The scores of one summary, with the verdict on each claim and both answers."""
        if missing := missing_input(
            {"source": source, "summary": prediction}, prediction="summary"
        ):
            return missing
        claims, (in_source, in_summary) = await asyncio.gather(
            self._aligned(prediction, source), self._answered(prediction, source)
        )
        if not claims:
            return Unscored("the summary makes no claim", "no_claims")
        if not in_source:
            return Unscored("the source gives no question to ask")
        alignment, coverage = ratio(claims), _coverage(in_source, in_summary)
        score = min(alignment, coverage)
        row = {"score": score, "alignment": alignment, "coverage": coverage}
        row["passed"] = float(score >= self.threshold)
        answers = {"source_answers": in_source, "summary_answers": in_summary}
        return WithTrace(row, {"claims": claims, **answers})

    async def _aligned(self, summary: str, source: str) -> list[Verdict]:
        claims = await self.claims(summary)
        against = [source]
        if claims and self.truths:
            against = await self.extract("truths", text=source)
        return await self.support(claims, against)

    async def _answered(self, summary: str, source: str) -> tuple[list[Verdict], list[Verdict]]:
        questions: Sequence[str] = self.assessment_questions
        if not questions:
            questions = await self.extract("questions", limit=self.n, text=source)
        return await asyncio.gather(
            self.verify("answered", questions, text=source),
            self.verify("answered", questions, text=summary),
        )


def _coverage(source: Sequence[Verdict], summary: Sequence[Verdict]) -> float:
    """Of the questions that the source answers yes, the fraction that the summary does too."""
    answerable = [mine for mine, its in zip(summary, source, strict=True) if its.verdict == "yes"]
    return ratio(answerable) if answerable else 0.0
