"""Conversations: what chats and agents say and do, read from the formats that people have.

A conversation is a list of messages, or JSON text of one: of OpenAI (Chat and Responses),
Anthropic, Gemini, Bedrock, OpenTelemetry, LangChain and LangSmith, inspect, ragas or deepeval. All
become `Message`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from metrichub.data.traces import entries_of
from metrichub.data.values import json_value
from metrichub.errors import what
from metrichub.text.answers import without_thoughts
from metrichub.text.conversation import Message, Role, ToolCall, written_call

_ROLES: Mapping[str, Role] = {
    **{"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"},
    **{"developer": "system", "human": "user", "ai": "assistant", "model": "assistant"},
    **{"AIMessageChunk": "assistant", "gpt": "assistant", "function": "tool"},
}
_TEXT_PARTS = ("text", "input_text", "output_text", "refusal", "summary_text")
_REASONING = ("reasoning", "thinking", "redacted_thinking", "reasoning_content")
_CALL_PARTS = (
    *("tool_use", "tool_call", "function_call", "server_tool_use", "mcp_tool_use", "mcp_call"),
    *("server_tool_call", "tool_call_chunk", "invalid_tool_call"),  # As LangChain names blocks.
)
_UNREAD_CALLS = ("tool-call", "tool-invocation", "tool_invocation", "dynamic-tool")
"""The kinds of calls of Vercel's AI SDK."""
_RESULT_PARTS = (
    *("tool_result", "tool_call_response", "function_call_output", "mcp_tool_result"),
    *("web_search_tool_result", "server_tool_result"),
)
_KINDS = {
    **dict.fromkeys(("functionCall", "function_call", "toolUse", "tool_call"), "tool_use"),
    **dict.fromkeys(("functionResponse", "function_response", "toolResult"), "tool_result"),
    "reasoningContent": "reasoning",
}
"""The kinds of the parts of Gemini and Bedrock, which have a key in place of a type."""
_CONTENTS = ("parts", "content", "value", "text")
_RETURNED = ("content", "response", "result", "output")


def conversation(value: object) -> list[Message]:
    """The messages of one conversation: a list of them, or JSON text of one, in any of the formats.

    The formats are those of OpenAI (Chat and Responses), Anthropic, Gemini, Bedrock, OpenTelemetry,
    LangChain, LangSmith, inspect, ragas and deepeval.

    >>> [message["role"] for message in conversation([{"type": "human", "content": "Hello?"}])]
    ['user']

    Raises:
        ValueError: it isn't one; the text says why.
    """
    messages = _Messages()
    try:
        for entry in entries_of(value if isinstance(value, str) else json_value(value)):
            messages.read(entry)
    except RecursionError:
        raise ValueError("isn't a conversation: it is nested too deeply") from None
    except (AttributeError, LookupError, TypeError):
        raise ValueError(
            "isn't a conversation: a part of it has another form than in any known format"
        ) from None
    return messages.done


