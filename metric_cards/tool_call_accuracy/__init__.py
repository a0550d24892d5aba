"""Tool call accuracy: the right tools called in the right order, with the right arguments."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from rapidfuzz.distance import Levenshtein

from metric_cards._bases.pairing import best_pairing
from metric_cards._bases.tool_calls import NAMES, Call, read_calls, text_of_calls, unread_note
from metrichub.authoring import Array, Metric, Row, Unscored


@dataclass(frozen=True, kw_only=True)
class ToolCallAccuracy(Metric):
    """The fraction of right arguments, or 0 if the tools are wrong, averaged over samples (macro).

    Attributes:
        order: Whether the tools have to be called in the order of the reference, or equally often
            in any order; calls of one tool are then paired so that the score is highest.
        extra_arguments: How to treat an argument that the expected call doesn't have.
        strings: The value of two strings that differ: 0 (`exact`), or one minus their edit distance
            divided by the length of the longer one (`similar`).
    """

    order: Literal["strict", "any"] = "strict"
    extra_arguments: Literal["ignored", "wrong"] = "ignored"
    strings: Literal["exact", "similar"] = "exact"

    text_of_objects = staticmethod(text_of_calls)
    names_of_objects = NAMES
    reads_conversations = True

    def observe(self, prediction: str, reference: str) -> Row | Unscored:
        """The score of one sample, and whether its calls could be read and its tools are right."""
        expected, problem = read_calls(reference)
        if problem:
            return Unscored(f"the reference isn't a list of tool calls: {problem}")
        calls, broken = read_calls(prediction)
        aligned = broken is None and self._sequence(calls) == self._sequence(expected)
        return {
            "score": self._arguments(calls, expected) if aligned else 0.0,
            "aligned": aligned,
            "parsed": broken is None,
        }

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """That no prediction is a list of calls, if so."""
        return [*super().notes(totals), *unread_note(totals)]

    def _sequence(self, calls: tuple[Call, ...]) -> list[str]:
        names = [call.name for call in calls]
        return names if self.order == "strict" else sorted(names)

    def _arguments(self, calls: tuple[Call, ...], expected: tuple[Call, ...]) -> float:
        """The mean fraction of right arguments of calls of the same tools; 1 if none was due."""
        if not expected:
            return 1.0
        if self.order == "strict":
            return sum(map(self._right, calls, expected)) / len(expected)
        total = 0.0
        for name in dict.fromkeys(call.name for call in expected):
            due = [call for call in expected if call.name == name]
            done = [call for call in calls if call.name == name]
            total += best_pairing(np.array([[self._right(a, b) for b in due] for a in done]))
        return total / len(expected)

    def _right(self, call: Call, expected: Call) -> float:
        """The fraction of one call's arguments that are right; 1 if there are none."""
        count = len(expected.arguments)
        if self.extra_arguments == "wrong":
            count = len(expected.arguments | call.arguments)
        if not count:
            return 1.0
        values = call.arguments
        alike = (self._alike(values[k], v) for k, v in expected.arguments.items() if k in values)
        return sum(alike) / count

    def _alike(self, first: Hashable, second: Hashable) -> float:
        if self.strings == "similar" and isinstance(first, str) and isinstance(second, str):
            return Levenshtein.normalized_similarity(first, second)
        return float(first == second)
