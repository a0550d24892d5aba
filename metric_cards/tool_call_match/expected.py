"""The calls that a sample expects, and the functions that could be called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from metric_cards._bases.strictjson import read
from metric_cards.tool_call_match.checks import TYPES, Function

ExpectedCall = tuple[str, Mapping[str, Sequence[Any]]]


class Unreadable(ValueError):
    """A value that isn't expected calls, or a list of functions; the text says why."""


def expected_calls(text: str) -> list[ExpectedCall]:
    """The calls of a reference: a JSON list of {function: {parameter: [values that are right]}}.

    Raises:
        Unreadable: it is something else.
    """
    value, problem = read(text)
    if problem:
        raise Unreadable(f"the reference isn't JSON ({problem})")
    calls = [value] if isinstance(value, dict) else value
    if not isinstance(calls, list):
        raise Unreadable("the reference isn't a list of expected calls")
    expected: list[ExpectedCall] = []
    for place, call in enumerate(calls):
        if not isinstance(call, dict) or len(call) != 1:
            raise Unreadable(f"entry {place} of the reference doesn't name one function")
        ((name, allowed),) = call.items()
        if not isinstance(allowed, dict) or not all(isinstance(v, list) for v in allowed.values()):
            raise Unreadable(
                f"entry {place} of the reference has no list of values for each parameter"
            )
        expected.append((name, allowed))
    return expected


def functions_of(tools: Iterable[Any]) -> dict[str, Function]:
    """The described functions by name; a description may be JSON text, or a list of them.

    Raises:
        Unreadable: a description isn't one of BFCL or OpenAI, or has an unknown type.
    """
    functions: dict[str, Function] = {}
    for entry in tools:
        value, problem = read(entry) if isinstance(entry, str) else (entry, None)
        if problem:
            raise Unreadable(f"a function's description isn't JSON ({problem})")
        if isinstance(value, list):
            functions |= functions_of(value)
            continue
        described = value.get("function", value) if isinstance(value, Mapping) else None
        if not isinstance(described, Mapping) or not isinstance(described.get("name"), str):
            raise Unreadable("a function's description has no name")
        functions[described["name"]] = _function(described["name"], described)
    return functions


def _function(name: str, described: Mapping[str, Any]) -> Function:
    parameters = described.get("parameters") or {}
    if not isinstance(parameters, Mapping):
        raise Unreadable(f"the parameters of {name} aren't an object")
    properties, required = parameters.get("properties") or {}, parameters.get("required")
    required = [] if required is None else required
    if not isinstance(properties, Mapping):
        raise Unreadable(f"the properties of {name} aren't an object")
    if not isinstance(required, list) or not all(isinstance(key, str) for key in required):
        raise Unreadable(f"what {name} requires isn't a list of names")
    types = {
        key: _types(f"{name}.{key}", value)
        for key, value in properties.items()
        # Tables with typed columns fill in null for what an object doesn't have.
        if value is not None
    }
    return Function(types, required)


def _types(path: str, described: Any) -> tuple[type, type | None]:
    """The type of a parameter, and that of its items."""
    kind = described.get("type") if isinstance(described, Mapping) else None
    if not isinstance(kind, str) or kind not in TYPES:
        raise Unreadable(f"{path} has the type {kind!r}; it may be {', '.join(TYPES)}")
    if TYPES[kind] is not list or not described.get("items"):
        return TYPES[kind], None
    return list, _types(f"{path}[]", described["items"])[0]
