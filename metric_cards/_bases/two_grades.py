"""Two grades: a metric that is the mean of two grades, with the texts in both orders."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from metrichub.authoring import FieldText, Grade, JudgeMetric, Sampling, WithTrace

_SCALE = (0, 2)
"""No, partly, wholly."""


@dataclass(frozen=True, kw_only=True)
class TwoGrades(JudgeMetric):
    """A metric whose `observe` gives half the mean of two grades from 0 to 2."""

    async def graded_twice(
        self, forth: str, back: str, /, pair: Mapping[str, FieldText], **before: FieldText
    ) -> WithTrace:
        """The score of one sample, with both grades and their reasons.

        A judge may favour what it reads first: the prompt `there` shows the two texts of the pair
        as they come, the prompt `back` the other way round, both after what comes `before`.
        """
        turned = dict(reversed([*pair.items()]))
        grades = await asyncio.gather(
            self._grade(forth, {**before, **pair}), self._grade(back, {**before, **turned})
        )
        mean = sum(grade.score for grade in grades) / len(grades)
        return WithTrace({"score": mean / _SCALE[1]}, {"grades": grades})

    async def _grade(self, prompt: str, texts: Mapping[str, FieldText]) -> Grade:
        return await self.grade(prompt, scale=_SCALE, weighing=Sampling(), **texts)


def ungraded(score: float, why: str) -> WithTrace:
    """A score that no judge was asked for, and why."""
    return WithTrace({"score": score}, {"grades": [], "shortcut": why})
