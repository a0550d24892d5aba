"""Conversation completeness: how much of what its user asked for a conversation satisfies."""

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
class ConversationCompleteness(ConversationMetric):
    """The fraction of a user's intents satisfied (macro), and of conversations that satisfy all.

    Attributes:
        empty: The score of a conversation whose user asks for nothing: 1, as in deepeval, or None
            to leave the conversation out of the mean.
    """

    asks: ClassVar[Questions] = {"extract": ("intents",), "verify": ("satisfied",)}

    empty: Literal[1] | None = None

    def outputs(self) -> tuple[str, ...]:
        """The fraction of intents, and whether all are satisfied."""
        return "score", "complete"

    async def observe(self, messages: Sequence[Message]) -> WithTrace | Unscored:
        """The scores of one conversation, with the verdict on each intent."""
        asks = any(message["role"] == "user" and message["text"] for message in messages)
        intents = await self.extract_from("intents", messages) if asks else []
        if not intents and self.empty is None:
            return Unscored("the user asks for nothing", "no_requests")
        verdicts = await self.verify_in("satisfied", intents, messages)
        share = ratio(verdicts) if verdicts else 1.0
        return WithTrace({"score": share, "complete": float(share == 1)}, {"intents": verdicts})
