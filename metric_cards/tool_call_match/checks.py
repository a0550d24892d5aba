"""Checks of one call against one expected call, by the rules of BFCL's `ast_checker` for Python.

An expected call has for each parameter the list of values that are right; "" among them says that
the parameter may be left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from metric_cards._bases.tool_calls import Call

Problem = Literal["wrong_name", "missing", "unexpected", "wrong_type", "wrong_value"]

TYPES: Mapping[str, type] = {
    **{"string": str, "integer": int, "float": float, "boolean": bool, "array": list},
    # BFCL takes any value for a text.
    **{"tuple": list, "dict": dict, "any": str},
    # As JSON Schema calls them.
    **{"number": float, "object": dict},
}
_LEFT_OUT = str.maketrans(dict.fromkeys(" ,./-_*^") | {"'": '"'})


class Function(NamedTuple):
    """A function's parameters: the types of each and of its items, and which are required."""

    types: Mapping[str, tuple[type, type | None]]
    required: Sequence[str]


def same_name(called: str, expected: str) -> bool:
    """Whether these name one function: APIs that allow no point in a name have "_" for it."""
    return called in (expected, expected.replace(".", "_"))


def problem_of(
    call: Call, name: str, allowed: Mapping[str, Sequence[Any]], function: Function
) -> Problem | None:
    """The first thing that is wrong with a call, in the order of BFCL's checks."""
    if not same_name(call.name, name):
        return "wrong_name"
    if any(parameter not in call.arguments for parameter in function.required):
        return "missing"
    for parameter, value in call.arguments.items():
        if parameter not in function.types or parameter not in allowed:
            return "unexpected"
        if problem := _problem_of_value(value, allowed[parameter], *function.types[parameter]):
            return problem
    left_out = (answers for key, answers in allowed.items() if key not in call.arguments)
    return None if all("" in answers for answers in left_out) else "missing"


def _problem_of_value(
    value: Any, answers: Sequence[Any], expected: type, item: type | None
) -> Problem | None:
    if expected is float and type(value) is int:
        value = float(value)
    fits, is_variable = _type_fits(value, answers, expected, item)
    if not fits:
        return "wrong_type"
    if is_variable:
        right = value in answers
    elif expected is dict:
        right = any(_same_members(value, answer) for answer in answers)
    elif expected is list and item is dict:
        right = any(_same_objects(value, answer) for answer in answers)
    elif expected is list:
        plain = [standardized(entry) for entry in value]
        right = plain in [_standardized_list(answer) for answer in answers]
    else:
        right = standardized(value) in map(standardized, answers)
    return None if right else "wrong_value"


def _type_fits(
    value: Any, answers: Sequence[Any], expected: type, item: type | None
) -> tuple[bool, bool]:
    """Whether a value has the type that it should, and whether it stands for a variable.

    The answers have another type than the description where the name of a variable is right.
    """
    first = next((type(answer) for answer in answers if answer != ""), None)
    kind = type(value)
    if kind is not expected:
        return kind is first, True
    is_variable = first not in (None, expected)
    if item is None:
        return True, is_variable
    fits = any(
        not isinstance(answer, list)
        or all(_type_fits(entry, answer, item, None)[0] for entry in value)
        for answer in answers
    )
    return fits, is_variable


def standardized(value: Any) -> Any:
    """A text without blanks, the marks ,./-_*^ and case; another value is itself."""
    return value.translate(_LEFT_OUT).lower() if isinstance(value, str) else value


def _standardized_list(answer: Any) -> list[Any] | None:
    # "", for a list that may be left out, equals the empty one.
    return [standardized(entry) for entry in answer] if isinstance(answer, (list, str)) else None


def _same_members(value: Mapping[str, Any], answer: Any) -> bool:
    """Whether each member has one of its values, and none that has to be there is missing."""
    if not isinstance(answer, dict):
        return False
    members = {key: v if isinstance(v, list) else [v] for key, v in answer.items()}
    return all(
        key in members and standardized(member) in map(standardized, members[key])
        for key, member in value.items()
    ) and all(key in value or "" in allowed for key, allowed in members.items())


def _same_objects(value: Sequence[Any], answer: Any) -> bool:
    """Whether two lists of objects are equal in order."""
    return (
        isinstance(answer, (list, str))
        and len(value) == len(answer)
        and all(
            isinstance(item, dict) and _same_members(item, each)
            for item, each in zip(value, answer, strict=True)
        )
    )
