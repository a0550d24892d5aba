"""Tool call F1: the overlap of the calls that were made and those that were expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from metric_cards._bases.tool_calls import NAMES, Call, read_calls, text_of_calls, unread_note
from metrichub.authoring import Array, Metric, Row, Unscored


@dataclass(frozen=True, kw_only=True)
class ToolCallF1(Metric):
    """F1 of calls with the same tool and arguments, averaged over samples (macro).

    Attributes:
        repeats: Whether a call that is made twice must be expected twice. If False, the calls are
            compared as sets.
        both_empty: The score, precision and recall if no call was expected and none was made.
    """

    repeats: bool = True
    both_empty: Literal[0, 1] = 1

    text_of_objects = staticmethod(text_of_calls)
    names_of_objects = NAMES
    reads_conversations = True

    def observe(self, prediction: str, reference: str) -> Row | Unscored:
        """F1, precision and recall of one sample, and whether its calls could be read."""
        expected, problem = read_calls(reference)
        if problem:
            return Unscored(f"the reference isn't a list of tool calls: {problem}")
        made, broken = read_calls(prediction)
        done, due = self._bag(made), self._bag(expected)
        shared, predicted, required = (done & due).total(), done.total(), due.total()
        if broken is None and predicted + required == 0:
            shared = predicted = required = self.both_empty
        return {
            "score": 2 * shared / max(predicted + required, 1),
            "precision": shared / max(predicted, 1),
            "recall": shared / max(required, 1),
            "parsed": broken is None,
        }

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """That no prediction is a list of calls, if so."""
        return [*super().notes(totals), *unread_note(totals)]

    def _bag(self, calls: tuple[Call, ...]) -> Counter[object]:
        keys = [(call.name, frozenset(call.arguments.items())) for call in calls]
        return Counter(keys if self.repeats else set(keys))
