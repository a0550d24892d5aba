"""Knowledge retention: how much of what an assistant says agrees with what its user stated."""

from __future__ import annotations

import re
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
    values,
)
from metrichub.errors import JudgeError

_NUMBERED = re.compile(r"\W*(?:[^\W\d]+\W*)?(\d+)[\])\"]*\s*[:：.,]\s*(.+)", re.DOTALL)
"""A fact after its message's number: "3: lives in Bern", "[3]: …", "Message 3: …", "消息3：…"."""


@dataclass(frozen=True, kw_only=True)
class KnowledgeRetention(ConversationMetric):
    """The fraction of an assistant's messages that forget no fact of the user, averaged (macro).

    Attributes:
        empty: The score of a conversation in which the assistant says nothing after a fact: 1, as
            in deepeval, or None to leave the conversation out of the mean.
    """

    asks: ClassVar[Questions] = {"extract": ("facts",), "verify": ("retained",)}

    empty: Literal[1] | None = None

    def outputs(self) -> tuple[str, ...]:
        """The fraction of messages, and the number of those that forget a fact."""
        return "score", "forgotten"

    async def observe(self, messages: Sequence[Message]) -> WithTrace | Unscored:
        """The scores of one conversation, with the verdict on each message that follows a fact."""
        users = [n for n, m in enumerate(messages) if m["role"] == "user" and m["text"]]
        spoken = [n for n, m in enumerate(messages) if m["role"] == "assistant" and m["text"]]
        # What nobody answers needn't be remembered.
        heard = [n for n in users if spoken and n < spoken[-1]]
        facts = self._numbered(await self.extract_from("facts", messages), users) if heard else []
        earlier = {number: [fact for i, fact in facts if i < number] for number in spoken}
        beside = {number: {"facts": before} for number, before in earlier.items() if before}
        if not beside and self.empty is None:
            return Unscored("the assistant says nothing after a fact of the user", "no_facts")
        verdicts = await self.verify_messages("retained", messages, list(beside), beside=beside)
        score = ratio(verdicts) if verdicts else 1.0
        row = {"score": score, "forgotten": sum(values(verdicts, "no"))}
        return WithTrace(row, {"messages": verdicts, "facts": [f"{i}: {f}" for i, f in facts]})

    def _numbered(self, items: Sequence[str], users: Sequence[int]) -> list[tuple[int, str]]:
        """The facts with the numbers of their messages; those of anyone but the user are left out.

        Raises:
            JudgeError: no fact has the number of a user's message.
        """
        matches = filter(None, map(_NUMBERED.fullmatch, items))
        facts = [(int(match[1]), match[2]) for match in matches if int(match[1]) in users]
        if items and not facts:
            number = "1 fact" if len(items) == 1 else f"{len(items)} facts"
            raise JudgeError(
                f"the judge listed {number}, such as {items[0][:60]!r}, but none after "
                "the number of a user's message"
            )
        return facts
