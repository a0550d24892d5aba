"""Tool call match: whether the calls of an agent are right by the rules of BFCL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from metric_cards._bases.json_replies import json_text
from metric_cards._bases.pairing import best_pairing
from metric_cards._bases.tool_calls import Call, read_calls, unread_note
from metric_cards.tool_call_match.checks import Function, Problem, problem_of
from metric_cards.tool_call_match.expected import (
    ExpectedCall,
    Unreadable,
    expected_calls,
    functions_of,
)
from metrichub.authoring import Array, Metric, Row, Unscored

PROBLEMS = ("wrong_count", *get_args(Problem), "unmatched")


@dataclass(frozen=True, kw_only=True)
class ToolCallMatch(Metric):
    """The fraction of samples whose calls are all right, and of each first problem."""

    text_of_objects = {"predictions": json_text, "references": json_text}  # noqa: RUF012  # as the base has
    reads_conversations = True

    def observe(self, prediction: str, reference: str, functions: Sequence[Any]) -> Row | Unscored:
        """1 for a sample whose calls are right, else for its problem."""
        try:
            expected, described = expected_calls(reference), functions_of(functions)
        except Unreadable as error:
            return Unscored(str(error))
        for name, _ in expected:
            if name not in described:
                return Unscored(f"no function describes {name!r}, which the reference calls")
        calls, broken = read_calls(prediction, plain=True)
        problem = None if broken else _problem(calls, expected, described)
        return {
            "score": broken is None and problem is None,
            "parsed": broken is None,
            **{name: name == problem for name in PROBLEMS},
        }

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """That no prediction is a list of calls, if so."""
        return [*super().notes(totals), *unread_note(totals)]


def _problem(
    calls: Sequence[Call], expected: Sequence[ExpectedCall], described: Mapping[str, Function]
) -> str | None:
    """The problem with the calls; those of several may have any order."""
    if len(calls) != len(expected):
        return "wrong_count"
    problems = [
        [problem_of(call, name, allowed, described[name]) for name, allowed in expected]
        for call in calls
    ]
    if len(calls) == 1:
        return problems[0][0]
    right = np.array([[problem is None for problem in row] for row in problems], np.float64)
    matched = best_pairing(right.reshape(len(calls), -1)) if len(calls) else 0
    return None if matched == len(calls) else "unmatched"
