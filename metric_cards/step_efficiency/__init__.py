"""Step efficiency: how many of an agent's steps its task needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from metric_cards._bases.steps import StepMetric, steps_of
from metrichub.authoring import Message, Questions, Unscored, WithTrace, ratio, values


@dataclass(frozen=True, kw_only=True)
class StepEfficiency(StepMetric):
    """The fraction of an assistant's steps that its task needs, averaged (macro).

    Attributes:
        task: The task of all samples; if None, it is what each conversation asks for.
    """

    asks: ClassVar[Questions] = {"verify": ("needed",)}

    task: str | None = None

    def outputs(self) -> tuple[str, ...]:
        """The fraction of steps, and the number of needless ones."""
        return "score", "needless"

    async def observe(self, messages: Sequence[Message]) -> WithTrace | Unscored:
        """The scores of one conversation, with the verdict on each step."""
        if not any(steps_of(messages)):
            return Unscored("the assistant takes no step", "empty")
        if not self.task and not any(m["text"] for m in messages if m["role"] != "assistant"):
            return Unscored("the conversation has no task", "no_requests")
        verdicts = await self.verify_steps(
            "needed", messages, verdicts=("needed", "needless"), task=self.task or ""
        )
        row = {"score": ratio(verdicts, "needed"), "needless": sum(values(verdicts, "needless"))}
        return WithTrace(row, {"messages": verdicts})
