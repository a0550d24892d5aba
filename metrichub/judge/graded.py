"""GradedMetric: a metric that is one grade of a judge, and its position on the scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from metrichub.catalog.parameters import Range
from metrichub.errors import MetricError, ParameterError
from metrichub.evaluation.explanation import WithTrace
from metrichub.judge.metric import FieldText, JudgeMetric, absent
from metrichub.judge.protocol import Prompt, Sampling
from metrichub.metric import Unscored

_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class GradedMetric(JudgeMetric):
    """A metric whose `observe` returns the result of `graded`: `score` and `grade`.

    `grade` is the judge's number on the scale, `score` its position there: 0 for the lowest grade,
    1 for the highest.

    Attributes:
        weighting: How the grade is obtained: "none" takes the judge's single answer; "samples"
            takes the mean of several answers; "logprobs" takes the mean of all grades, weighted by
            their token probabilities in one answer, which not every server returns.
        samples: The number of answers to ask for if `weighting` is "samples".
    """

    weighting: Literal["none", "samples", "logprobs"] = "none"
    samples: Annotated[int, Range(1)] = 20

    @property
    def scale(self) -> tuple[int, int]:
        """The lowest and the highest grade."""
        return 1, 5

    def outputs(self) -> tuple[str, ...]:
        """The position on the scale, and the grade."""
        return "score", "grade"

    async def graded(self, prompt: str | Prompt, /, **texts: FieldText) -> WithTrace | Unscored:
        """The row of one sample, with the grade and its reason; a blank text leaves it unscored.

        Raises:
            MetricError: the judge's grade isn't on the scale.
        """
        if missing := absent(texts):
            return missing
        low, high = self.scale
        # Not by `self.grade`, whose own parameters are names that a text may have.
        found = await self._judge.grade(
            self._asked(prompt, texts), texts, (low, high), self._weighing
        )
        if not low - _ROUNDING <= found.score <= high + _ROUNDING:
            raise MetricError(
                f"the judge {self._judge.label} returned {found.score:g} on a scale of {low} to "
                f"{high}"
            )
        row = {"score": (found.score - low) / (high - low), "grade": found.score}
        return WithTrace(row, {"grade": found})

    @property
    def _weighing(self) -> Sampling:
        if self.weighting == "logprobs":
            return Sampling(logprobs=True)
        return Sampling(self.samples if self.weighting == "samples" else 1)


@dataclass(frozen=True, kw_only=True)
class OpenGradedMetric(GradedMetric):
    """A graded metric whose user chooses the inputs: `observe` takes them as `**texts`.

    Attributes:
        sees: The inputs that the judge sees: first the text to grade, then what it is compared
            with, such as "source", "question", "contexts", "reference" or the name of another
            column.
    """

    sees: tuple[str, ...] = ("prediction",)

    def __post_init__(self) -> None:
        """Check that the inputs are names, each given once."""
        super().__post_init__()
        names = [name for name in self.sees if name.isidentifier()]
        if not names or len(set(names)) < len(self.sees):
            allowed = "one or more names of inputs, each once, for example ('prediction', 'source')"
            raise ParameterError(self.name, "sees", self.sees, allowed)

    def inputs(self) -> tuple[str, ...]:
        """The inputs that the judge sees."""
        return self.sees
