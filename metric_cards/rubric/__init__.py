"""Rubric: a judge's grade of a text on a scale whose every score is described."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from metric_cards._bases.named_scales import check_scale
from metrichub.authoring import FieldText, OpenGradedMetric, Questions, Unscored, WithTrace
from metrichub.errors import ParameterError

_NUMBERED = re.compile(
    r"\s*(?:score|grade|level)?\s*(-?\d+(?:\.\d+)?)\s*(?:[:.)=–—-]|points?\b|$)", re.IGNORECASE
)
QUALITY = (
    "Useless: empty, beside the point or wrong throughout.",
    "Poor: of some use, but most of it is wrong, missing or unclear.",
    "Fair: of use, with a serious gap, mistake or unclear part.",
    "Good: of use throughout, with small flaws only.",
    "Excellent: nothing that matters could be better.",
)


@dataclass(frozen=True, kw_only=True)
class Rubric(OpenGradedMetric):
    """The grade and its rescaled value, averaged over samples (macro), as in Prometheus.

    Attributes:
        criterion: The quality to grade, in words.
        levels: The description of each score, from the lowest to the highest.
        low: The score that the first description stands for.
    """

    asks: ClassVar[Questions] = {"grade": ("rubric",)}

    criterion: str = "How well does the text do for its reader what it is there to do?"
    levels: tuple[str, ...] = QUALITY
    low: int = 1

    def __post_init__(self) -> None:
        """Check that there are at least two descriptions, and that no words name another scale."""
        super().__post_init__()
        if len([level for level in self.levels if level.strip()]) < max(2, len(self.levels)):
            raise ParameterError(self.name, "levels", self.levels, "two or more descriptions")
        for parameter in ("criterion", "levels"):
            ways = "low=… is the first score, and each further one has a description in levels"
            check_scale(self.name, parameter, getattr(self, parameter), self.scale, ways)
        numbers = [match[1] for match in map(_NUMBERED.match, self.levels) if match]
        due = [float(score) for score in range(self.low, self.low + len(self.levels))]
        if len(numbers) == len(due) and [float(number) for number in numbers] != due:
            allowed = (
                "descriptions from the lowest score to the highest, without numbers or with those "
                f"of the scale, {self.scale[0]} to {self.scale[1]} (low=… sets the first)"
            )
            raise ParameterError(self.name, "levels", self.levels, allowed)

    @property
    def scale(self) -> tuple[int, int]:
        """The lowest score and the highest."""
        return self.low, self.low + len(self.levels) - 1

    async def observe(self, /, **texts: FieldText) -> WithTrace | Unscored:
        """The grade of one sample, with its reason."""
        listed = (f"- {score}: {level}" for score, level in enumerate(self.levels, self.low))
        prompt = self.prompt("rubric").filled(
            graded=self.sees[0], criterion=self.criterion, levels="\n".join(listed)
        )
        return await self.graded(prompt, **texts)
