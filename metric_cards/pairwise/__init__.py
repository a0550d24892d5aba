"""Pairwise comparison: how often a judge prefers a system's answer to another's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from metrichub.authoring import Choice, JudgeMetric, Questions, TraceItem, Unscored, WithTrace
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
        step: dict[str, Any] = {"outcome": outcome, "reason": choice.reason}
        if choice.place is not None:
            step["preferred"] = ("first", "second")[choice.place]
        if outcome != "tie" and len(prediction) != len(reference):
            step["longer_won"] = (outcome == "win") == (len(prediction) > len(reference))
        return WithTrace(row, step)

    def step_notes(self, steps: Sequence[TraceItem]) -> Sequence[str]:
        """How often the order of the answers decided, and how often the longer one won."""
        places = Counter(step["preferred"] for step in steps if "preferred" in step)
        lengths = Counter(step["longer_won"] for step in steps if "longer_won" in step)
        notes = []
        if places:
            notes.append(
                f"the order decided {places.total()} of {len(steps)} comparisons: the judge "
                f"preferred the answer shown first in {places['first']}, the second in "
                f"{places['second']}"
            )
        if lengths:
            notes.append(
                f"the longer answer won {lengths[True]} of the {lengths.total()} comparisons with "
                "a winner and answers of different lengths"
            )
        return notes

    async def _choice(self, prediction: str, reference: str, question: str) -> Choice:
        if prediction == reference:
            return Choice(None, "the answers are the same")
        better = self.prompt("better").filled(criteria=self.criteria)
        asked = {"question": question} if self.question else {}
        return await self.choose(better, (prediction, reference), **asked)
