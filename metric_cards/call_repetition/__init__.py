"""Call repetition: how often an agent makes the same call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from metric_cards._bases.tool_calls import calls_of, frozen, shown_call
from metrichub.authoring import Array, Message, Metric, Row


@dataclass(frozen=True, kw_only=True)
class CallRepetition(Metric):
    """How often the most frequent call of a conversation is made, averaged (macro)."""

    def observe(self, messages: Sequence[Message]) -> Row:
        """The times of the most frequent call, and the longest run of one; 0 without calls."""
        keys = [(call["name"], frozen(call["arguments"])) for call in calls_of(messages)]
        return {
            "score": max(Counter(keys).values(), default=0),
            "longest_run": max((len([*run]) for _, run in groupby(keys)), default=0),
        }

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """That there is no call, which may rather be a matter of the messages' form."""
        return [
            *super().notes(totals),
            *(() if totals["score"] else ("no conversation has a tool call",)),
        ]

    def explain(self, messages: Sequence[Message]) -> Mapping[str, Any]:
        """The calls that are made more than once, the most frequent first, and how often."""
        calls = calls_of(messages)
        times = Counter((call["name"], frozen(call["arguments"])) for call in calls)
        texts = {(c["name"], frozen(c["arguments"])): shown_call(c) for c in reversed(calls)}
        repeated = [(texts[key], count) for key, count in times.most_common() if count > 1]
        return {"calls": [{"call": text, "times": count} for text, count in repeated]}
