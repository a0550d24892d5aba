"""Goal accuracy: whether a conversation reached what its user wanted."""

from __future__ import annotations

from dataclasses import dataclass

from metrichub.authoring import JudgeMetric, Questions, Unscored, WithTrace, ratio


@dataclass(frozen=True, kw_only=True)
class GoalAccuracy(JudgeMetric):
    """The fraction of goals reached, averaged over samples (macro); 1 or 0 if there is one goal.

    Attributes:
        inferred: Whether the judge infers the user's goals from the conversation; otherwise, the
            reference states the outcome that had to be reached.
    """

    inferred: bool = False

    def inputs(self) -> tuple[str, ...]:
        """The conversation, and its intended outcome unless the goals are inferred."""
        return ("prediction",) if self.inferred else ("prediction", "reference")

    def questions(self) -> Questions:
        """Whether goals were reached and, if they are inferred, what they are."""
        goals: Questions = {"extract": ("goals",)} if self.inferred else {}
        return {**goals, "verify": ("reached",)}

    async def observe(self, prediction: str, reference: str = "") -> WithTrace | Unscored:
        """The score of one conversation, with the verdict on each goal."""
        if not self.inferred and not reference.strip():
            return Unscored("there is no reference")
        if not prediction.strip():
            return Unscored("there is no conversation", "empty")
        goals = [reference]
        if self.inferred:
            goals = await self.extract("goals", conversation=prediction)
        if not goals:
            return Unscored("the user has no goal", "no_requests")
        verdicts = await self.verify("reached", goals, conversation=prediction)
        return WithTrace({"score": ratio(verdicts)}, {"goals": verdicts})
