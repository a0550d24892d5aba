"""Tool calls: read out of JSON text, with values that are compared as JSON means them."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from metric_cards._bases.strictjson import read
from metrichub import conversation
from metrichub.authoring import Array, Message, ToolCall, written_call

_SPEAKERS = ("human", "ai", "tool", "system")
"""The types of messages of ragas and LangChain, whose other messages have a role."""
_OTHER_BLOCKS = ("text", "thinking", "redacted_thinking", "message", "reasoning")
"""The types of what Anthropic's and OpenAI's replies hold beside calls."""

NAMES = {
    "predictions": ("tools_called", "user_input", "messages", "messages", "messages"),
    "references": (
        *("expected_tools", "reference_tool_calls", "reference_messages", "reference_tool_calls"),
        "expected_tools",
    ),
}
"""The columns in which rows of deepeval and ragas, and two conversations, have calls."""

_WRAPPERS = ("functionCall", "function_call", "toolUse", "tool_call")
"""The keys under which parts of Gemini, Bedrock and Haystack have a call."""

_LONG = 200
"""How many characters of a call's arguments an explanation shows."""

_MAPPING = (dict, Mapping)
"""A dict first: whether an object is a Mapping takes eight times as long to say."""


class Call(NamedTuple):
    """The name of a tool and its arguments; two values are equal where they are equal as JSON."""

    name: str
    arguments: dict[str, Any]


class Calls(NamedTuple):
    """The calls of a text in their order, or what keeps it from being a list of calls."""

    calls: tuple[Call, ...] = ()
    problem: str | None = None


class _NoCall(ValueError):
    """An entry of the list that isn't a call; the text says why."""


def read_calls(text: str, *, plain: bool = False) -> Calls:
    """The calls of a JSON list, of a message that has one as `tool_calls`, or of a conversation.

    `null`, OpenAI's word for no calls, is an empty list. `plain` leaves arguments as they are, and
    reads {tool: arguments} too, as BFCL writes calls.
    """
    value, problem = read(text)
    if problem:
        return Calls(problem=f"it isn't JSON ({problem})")
    try:
        value = _calls_in(value)
    except ValueError as error:
        return Calls(problem=f"it {error}")
    if value is not None and not isinstance(value, list):
        return Calls(problem="it is JSON, but not a list")
    calls: list[Call] = []
    for place, entry in enumerate(value or ()):
        try:
            if not _is_other_block(entry):
                calls.append(_plain_call(entry) if plain else _call(entry))
        except _NoCall as error:
            return Calls(problem=f"its entry {place} {error}")
        except RecursionError:
            return Calls(problem=f"its entry {place} has arguments that are nested too deeply")
    return Calls(tuple(calls))


def text_of_calls(calls: Sequence[Any] | Mapping[str, Any]) -> str:
    """The calls, or those of a message or of a conversation, as JSON text.

    What a model wrote into them is judged when they are read. Objects lose their keys with null.

    Raises:
        ValueError: an entry isn't a call, as no model writes it; the text says which. Or one call
            without a list, as it may be meant for one of several.
    """
    calls = _calls_in(calls)
    calls = [] if calls is None else calls
    if isinstance(calls, Mapping):
        raise ValueError("is one object; give a list of calls, [] for none")
    for place, entry in enumerate(calls):
        try:
            if not _is_other_block(entry) and not isinstance(_written(entry)[1], str):
                _call(entry)
        except _NoCall as error:
            raise ValueError(f"isn't a list of tool calls: its entry {place} {error}") from None
    try:
        return json.dumps(without_null(calls), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"isn't a list of tool calls: it isn't JSON ({error})") from error


def unread_note(totals: Mapping[str, Array]) -> Sequence[str]:
    """A note where no prediction could be read, which is rather a matter of its form."""
    if totals["parsed"]:
        return ()
    return ("no prediction is a JSON list of tool calls or a conversation, so that all score 0",)


def calls_of(messages: Sequence[Message]) -> list[ToolCall]:
    """The calls of all messages in order."""
    return [call for message in messages for call in message["calls"]]


