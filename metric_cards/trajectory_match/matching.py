"""The calls of two conversations in pairs, and the first thing that keeps them from matching."""

from __future__ import annotations

from collections import defaultdict, deque
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

    calls: Sequence[Made]
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

    def fit(call: Made, expected: Made) -> bool:
        rule = rules.get(call.name, arguments)
        fits_ = mode == "subset" or fits(call, expected, rule)
        return fits_ and (mode in ("strict", "superset") or fits(expected, call, rule))

    calls, expected = (list(map(_call_of, calls_of(side))) for side in (messages, reference))
    pairs: dict[int, int] = {}
    for group, due in zip(_groups(messages, mode), _groups(reference, mode), strict=False):
        equal = _equal_pairs({i: calls[i] for i in group}, {j: expected[j] for j in due})
        group = [i for i in group if i not in equal]
        due = sorted({*due} - {*equal.values()})
        right = np.array([[fit(calls[i], expected[j]) for j in due] for i in group], np.float64)
        best = best_pairs(right) if group and due else []
        pairs |= equal | {group[row]: due[column] for row, column in best if right[row, column]}
    problem = _other_form(messages, reference) if mode == "strict" else ""
    return Comparison(calls, expected, pairs, problem or _unmatched(calls, expected, pairs, mode))


def fits(first: Made, other: Made, rule: Rule) -> bool:
    """Whether two calls of one tool have arguments that match by a rule."""
    if first.name != other.name:
        return False
    a, b = first.arguments, other.arguments
    if rule == "ignore":
        return True
    if rule == "exact" or not (isinstance(a, dict) and isinstance(b, dict)):
        return bool(a == b)
    if rule == "subset":
        return a.items() <= b.items()
    if rule == "superset":
        return a.items() >= b.items()
    return all(_inside(a, key) == _inside(b, key) for key in rule)


def _call_of(call: ToolCall) -> Made:
    arguments = without_null(call["arguments"])
    plain = isinstance(arguments, dict)
    frozen_arguments = {k: frozen(v) for k, v in arguments.items()} if plain else frozen(arguments)
    return Made(call["name"], frozen_arguments, shown_call(call))


def _equal_pairs(calls: Mapping[int, Made], expected: Mapping[int, Made]) -> dict[int, int]:
    """The numbers of equal calls in pairs, in order.

    No pairing has more pairs than one with these: what matches a call matches whatever that
    matches, so that partners of equal calls can be exchanged.
    """
    partners: defaultdict[object, deque[int]] = defaultdict(deque)
    for number, call in expected.items():
        partners[_key(call)].append(number)
    return {
        number: partners[_key(call)].popleft()
        for number, call in calls.items()
        if partners[_key(call)]
    }


def _key(call: Made) -> object:
    """What equal calls have in common."""
    arguments = call.arguments
    return call.name, frozenset(arguments.items()) if isinstance(arguments, dict) else arguments


def _inside(arguments: Mapping[str, Any], key: str) -> Any:
    """The value at a key, None where there is none; objects in arguments are frozen."""
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
    for index, (message, due) in enumerate(zip(messages, reference, strict=False)):
        if message["role"] != due["role"]:
            return f"message {index} has the role {message['role']}, not {due['role']}"
        if bool(message["calls"]) != bool(due["calls"]):
            calls = "calls tools" if message["calls"] else "calls no tool"
            return f"message {index} {calls}, unlike that of the reference"
    size, expected = len(messages), len(reference)
    return "" if size == expected else f"there are {size} messages, and {expected} in the reference"


def _unmatched(
    calls: Sequence[Made], expected: Sequence[Made], pairs: Mapping[int, int], mode: Mode
) -> str:
    """The first call without a partner that needs one, in words."""
    partners = {*pairs.values()}
    missing = [call for j, call in enumerate(expected) if j not in partners]
    extra = [(i, call) for i, call in enumerate(calls) if i not in pairs]
    if extra and mode != "superset":
        number, call = extra[0]
        near = next((due.shown for due in missing if due.name == call.name), None)
        why = f"doesn't match {near}" if near else "isn't expected"
        return f"call {number + 1}, {call.shown}, {why}"
    if missing and mode != "subset":
        call = missing[0]
        near = next((call_.shown for _, call_ in extra if call_.name == call.name), None)
        return f"the expected {call.shown} isn't called{f', but {near}' if near else ''}"
    return ""
