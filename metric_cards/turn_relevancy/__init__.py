"""Turn relevancy: how many of an assistant's answers have to do with what was said before them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from metrichub.authoring import (
    ConversationMetric,
    Message,
    Questions,
    Range,
    Unscored,
    WithTrace,
    interactions,
    ratio,
    values,
)


@dataclass(frozen=True, kw_only=True)
class TurnRelevancy(ConversationMetric):
    """The fraction of exchanges whose last answer is relevant, averaged (macro).

    Attributes:
        window: The number of exchanges that are the context of an answer, its own included.
        empty: The score of a conversation without an exchange: 1, as in deepeval, or None to leave
            the conversation out of the mean.
    """

    asks: ClassVar[Questions] = {"verify": ("relevant",)}

    window: Annotated[int, Range(1)] = 10
    empty: Literal[1] | None = None

    def outputs(self) -> tuple[str, ...]:
        """The fraction of answers, and the number of those that are irrelevant."""
        return "score", "irrelevant"

    async def observe(self, messages: Sequence[Message]) -> WithTrace | Unscored:
        """The scores of one conversation, with the verdict on the last answer of each exchange."""
        exchanges = interactions(messages)
        since = {}
        for place, exchange in enumerate(exchanges):
            answers = [n for n in exchange if messages[n]["role"] == "assistant"]
            if texts := [n for n in answers if messages[n]["text"]]:
                since[texts[-1]] = {"since": exchanges[max(0, place + 1 - self.window)][0]}
        if not since and self.empty is None:
            return Unscored("the assistant answers no message of a user", "empty")
        verdicts = await self.verify_messages("relevant", messages, list(since), beside=since)
        row = {
            "score": ratio(verdicts) if verdicts else 1.0,
            "irrelevant": sum(values(verdicts, "no")),
        }
        return WithTrace(row, {"messages": verdicts})