def shown_call(call: ToolCall) -> str:
    """A call as an explanation shows it: search({"q": "tea"}); long arguments are cut."""
    arguments = json.dumps(call["arguments"], ensure_ascii=False, default=str)
    if len(arguments) > _LONG:
        arguments = f"{arguments[:_LONG]}…"
    return f"{call['name']}({'' if arguments == '{}' else arguments})"


def _calls_in(value: Any) -> Any:
    """The calls of an assistant's message, as OpenAI writes it, or of all in a conversation.

    Another value is itself.

    Raises:
        ValueError: messages with roles can't be read.
    """
    if isinstance(value, _MAPPING):
        if "tool_calls" in value and not _has_blocks(value):
            calls, single = value["tool_calls"], value.get("function_call")
            return calls if calls or not isinstance(single, _MAPPING) else [single]
        parts = [value] if isinstance(value.get("role"), str) else value
        may_be = "name" not in value or parts is not value
    else:
        parts, may_be = value, isinstance(value, list) and any(map(_may_be_message, value))
    if not may_be:
        return value
    try:
        messages = conversation(parts)
    except ValueError:
        if any(isinstance(part, _MAPPING) and "role" in part for part in parts):
            raise
        return value
    return calls_of(messages) if messages else value


def _has_blocks(message: Mapping[str, Any]) -> bool:
    """Whether an assistant's content may hold calls too."""
    content = message.get("content")
    blocks = content if isinstance(content, list) and isinstance(message.get("role"), str) else []
    return not all(map(_is_other_block, blocks))


def _may_be_message(entry: Any) -> bool:
    """Whether an entry of a list is rather a message than a call, or a part beside calls."""
    if not isinstance(entry, _MAPPING) or _is_other_block(entry):
        return False
    if entry.get("function") is not None:
        return False
    speaks = isinstance(entry.get("role"), str) or entry.get("type") in _SPEAKERS
    return speaks or not isinstance(entry.get("name"), str)


def _is_other_block(entry: Any) -> bool:
    return (
        isinstance(entry, _MAPPING) and "name" not in entry and entry.get("type") in _OTHER_BLOCKS
    )


def _written(entry: Any) -> tuple[str, Any]:
    """The name and the arguments of a call as they stand there."""
    if not isinstance(entry, _MAPPING):
        raise _NoCall("doesn't name a tool")
    try:
        return written_call(_unwrapped(entry))
    except ValueError as error:
        raise _NoCall(str(error)) from None


def _unwrapped(entry: Any) -> Any:
    """The call within a part whose only key names a call, or the entry itself."""
    if not isinstance(entry, dict) or "name" in entry:
        return entry
    for key in _WRAPPERS:
        wrapped = entry.get(key)
        if isinstance(wrapped, dict) and isinstance(
            wrapped.get("name", wrapped.get("tool_name")), str
        ):
            return wrapped
    return entry


def _plain_call(entry: Any) -> Call:
    """The call with its arguments as JSON has them."""
    entry = _unwrapped(entry)
    if isinstance(entry, dict) and len(entry) == 1 and "function" not in entry:
        ((name, arguments),) = entry.items()
        if isinstance(arguments, dict):
            return Call(name, arguments)
    return Call(*_named_arguments(entry))


def _call(entry: Any) -> Call:
    name, arguments = _named_arguments(entry)
    return Call(name, {key: frozen(item) for key, item in arguments.items()})


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


def without_null(value: Any) -> Any:
    """A value whose objects have no key with null, which is how tables write a missing key."""
    if isinstance(value, dict):
        return {key: without_null(item) for key, item in value.items() if item is not None}
    return list(map(without_null, value)) if isinstance(value, list) else value


def frozen(value: Any) -> Hashable:
    """A value that equals another where JSON's do: 1 is 1.0, but not true; keys have no order."""
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, list):
        return ("array", *map(frozen, value))
    if isinstance(value, dict):
        return frozenset((key, frozen(item)) for key, item in value.items())
    plain: Hashable = value
    return plain
