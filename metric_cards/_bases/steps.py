"""Steps: what an assistant does in a conversation, one at a time, and a base to ask about them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from metrichub.authoring import (
    ConversationMetric,
    FieldText,
    Message,
    ToolCall,
    Verdict,
)


class Step(NamedTuple):
    """A text of the assistant, or a call of a tool, and the number of its message."""

    message: int
    text: str
    call: ToolCall | None = None

    @property
    def item(self) -> str:
        """The step as a judge is shown it."""
        shown: dict[str, Any] = {"message": self.message}
        shown |= {"text": self.text} if self.call is None else {"call": self.call}
        return json.dumps(shown, ensure_ascii=False)

    @property
    def shown(self) -> str:
        """The step as people are shown it: its text, or the call."""
        return self.text if self.call is None else call_text(self.call)


def call_text(call: ToolCall) -> str:
    """A call as name(arguments)."""
    arguments = call["arguments"]
    is_text = isinstance(arguments, str)
    return f"{call['name']}({arguments if is_text else json.dumps(arguments, ensure_ascii=False)})"


def steps_of(messages: Sequence[Message], start: int = 0) -> Iterator[Step]:
    """Each text of the assistant and each of its calls, in order."""
    for number, message in enumerate(messages, start):
        if message["role"] != "assistant":
            continue
        if message["text"]:
            yield Step(number, message["text"])
        for call in message["calls"]:
            yield Step(number, "", call)


YES_NO = ("yes", "no")


@dataclass(frozen=True, kw_only=True)
class StepMetric(ConversationMetric):
    """A metric that asks for a verdict on each of some steps of a conversation."""

    async def verify_steps(
        self,
        prompt: str,
        messages: Sequence[Message],
        chosen: Callable[[Step], bool] | None = None,
        *,
        verdicts: Sequence[str] = YES_NO,
        **fields: FieldText,
    ) -> list[Verdict]:
        """The verdicts on all steps, or on the chosen ones; `index` is the message's number."""
        asked = []
        steps: list[Step] = []
        for part in self.parts(messages):
            part_steps = list(filter(chosen, steps_of(part.messages, part.start)))
            steps += part_steps
            items = [step.item for step in part_steps]
            asked.append(
                self.verify(prompt, items, verdicts=verdicts, conversation=part.texts, **fields)
            )
        answers = [verdict for answered in await asyncio.gather(*asked) for verdict in answered]
        return [
            replace(verdict, index=step.message, item=step.shown)
            for verdict, step in zip(answers, steps, strict=True)
        ]
