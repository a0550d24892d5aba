"""Pairwise comparison: how often a judge prefers a system's answer to another's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from metrichub.authoring import Choice, JudgeMetric, Questions, Unscored, WithTrace
from metrichub.errors import ParameterError

_OUTCOMES = {0: "win", 1: "loss", None: "tie"}


@dataclass(frozen=True, kw_only=True)
class Pairwise(JudgeMetric):
    """The win rate with ties as half a win; Zheng et al. (2023), sections 3.1 and 3.4.

    Attributes:
        criteria: The judge's instruction about what makes an answer better.
        question: Whether the judge is shown the question that was answered.
    """

    asks: ClassVar[Questions] = {"choose": ("better",)}

    criteria: str = (
        "An answer is better the more of these it is, the first weighing most: correct, helpful "
        "for what was asked, complete in what matters, clear, and no longer than it has to be."
    )
    question: bool = True

    def __post_init__(self) -> None:
        """Check that there are criteria."""
        super().__post_init__()
        if not self.criteria.strip():
            raise ParameterError(self.name, "criteria", self.criteria, "a text that isn't blank")

    def inputs(self) -> tuple[str, ...]:
        """The two answers, and the question unless it is left out."""
        answers = ("prediction", "reference")
        return ("question", *answers) if self.question else answers

    async def observe(
        self, prediction: str, reference: str, question: str = ""
    ) -> WithTrace | Unscored:
        """The outcome of one comparison, with the judge's reason."""
        if self.question and not question.strip():
            return Unscored("there is no question")
        choice = await self._choice(prediction, reference, question)
        outcome = _OUTCOMES[choice.winner]
        row = {
            "score": {"win": 1.0, "tie": 0.5, "loss": 0.0}[outcome],
            "wins": outcome == "win",
            "ties": outcome == "tie",
            "losses": outcome == "loss",
            "consistent": choice.agreed,
        }
        return WithTrace(row, {"outcome": outcome, "reason": choice.reason})

    async def _choice(self, prediction: str, reference: str, question: str) -> Choice:
        if prediction == reference:
            return Choice(None, "the answers are the same")
        better = self.prompt("better").filled(criteria=self.criteria)
        asked = {"question": question} if self.question else {}
        return await self.choose(better, (prediction, reference), **asked)
