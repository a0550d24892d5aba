"""Per turn: a metric of questions, answers and contexts, exchange by exchange of a conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from metric_cards._bases.own_card import OwnCard
from metrichub.authoring import (
    Card,
    Message,
    Range,
    Unscored,
    WithTrace,
    WrapperMetric,
    interactions,
)
from metrichub.errors import ParameterError

MADE = {"question", "prediction", "contexts"}
"""The inputs that are made of messages; the metric's others are columns of the conversation."""


@dataclass(frozen=True, kw_only=True)
class PerTurn(WrapperMetric):
    """The mean over a conversation's exchanges, averaged over conversations (macro).

    Attributes:
        metric: The metric of each exchange, as a name or a spec such as "faithfulness(idk=1)". It
            uses this metric's judge, unless the spec names one.
        window: How many exchanges are scored as one: each with those right before it.
        tool_texts: Whether the texts that tools return are contexts too.
        empty: The score of a conversation without an exchange to score: 1, as in deepeval, or None
            to leave the conversation out of the mean.
    """

    card = OwnCard()

    metric: str = "faithfulness"
    window: Annotated[int, Range(1)] = 1
    tool_texts: bool = True
    empty: Literal[1] | None = None

    def __post_init__(self) -> None:
        """Check that the metric reads what an exchange has."""
        super().__post_init__()
        inputs = {*self.inner.inputs()}
        if not inputs & MADE or inputs & {"questions", "predictions", "context", "messages"}:
            allowed = "a metric that reads one question, one prediction or the contexts"
            raise ParameterError(self.name, "metric", self.metric, allowed)

    def own_card(self, card: Card) -> Card:
        """The card with the scale of the metric's score, its reasons and its kind of judge."""
        inner = self.inner.card
        scores = {"score": inner.scale("score") or card.scores["score"]}
        reasons = dict.fromkeys((*card.undefined_for, *inner.undefined_for))
        return replace(card, scores=scores, undefined_for=tuple(reasons), judge=inner.judge)

    def inputs(self) -> tuple[str, ...]:
        """The conversation, and what else the metric reads."""
        return ("messages", *(name for name in self.inner.inputs() if name not in MADE))

    async def observe(self, messages: Sequence[Message], **columns: Any) -> WithTrace | Unscored:
        """The mean of one conversation, with the score of each exchange and its trace."""
        reads = MADE.intersection(self.inner.inputs())
        exchanges = self._exchanges(messages)
        if not exchanges and self.empty is None:
            return Unscored("nobody answers the user", "empty")
        scored = {n: e for n, e in enumerate(exchanges) if "contexts" not in reads or e["contexts"]}
        parts = await asyncio.gather(
            *(
                self.score_part(**columns, **{name: exchange[name] for name in reads})
                for exchange in scored.values()
            )
        )
        steps = {
            f"exchange_{n + 1}": {"score": part.score, **part.step}
            | ({"unscored": part.unscored.reason} if part.unscored else {})
            for n, part in zip(scored, parts, strict=True)
        }
        scores = [part.score for part in parts if part.unscored is None]
        if not scores and self.empty is None:
            return next((p.unscored for p in parts if p.unscored), Unscored("there is no context"))
        score = sum(scores) / len(scores) if scores else 1.0
        return WithTrace({"score": score}, steps)

    def _exchanges(self, messages: Sequence[Message]) -> list[Mapping[str, Any]]:
        """The inputs of each exchange, joined with those before it in its window."""
        numbers = interactions(messages)
        users = [n for n, message in enumerate(messages) if message["role"] == "user"]
        exchanges = []
        for k, numbers_ in enumerate(numbers):
            window = numbers[max(0, k - self.window + 1) : k + 1]
            end = next((n for n in users if n > numbers_[-1]), len(messages))
            spoken = [messages[n] for some in window for n in some]
            exchanges.append(self._inputs(spoken, messages[window[0][0] : end]))
        return exchanges

    def _inputs(self, spoken: Sequence[Message], every: Sequence[Message]) -> Mapping[str, Any]:
        """The texts of the user and of the assistant, and the contexts of all messages."""
        tools = [m["text"] for m in every if m["role"] == "tool" and m["text"].strip()]
        return {
            "question": _text(spoken, "user"),
            "prediction": _text(spoken, "assistant"),
            "contexts": [context for m in every for context in m["contexts"]]
            + (tools if self.tool_texts else []),
        }


def _text(messages: Sequence[Message], role: str) -> str:
    return "\n".join(m["text"] for m in messages if m["role"] == role and m["text"])
