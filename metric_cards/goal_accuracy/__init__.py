"""Goal accuracy: whether a conversation reached what its user wanted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from metric_cards._bases.transcripts import transcript
from metrichub.authoring import OMIT_DEFAULT, JudgeMetric, Questions, Unscored, WithTrace, ratio
from metrichub.errors import ParameterError


@dataclass(frozen=True, kw_only=True)
class GoalAccuracy(JudgeMetric):
    """The fraction of goals reached, averaged over samples (macro); 1 or 0 if there is one goal.

    Attributes:
        inferred: Whether the judge infers the user's goals from the conversation; otherwise, the
            reference states the outcome that had to be reached.
        task: The task of all samples, in place of references.
    """

    text_of_objects: ClassVar = {"predictions": transcript}
    whole_objects: ClassVar = True
    reads_conversations: ClassVar = True

    inferred: bool = False
    task: str | None = field(default=None, metadata=OMIT_DEFAULT)

    def __post_init__(self) -> None:
        """Check that there is one source of goals at most beside the references."""
        super().__post_init__()
        if self.task is not None and (self.inferred or not self.task.strip()):
            allowed = "None with inferred=True" if self.inferred else "a task in words, or None"
            raise ParameterError(self.name, "task", self.task, allowed)

    def inputs(self) -> tuple[str, ...]:
        """The conversation, and its intended outcome unless the goals are known otherwise."""
        return ("prediction",) if self.inferred or self.task else ("prediction", "reference")

    def questions(self) -> Questions:
        """Whether goals were reached and, if they are inferred, what they are."""
        goals: Questions = {"extract": ("goals",)} if self.inferred else {}
        return {**goals, "verify": ("reached",)}

    async def observe(self, prediction: str, reference: str = "") -> WithTrace | Unscored:
        """The score of one conversation, with the verdict on each goal."""
        reference = self.task or reference
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
