"""Role adherence: how much of what an assistant says is in its role."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from metrichub.authoring import (
    ConversationMetric,
    Message,
    Questions,
    Unscored,
    WithTrace,
    ratio,
)


@dataclass(frozen=True, kw_only=True)
class RoleAdherence(ConversationMetric):
    """The fraction of an assistant's messages that are in its role, averaged (macro).

    Attributes:
        role: The role of all samples; if there is none, each sample has its own in the column
            `roles`.
        empty: The score of a conversation in which the assistant says nothing: 1, as in deepeval,
            or None to leave the conversation out of the mean.
    """

    asks: ClassVar[Questions] = {"verify": ("in_role",)}

    role: str | None = None
    empty: Literal[1] | None = None

    def inputs(self) -> tuple[str, ...]:
        """The conversation, and the sample's role if the parameter gives none."""
        return ("messages",) if self.role else ("messages", "role")

    async def observe(
        self, messages: Sequence[Message], role: str | None = None
    ) -> WithTrace | Unscored:
        """The score of one conversation, with the verdict on each message of the assistant."""
        role = self.role or role or ""
        if not role.strip():
            return Unscored("there is no role")
        numbers = [n for n, m in enumerate(messages) if m["role"] == "assistant" and m["text"]]
        if not numbers and self.empty is None:
            return Unscored("the assistant says nothing", "empty")
        verdicts = await self.verify_messages("in_role", messages, numbers, role=role)
        return WithTrace({"score": ratio(verdicts) if verdicts else 1.0}, {"messages": verdicts})
