"""G-Eval: a judge's grade of a text by criteria in words, and by steps made from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from metric_cards._bases.named_scales import check_scale
from metrichub.authoring import (
    FieldText,
    OpenGradedMetric,
    Questions,
    Range,
    Unscored,
    WithTrace,
)
from metrichub.errors import JudgeError, ParameterError

QUALITY = "Overall quality: how well the text does for its reader what it is there to do."
BY_STEPS = "Those that the steps check."


@dataclass(frozen=True, kw_only=True)
class GEval(OpenGradedMetric):
    """The grade and its place on the scale, the mean of samples (macro); Liu et al. (2023).

    Attributes:
        criteria: The criteria, worded so that more is better. If neither criteria nor steps are
            given, the judge grades overall quality.
        steps: The evaluation steps; if none are given, the judge writes them from the criteria.
        low: The lowest grade.
        high: The highest grade.
    """

    criteria: str = ""
    steps: tuple[str, ...] = ()
    low: Annotated[int, Range(-100, 100)] = 1
    high: Annotated[int, Range(-100, 100)] = 5

    def __post_init__(self) -> None:
        """Check that the scale has two scores or more, and that no words name another."""
        super().__post_init__()
        if self.low >= self.high:
            raise ParameterError(self.name, "high", self.high, f"an integer above low={self.low}")
        for parameter in ("criteria", "steps"):
            ways = "low=… and high=… set the scale"
            check_scale(self.name, parameter, getattr(self, parameter), self.scale, ways)

    @property
    def scale(self) -> tuple[int, int]:
        """The lowest score and the highest."""
        return self.low, self.high

    def questions(self) -> Questions:
        """The grade, and the steps unless they are given."""
        steps: Questions = {} if self.steps else {"extract": ("steps",)}
        return {**steps, "grade": ("grade",)}

    async def observe(self, /, **texts: FieldText) -> WithTrace | Unscored:
        """The grade of one sample, with its reason and the steps."""
        shown = self.shown(texts)
        if isinstance(shown, Unscored):
            return shown
        steps = self.steps or await self._written()
        prompt = self.prompt("grade").filled(
            graded=self.sees[0],
            criteria=self.criteria.strip() or (BY_STEPS if self.steps else QUALITY),
            steps="\n".join(f"{i}. {step}" for i, step in enumerate(steps, 1)),
        )
        grade = await self.graded(prompt, **texts)
        if isinstance(grade, Unscored):
            return grade
        return grade._replace(step={**grade.step, "steps": steps})

    async def _written(self) -> Sequence[str]:
        """The judge's steps: the same request for every sample, so that it is made once."""
        prompt = self.prompt("steps").filled(criteria=self.criteria.strip() or QUALITY)
        steps = await self.extract(prompt, fields=self.sees)
        if not steps:
            raise JudgeError(f"{self._judge.label} wrote no steps from the criteria; give some")
        return steps
