"""Tools as APIs describe them, and calls whose arguments are checked against their schemas."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from metric_cards._bases.json_schemas import BrokenSchema, Schema, compiled
from metric_cards._bases.strictjson import read
from metrichub.authoring import ToolCall
from metrichub.errors import InputError, what

_SCHEMAS = ("parameters", "input_schema", "inputSchema")
"""Where OpenAI, Anthropic and MCP have the JSON Schema of a tool's arguments."""
_BESIDE = ("annotations", "outputSchema", "output_schema", "_meta", "meta", "metadata", "execution")
"""What objects a tool without arguments has, those of MCP first."""
_NO_SCHEMA: Mapping[str, Any] = {"type": "object"}


def read_tools(metric: str, described: Iterable[Any]) -> dict[str, Schema]:
    """The schema of each tool's arguments, by the tool's name.

    A description is OpenAI's (Chat or Responses), Anthropic's or MCP's, as an object or as JSON
    text; a text may hold a list of them. A text that isn't JSON is the name of a tool. A tool
    without a schema takes any object.

    Raises:
        InputError: a description has no name, or a schema that can't be used.
    """
    schemas = {}
    for tool in _tools(metric, described):
        function = tool.get("function")
        description = function if isinstance(function, Mapping) else tool
        name = description.get("name")
        if not isinstance(name, str):
            raise _error(metric, "a description without the name of a tool")
        schemas_in = [description[key] for key in _SCHEMAS if description.get(key) is not None]
        schema = schemas_in[0] if schemas_in else None
        objects = (key for key, v in description.items() if v and isinstance(v, Mapping))
        if schema is None and (other := next((k for k in objects if k not in _BESIDE), None)):
            keys = ", ".join(_SCHEMAS)
            raise _error(
                metric, f"{name!r} with {other!r}, which isn't read; put its schema under {keys}"
            )
        schema = _NO_SCHEMA if schema is None else schema
        try:
            schemas[name] = compiled(json.dumps(schema, allow_nan=False), formats=False)
        except (BrokenSchema, TypeError, ValueError, RecursionError) as error:
            raise _error(metric, f"a broken JSON Schema for {name!r}: {error}") from None
    return schemas


def problem_of_call(call: ToolCall, tools: Mapping[str, Schema]) -> str | None:
    """Why a call doesn't fit the schema of its tool; None if it does.

    Nothing fits a tool that isn't described, or arguments that aren't an object.
    """
    schema = tools.get(call["name"])
    if schema is None:
        return f"there is no tool {call['name']!r}"
    if not isinstance(call["arguments"], Mapping):
        return "the arguments aren't a JSON object"
    return schema.problem(call["arguments"])


def _tools(metric: str, described: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    for entry in described:
        if isinstance(entry, str) and not entry.lstrip().startswith(("{", "[")):
            yield {"name": entry.strip()}
            continue
        value, problem = read(entry) if isinstance(entry, str) else (entry, None)
        if problem:
            raise _error(metric, f"a text that isn't JSON ({problem})")
        if isinstance(value, list):
            yield from _tools(metric, value)
        elif isinstance(value, Mapping):
            yield value
        else:
            raise _error(metric, f"{what(value)}, which doesn't describe a tool")


def _error(metric: str, problem: str) -> InputError:
    return InputError(f"{metric}: the column 'tools' holds {problem}")
