"""Tool call F1: the overlap of the calls that were made and those that were expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from metric_cards._bases.pairing import best_pairing
from metric_cards._bases.tool_calls import NAMES, Call, read_calls, text_of_calls, unread_note
from metric_cards.tool_call_f1.partial import equal_share, heaviest_subsequence
from metrichub.authoring import OMIT_DEFAULT, Array, Metric, Row, Unscored

Key = tuple[str, frozenset[Any]]
"""A call that can be counted: its tool, and its arguments with their values."""


@dataclass(frozen=True, kw_only=True)
class ToolCallF1(Metric):
    """F1 of calls with the same tool and arguments, averaged over samples (macro).

    Attributes:
        order: Whether calls have to be made in the order of the reference; the longest common
            subsequence counts.
        partial: Whether a call of the correct tool counts by the fraction of correct arguments
            among the arguments of both sides together; an object in them likewise. If False, all
            have to be correct.
        repeats: Whether a call that is made twice must be expected twice. If False, the calls are
            compared as sets.
        both_empty: The score, precision and recall if no call was expected and none was made.
    """

    order: bool = field(default=False, metadata=OMIT_DEFAULT)
    partial: bool = field(default=False, metadata=OMIT_DEFAULT)
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
        calls, broken = read_calls(prediction)
        done, due = self._keys(calls), self._keys(expected)
        shared, predicted, required = self._shared(done, due), len(done), len(due)
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

    def _keys(self, calls: Sequence[Call]) -> list[Key]:
        keys = [(call.name, frozenset(call.arguments.items())) for call in calls]
        return keys if self.repeats else list(dict.fromkeys(keys))

    def _shared(self, done: Sequence[Key], due: Sequence[Key]) -> float:
        """How many calls both sides have, of the pairs that make the most of them."""
        if not (self.order or self.partial):
            return (Counter(done) & Counter(due)).total()
        weights = [[self._weight(call, other) for other in due] for call in done]
        if self.order:
            return heaviest_subsequence(weights)
        return best_pairing(np.array(weights)) if done and due else 0.0

    def _weight(self, call: Key, other: Key) -> float:
        if call == other or not self.partial:
            return float(call == other)
        return equal_share(call[1], other[1]) if call[0] == other[0] else 0.0
