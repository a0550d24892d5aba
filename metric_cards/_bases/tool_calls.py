"""Tool calls: read out of JSON text, with values that are compared as JSON means them."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from metric_cards._bases.strictjson import read
from metrichub.authoring import Array

ARGUMENTS = ("arguments", "args", "input", "input_parameters", "inputParameters")
"""What OpenAI, LangChain and ragas, Anthropic, and deepeval call the arguments of a call."""
_SPEAKERS = ("human", "ai", "tool", "system")
"""The types of messages in a conversation of ragas or LangChain."""
_OTHER_BLOCKS = ("text", "thinking", "redacted_thinking", "message", "reasoning")
"""The types of what Anthropic's and OpenAI's replies hold beside calls."""

NAMES = {
    "predictions": ("tools_called", "user_input"),
    "references": ("expected_tools", "reference_tool_calls"),
}
"""The columns in which rows of deepeval and ragas have calls; a conversation has those made."""

_MAPPING = (dict, Mapping)
"""A dict first: whether an object is a Mapping takes eight times as long to say."""


class Call(NamedTuple):
    """The name of a tool and its arguments; two values are equal where they are equal as JSON."""

    name: str
    arguments: dict[str, Any]


class Calls(NamedTuple):
    """The calls of a text in their order, or what keeps it from being a list of calls."""

    made: tuple[Call, ...] = ()
    problem: str | None = None


class _NoCall(ValueError):
    """An entry of the list that isn't a call; the text says why."""


def read_calls(text: str, *, plain: bool = False) -> Calls:
    """The calls of a JSON list, or of a message that has one as `tool_calls`.

    `null`, OpenAI's word for no calls, is an empty list. `plain` leaves arguments as they are, and
    reads {tool: arguments} too, as BFCL writes calls.
    """
    value, problem = read(text)
    if problem:
        return Calls(problem=f"it isn't JSON ({problem})")
    value = _calls_of_message(value)
    if value is not None and not isinstance(value, list):
        return Calls(problem="it is JSON, but not a list")
    made: list[Call] = []
    for place, entry in enumerate(value or ()):
        try:
            if not _is_other_block(entry):
                made.append(_plain_call(entry) if plain else _call(entry))
        except _NoCall as error:
            return Calls(problem=f"its entry {place} {error}")
    return Calls(tuple(made))


def text_of_calls(calls: Sequence[Any] | Mapping[str, Any]) -> str:
    """The calls, or those of the one message or of a conversation, as JSON text.

    What a model wrote into them is judged when they are read.

    Raises:
        ValueError: an entry isn't a call, as no model writes it; the text says which. Or one call
            without a list, as it may be meant for one of several.
    """
    calls = _calls_of_message(calls)
    message = calls[0] if isinstance(calls, Sequence) and len(calls) == 1 else calls
    if (message_calls := _calls_of_message(message)) is not message:
        calls = message_calls or []
    if isinstance(calls, Mapping):
        raise ValueError("is one object; give a list of calls, [] for none")
    for place, entry in enumerate(calls):
        try:
            if not _is_other_block(entry) and not isinstance(_written(entry)[1], str):
                _call(entry)
        except _NoCall as error:
            raise ValueError(f"isn't a list of tool calls: its entry {place} {error}") from None
    try:
        return json.dumps(calls, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"isn't a list of tool calls: it isn't JSON ({error})") from error


def unread_note(totals: Mapping[str, Array]) -> Sequence[str]:
    """A note where no prediction could be read, which is rather a matter of its form."""
    if totals["parsed"]:
        return ()
    return (
        "no prediction is a JSON list of tool calls, so that all score 0; of a conversation, give "
        "the calls alone",
    )


def _calls_of_message(value: Any) -> Any:
    """The calls of an assistant's message, as OpenAI writes it, or of all in a conversation.

    Another value is itself.
    """
    if (
        isinstance(value, list)
        and value
        and all(isinstance(each, _MAPPING) and each.get("type") in _SPEAKERS for each in value)
    ):
        return [call for message in value for call in message.get("tool_calls") or ()]
    is_message = isinstance(value, _MAPPING) and "tool_calls" in value
    return value["tool_calls"] if is_message else value


def _is_other_block(entry: Any) -> bool:
    return (
        isinstance(entry, _MAPPING) and "name" not in entry and entry.get("type") in _OTHER_BLOCKS
    )


def _written(entry: Any) -> tuple[str, Any]:
    """The name and the arguments of a call as they stand there."""
    if isinstance(entry, dict) and isinstance(entry.get("function"), dict):
        entry = entry["function"]
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        message = isinstance(entry, dict) and "role" in entry
        conversation = "is a message of a conversation; give its calls alone"
        raise _NoCall(conversation if message else "doesn't name a tool")
    arguments = (entry[key] for key in ARGUMENTS if entry.get(key) is not None)
    return entry["name"], next(arguments, None)


def _plain_call(entry: Any) -> Call:
    """The call with its arguments as JSON has them."""
    if isinstance(entry, dict) and len(entry) == 1 and "function" not in entry:
        ((name, arguments),) = entry.items()
        if isinstance(arguments, dict):
            return Call(name, arguments)
    return Call(*_named_arguments(entry))


def _call(entry: Any) -> Call:
    name, arguments = _named_arguments(entry)
    return Call(name, {key: _frozen(item) for key, item in arguments.items()})


def _named_arguments(entry: Any) -> tuple[str, dict[str, Any]]:
    """The name and the arguments of a call, read from JSON where they are a text."""
    name, arguments = _written(entry)
    if isinstance(arguments, str):
        arguments, problem = read(arguments)
        # Servers write "" for the arguments of a tool that takes none.
        if problem not in (None, "empty"):
            raise _NoCall(f"has arguments that aren't JSON ({problem})")
    if arguments is not None and not isinstance(arguments, dict):
        raise _NoCall("has arguments that aren't an object")
    return name, arguments or {}


def _frozen(value: Any) -> Hashable:
    """A value that equals another where JSON's do: 1 is 1.0, but not true; keys have no order."""
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, list):
        return ("array", *map(_frozen, value))
    if isinstance(value, dict):
        return frozenset((key, _frozen(item)) for key, item in value.items())
    plain: Hashable = value
    return plain
