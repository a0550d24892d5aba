"""Metrics of conversations: the parts that a judge sees, and bases for asking about messages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple

from metrichub.catalog.parameters import Range
from metrichub.judge.metric import YES_NO, FieldText, JudgeMetric
from metrichub.judge.prompt_files import Prompt
from metrichub.judge.protocol import Verdict
from metrichub.models.usage import cuts_of_row, tokens_in
from metrichub.text.conversation import Message, message_text, message_texts


class Part(NamedTuple):
    """Some messages in a row of a conversation, and the number of the first."""

    start: int
    messages: list[Message]

    @property
    def texts(self) -> list[str]:
        """The messages as a judge sees them."""
        return message_texts(self.messages, self.start)


@dataclass(frozen=True, kw_only=True)
class ConversationMetric(JudgeMetric):
    """A metric whose `observe` takes `messages` and asks a judge about them.

    Attributes:
        limit_tokens: The most tokens of a conversation, as estimated, that a judge is shown at
            once. A longer conversation is split between messages, and each part requires
            separate calls.
    """

    limit_tokens: Annotated[int, Range(100)] = 60_000

    def parts(self, messages: Sequence[Message]) -> list[Part]:
        """The conversation in parts of at most `limit_tokens`; one, unless it is long.

        The middle of a message that is longer by itself is left out.
        """
        parts: list[Part] = []
        size = 0
        for index, message in enumerate(messages):
            cut, tokens = self._cut(message)
            if not parts or size + tokens > self.limit_tokens:
                parts.append(Part(index, []))
                size = 0
            parts[-1].messages.append(cut)
            size += tokens
        return parts

    def _cut(self, message: Message) -> tuple[Message, int]:
        """The message, with the middle of its text, arguments and contexts left out if too long."""
        tokens = tokens_in(message)
        if tokens <= self.limit_tokens:
            return message, tokens
        if (cuts := cuts_of_row.get()) is not None:
            cuts.append(f"the middle of a message longer than {self.limit_tokens} tokens")
        short = message.copy()
        half = self.limit_tokens // (1 + len(message["calls"]) + len(message["contexts"]))
        short["text"] = _middle_cut(message["text"], half)
        short["calls"] = [call.copy() for call in message["calls"]]
        for call in short["calls"]:
            call["arguments"] = _middle_cut(call["arguments"], half)
        short["contexts"] = [_middle_cut(context, half) for context in message["contexts"]]
        return short, tokens_in(short)

    async def extract_from(self, prompt: str | Prompt, messages: Sequence[Message]) -> list[str]:
        """The texts that the judge finds in all parts of a conversation, each once, in order."""
        asked = (self.extract(prompt, conversation=part.texts) for part in self.parts(messages))
        lists = await asyncio.gather(*asked)
        return list(dict.fromkeys(item for items in lists for item in items))

    async def verify_in(
        self,
        prompt: str | Prompt,
        items: Sequence[str],
        messages: Sequence[Message],
        *,
        verdicts: Sequence[str] = YES_NO,
        **fields: FieldText,
    ) -> list[Verdict]:
        """The verdict on each item in the light of a conversation.

        In a conversation of several parts, an item has the first verdict that is affirmative, or
        else that of the last part.
        """
        asked = (
            self.verify(prompt, items, verdicts=verdicts, conversation=part.texts, **fields)
            for part in self.parts(messages)
        )
        return [
            next((v for v in of_parts if v.verdict == verdicts[0]), of_parts[-1])
            for of_parts in zip(*await asyncio.gather(*asked), strict=True)
        ]

    async def verify_messages(
        self,
        prompt: str | Prompt,
        messages: Sequence[Message],
        numbers: Sequence[int],
        *,
        verdicts: Sequence[str] = YES_NO,
        beside: Mapping[int, Mapping[str, Any]] | None = None,
        **fields: FieldText,
    ) -> list[Verdict]:
        """The verdict on each of the messages with these numbers, which are the verdicts' `index`.

        The judge sees the conversation and, for each message, what is `beside` its number.
        """

        async def judged(part: Part) -> list[Verdict]:
            in_part = [n for n in numbers if part.start <= n < part.start + len(part.messages)]
            items = [
                message_text(part.messages[n - part.start], n, beside.get(n) if beside else None)
                for n in in_part
            ]
            verified = await self.verify(
                prompt, items, verdicts=verdicts, conversation=part.texts, **fields
            )
            return [
                replace(verdict, index=number, item=messages[number]["text"])
                for number, verdict in zip(in_part, verified, strict=True)
            ]

        judged_parts = await asyncio.gather(*map(judged, self.parts(messages)))
        return [verdict for part in judged_parts for verdict in part]


def _middle_cut(value: Any, half: int) -> Any:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= 2 * half else f"{text[:half]} […] {text[len(text) - half :]}"