class _Messages:
    """The messages that were read so far. Calls are numbered; results find their call."""

    def __init__(self) -> None:
        self.done: list[Message] = []
        self._ids: dict[str, str] = {}
        self._open: dict[str, str] = {}  # The names of calls without a result, by number.
        self._number = self._place = 0

    def read(self, entry: Mapping[str, Any]) -> None:
        """Go on with a message, or an item of OpenAI's Responses."""
        place, self._place = self._place, self._place + 1
        if "role" not in entry and isinstance(entry.get("message"), Mapping):
            entry = entry["message"]
        if isinstance(entry.get("kwargs"), Mapping) and not _is_call(entry):
            path = entry.get("id") or [""]
            class_name = str(path[-1]).removesuffix("Chunk").removesuffix("Message").lower()
            entry = {"type": class_name, **entry["kwargs"]}
        elif isinstance(entry.get("data"), Mapping):
            entry = {"type": entry.get("type"), **entry["data"]}
        kind = entry.get("type")
        if kind in _REASONING or kind == "item_reference":
            return
        if kind in _CALL_PARTS or _is_call(entry):
            self._call_item(entry)
        elif kind in _RESULT_PARTS:
            self._result(entry, entry.get("output"))
        else:
            self._message(entry, place)

    def _message(self, entry: Mapping[str, Any], place: int) -> None:
        role = _role(entry, place)
        content = _first(entry, _CONTENTS)
        if role == "tool" and not any(map(_is_result, _parts(content))):
            self._result(entry, content)
            return
        message = _new(role, name=_named(entry))
        if entry.get("toolInvocations"):
            raise _unread("toolInvocations")
        listed = _calls_of(entry)
        results = self._fill(message, content, listed)
        message["text"] = message["text"] or str(entry.get("refusal") or "")
        if role == "assistant":
            message["text"] = without_thoughts(message["text"])
        message["calls"] += map(self._call, listed)
        message["contexts"] = _contexts(entry)
        message["left_out"] += map(str, entry.get("left_out") or ())
        if message["calls"]:  # Anthropic's server runs a tool within the message that calls it.
            self.done.append(message)
        for part in results:
            self._result(part, _first(part, _RETURNED))
        called = [] if message["calls"] else _called(entry.get("tools_called") or [])
        if called:
            self._before(role, called)
        says = message["text"] or message["left_out"] or not (results or called)
        if says and not message["calls"]:
            self.done.append(message)

    def _fill(
        self, message: Message, content: object, listed: list[Any] | None = None
    ) -> list[Mapping[str, Any]]:
        """Add the texts and the calls of a content to a message; returns its parts with results.

        The calls that are listed beside the content too are taken out of that list.
        """
        results = []
        for part in _parts(content):
            kind = None if isinstance(part, str) else part.get("type")
            if isinstance(part, str):
                message["text"] += part
            elif kind in _TEXT_PARTS or (kind is None and isinstance(part.get("text"), str)):
                message["text"] += str(_first(part, ("text", "content", "refusal"), ""))
            elif kind in _CALL_PARTS and message["role"] != "tool":
                message["calls"].append(self._call(_merged(part, listed or [])))
                results += [part] if _has_outcome(part) else []
            elif _is_result(part):
                results.append(part)
            elif kind is None and (message["role"] == "tool" or part is content):
                message["text"] += json.dumps(part, ensure_ascii=False)
            elif kind is None:
                message["left_out"] += [key for key in part if part[key] is not None][:1]
            elif kind in _UNREAD_CALLS or (kind != "tool-result" and part.get("toolCallId")):
                raise _unread(kind)
            elif kind not in _REASONING:
                message["left_out"].append(str(kind))
        return results

    def _before(self, role: Role, called: Sequence[Any]) -> None:
        """The calls that a turn of deepeval was made with, and their outputs, as messages."""
        first = _new(role)
        first["calls"] = list(map(self._call, called))
        self.done.append(first)
        for call, source in zip(first["calls"], called, strict=True):
            if source.get("output") is not None:
                self._returned(call["id"], source["output"])

    def _call_item(self, item: Mapping[str, Any]) -> None:
        """A call that is an item by itself belongs to what the assistant said right before."""
        call = self._call(item)
        if not self.done or self.done[-1]["role"] != "assistant":
            self.done.append(_new("assistant"))
        self.done[-1]["calls"].append(call)
        if _has_outcome(item):
            self._result(item, item.get("output"))

    def _call(self, entry: Any) -> ToolCall:
        name, arguments = _written(entry)
        self._number += 1
        number = str(self._number)
        self._ids[_own_id(entry) or number] = number
        self._open[number] = name
        return {"id": number, "name": name, "arguments": _read_arguments(arguments)}

    def _result(self, entry: Mapping[str, Any], content: object) -> None:
        """Add what a tool returned for the call of its id, or else for the first one still open."""
        keys = ("tool_call_id", "tool_use_id", "toolUseId", "call_id", "result_of", "id")
        call_id = next((str(entry[key]) for key in keys if entry.get(key)), None)
        name = _named(entry, "name", "function")
        number = self._ids.get(call_id) if call_id else None
        if number is None:
            number = next((n for n, called in self._open.items() if name in (None, called)), None)
        message = self._returned(number, content)
        message["name"] = message["name"] or name
        if (error := entry.get("error")) and not message["text"]:
            message["text"] = str(error.get("message", "") if isinstance(error, Mapping) else error)
        message["contexts"] = _contexts(entry)
        message["left_out"] += map(str, entry.get("left_out") or ())

    def _returned(self, number: str | None, content: object) -> Message:
        """Go on with what the call of this number returned."""
        message = _new("tool", result_of=number, name=self._open.pop(number or "", None) or None)
        self._fill(message, content)
        self.done.append(message)
        return message


def _new(role: Role, *, result_of: str | None = None, name: str | None = None) -> Message:
    return Message(
        role=role, text="", calls=[], result_of=result_of, name=name, contexts=[], left_out=[]
    )


def _role(entry: Mapping[str, Any], place: int) -> Role:
    roles = [entry[key] for key in ("role", "type", "from") if entry.get(key)]
    role = next((_ROLES[role] for role in roles if role in _ROLES), None)
    if role is None:
        valid = "system, user, assistant or tool"
        problem = f"has the role {roles[0]!r}, not {valid}" if roles else "has no role"
        raise ValueError(f"isn't a conversation: its entry {place} {problem}")
    return role


def _parts(content: object) -> Iterator[Any]:
    """The texts and objects of a content, which may be a text, an object or a list of these."""
    if content is None:
        return
    for item in content if isinstance(content, list) else [content]:
        yield _typed(item) if isinstance(item, (str, Mapping)) else json.dumps(item)


