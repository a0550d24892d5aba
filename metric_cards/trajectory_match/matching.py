"""The calls of two conversations in pairs, and the first thing that keeps them from matching."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, Literal, NamedTuple

import numpy as np

from metric_cards._bases.pairing import best_pairs
from metric_cards._bases.tool_calls import calls_of, frozen, shown_call, without_null
from metrichub.authoring import Message, ToolCall

Mode = Literal["strict", "unordered", "subset", "superset"]
Arguments = Literal["exact", "ignore", "subset", "superset"]
Rule = Arguments | tuple[str, ...]
"""How arguments are compared; keys are the only ones that are."""


class Made(NamedTuple):
    """A call: its tool, its arguments by name, or a value that isn't an object, and its text."""

    name: str
    arguments: Any
    shown: str


class Comparison(NamedTuple):
    """The calls of both sides, the matched ones by their numbers, and the first problem, or ""."""

    made: Sequence[Made]
    expected: Sequence[Made]
    pairs: Mapping[int, int]
    problem: str


def compare(
    messages: Sequence[Message],
    reference: Sequence[Message],
    mode: Mode,
    arguments: Arguments,
    rules: Mapping[str, Rule],
) -> Comparison:
    """The comparison of two conversations."""

    def fit(made: Made, expected: Made) -> bool:
        rule = rules.get(made.name, arguments)
        there = mode == "subset" or fits(made, expected, rule)
        return there and (mode in ("strict", "superset") or fits(expected, made, rule))

    made, expected = (list(map(_made, calls_of(side))) for side in (messages, reference))
    pairs: dict[int, int] = {}
    for own, due in zip(_groups(messages, mode), _groups(reference, mode), strict=False):
        right = np.array([[fit(made[i], expected[j]) for j in due] for i in own], np.float64)
        best = best_pairs(right) if own and due else []
        pairs |= {own[row]: due[column] for row, column in best if right[row, column]}
    problem = _other_form(messages, reference) if mode == "strict" else ""
    return Comparison(made, expected, pairs, problem or _unmatched(made, expected, pairs, mode))


def fits(one: Made, other: Made, rule: Rule) -> bool:
    """Whether two calls of one tool have arguments that match by a rule."""
    if one.name != other.name:
        return False
    a, b = one.arguments, other.arguments
    if rule == "ignore":
        return True
    if rule == "exact" or not (isinstance(a, dict) and isinstance(b, dict)):
        return bool(a == b)
    if rule == "subset":
        return a.items() <= b.items()
    if rule == "superset":
        return a.items() >= b.items()
    return all(_inside(a, key) == _inside(b, key) for key in rule)


def _made(call: ToolCall) -> Made:
    arguments = without_null(call["arguments"])
    plain = isinstance(arguments, dict)
    own = {k: frozen(v) for k, v in arguments.items()} if plain else frozen(arguments)
    return Made(call["name"], own, shown_call(call))


def _inside(arguments: Mapping[str, Any], key: str) -> Any:
    """What a key leads to, None where it leads nowhere; objects in arguments are frozen."""
    value: Any = arguments
    for step in key.split("."):
        value = dict(value) if isinstance(value, frozenset) else value
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _groups(messages: Sequence[Message], mode: Mode) -> list[list[int]]:
    """The numbers of the calls that may match those of the same group: of a message, or all."""
    sizes = [len(message["calls"]) for message in messages if message["calls"]]
    if mode != "strict":
        return [list(range(sum(sizes)))]
    ends = list(accumulate(sizes))
    return [list(range(end - size, end)) for end, size in zip(ends, sizes, strict=True)]


def _other_form(messages: Sequence[Message], reference: Sequence[Message]) -> str:
    """The first message of another role, or with calls on one side alone, or one too many."""
    for index, (own, due) in enumerate(zip(messages, reference, strict=False)):
        if own["role"] != due["role"]:
            return f"message {index} has the role {own['role']}, not {due['role']}"
        if bool(own["calls"]) != bool(due["calls"]):
            calls = "calls tools" if own["calls"] else "calls no tool"
            return f"message {index} {calls}, unlike that of the reference"
    made, expected = len(messages), len(reference)
    return "" if made == expected else f"there are {made} messages, and {expected} in the reference"


def _unmatched(
    made: Sequence[Made], expected: Sequence[Made], pairs: Mapping[int, int], mode: Mode
) -> str:
    """The first call without a partner that needs one, in words."""
    missing = [call for j, call in enumerate(expected) if j not in {*pairs.values()}]
    extra = [(i, call) for i, call in enumerate(made) if i not in pairs]
    if extra and mode != "superset":
        number, call = extra[0]
        near = next((due.shown for due in missing if due.name == call.name), None)
        why = f"doesn't match {near}" if near else "isn't expected"
        return f"call {number + 1}, {call.shown}, {why}"
    if missing and mode != "subset":
        call = missing[0]
        near = next((own.shown for _, own in extra if own.name == call.name), None)
        return f"the expected {call.shown} isn't called{f', but {near}' if near else ''}"
    return ""
