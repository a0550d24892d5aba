"""User frustration: whether a user is frustrated by the end of a conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from metrichub.authoring import (
    ConversationMetric,
    Message,
    Questions,
    Unscored,
    Verdict,
    WithTrace,
    values,
)

LABELS = ("none", "unresolved", "resolved")
"""No frustration; frustration that is still there at the end; frustration that isn't."""


@dataclass(frozen=True, kw_only=True)
class UserFrustration(ConversationMetric):
    """The share of conversations without unresolved frustration, and of those with any (macro)."""

    asks: ClassVar[Questions] = {"verify": ("frustration",)}

    def outputs(self) -> tuple[str, ...]:
        """Whether no frustration is left, whether there was any, and whether it is unresolved."""
        return "score", "frustrated", "unresolved"

    async def observe(self, messages: Sequence[Message]) -> WithTrace | Unscored:
        """The scores of one conversation, with the judge's label and reason."""
        if not any(message["role"] == "user" and message["text"] for message in messages):
            return Unscored("the user says nothing", "no_requests")
        asked = (
            self.verify("frustration", ["user"], verdicts=LABELS, conversation=part.texts)
            for part in self.parts(messages)
        )
        verdict = _last_frustration([verdict_ for (verdict_,) in await asyncio.gather(*asked)])
        (unresolved,) = values([verdict], "unresolved")
        (frustrated,) = values([verdict], {"unresolved": 1, "resolved": 1})
        row = {"score": 1 - unresolved, "frustrated": frustrated, "unresolved": unresolved}
        return WithTrace(row, {"frustration": [verdict]})


def _last_frustration(verdicts: Sequence[Verdict]) -> Verdict:
    """The last verdict of the parts that says more than "none"."""
    return next((v for v in reversed(verdicts) if v.verdict != "none"), verdicts[-1])