def _typed(part: Any) -> Any:
    """A part of Gemini or Bedrock, whose key is its kind, as one with a type."""
    if isinstance(part, str) or part.get("type") is not None:
        return part
    if part.get("thought") is True:
        return {"type": "thinking"}
    key = next((key for key in _KINDS if isinstance(part.get(key), Mapping)), None)
    if key is None:
        return part
    typed = {**part[key], "type": _KINDS[key]}
    if key == "toolResult" and isinstance(typed.get("content"), list):
        typed["content"] = [item.get("json", item) for item in typed["content"]]
    return typed


def _is_result(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") in _RESULT_PARTS


def _is_call(entry: Mapping[str, Any]) -> bool:
    """Whether an entry of a list is a call by itself, as in a list of calls that were expected."""
    function, kind = entry.get("function"), entry.get("type")
    if kind == "function" and entry.get("content") is None:
        kind = None  # OpenAI's type of a call, and LangChain's of what a function returned.
    if "role" in entry or "from" in entry or kind in _ROLES:
        return False
    call = function if isinstance(function, Mapping) else entry
    return "name" in call or "tool_name" in call or isinstance(function, str)


def _has_outcome(call: Mapping[str, Any]) -> bool:
    """Whether OpenAI's server ran the call, and wrote into it what came out."""
    return call.get("type") == "mcp_call" and bool(call.get("output") or call.get("error"))


def _unread(kind: object) -> ValueError:
    return ValueError(
        f"isn't a conversation: it has calls as {str(kind)!r}, which aren't read; give them as "
        '`tool_calls` of their message, [{"name": …, "arguments": {…}}]'
    )


def _written(entry: object) -> tuple[str, Any]:
    """The tool that a call names, and its arguments as they were written."""
    if not isinstance(entry, Mapping):
        raise ValueError(f"isn't a conversation: a tool call in it is {what(entry)}")
    try:
        return written_call(entry)
    except ValueError as error:
        raise ValueError(f"isn't a conversation: a tool call in it {error}") from None


def _own_id(call: Mapping[str, Any]) -> str | None:
    call_id = call.get("call_id") or call.get("toolUseId") or call.get("id")
    return str(call_id) if call_id else None


def _merged(part: Mapping[str, Any], listed: list[Any]) -> Mapping[str, Any]:
    """A call of a content with the arguments that the list beside it has; it leaves that list.

    LangChain lists the calls of the content again. In a streamed one only the list has arguments.
    """
    call_id, name = _own_id(part), _written(part)[0]
    for place, call in enumerate(listed):
        called, arguments = _written(call)
        other = _own_id(call)
        if call_id == other if call_id and other else name == called:
            del listed[place]
            same = {"id": call_id or other, "name": called, "arguments": arguments}
            return same if arguments else {**part, "id": call_id or other}
    return part


def _calls_of(entry: Mapping[str, Any]) -> list[Any]:
    """The calls beside a message's content, also where older versions of LangChain have them."""
    function, more = entry.get("function_call"), entry.get("additional_kwargs")
    calls = entry.get("tool_calls") or entry.get("calls")
    calls = [function] if not calls and isinstance(function, Mapping) else calls
    calls = [*(calls or ()), *(entry.get("invalid_tool_calls") or ())]
    return calls if calls or not isinstance(more, Mapping) else _calls_of(more)


def _called(value: Any) -> list[Any]:
    """The calls that deepeval lists, also as JSON text, or as names alone."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            value = json.loads(value)
        except ValueError:
            raise ValueError("isn't a conversation: tools_called isn't JSON") from None
    calls = value if isinstance(value, list) else [value]
    return [{"name": call} if isinstance(call, str) else call for call in calls]


def _contexts(entry: Mapping[str, Any]) -> list[str]:
    contexts = entry.get("retrieval_context") or entry.get("contexts") or ()
    return [contexts] if isinstance(contexts, str) else [str(text) for text in contexts]


def _first(entry: Mapping[str, Any], keys: Iterable[str], default: Any = None) -> Any:
    """The value of the first of these keys that has one; tables have None for a missing key."""
    return next((entry[key] for key in keys if entry.get(key) is not None), default)


def _named(entry: Mapping[str, Any], *keys: str) -> str | None:
    names = map(entry.get, keys or ("name",))
    return next((name for name in names if name and isinstance(name, str)), None)


def _read_arguments(arguments: object) -> Any:
    """The arguments as an object; a text that isn't the JSON of one stays as it is."""
    if isinstance(arguments, dict):
        return json_value(arguments)  # JSON text may hold NaN and 1e999.
    if not isinstance(arguments, str):
        return json.dumps(arguments, ensure_ascii=False)
    if not arguments.strip():
        return {}
    try:
        read = json_value(json.loads(arguments, parse_constant=_refuse))
    except (ValueError, RecursionError):
        return arguments
    return read if isinstance(read, dict) else arguments


def _refuse(constant: str) -> None:
    raise ValueError(f"JSON has no {constant}")
