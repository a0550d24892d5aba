"""Messages of a conversation: what they are, how a judge is shown them, and their exchanges."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

Role = Literal["system", "user", "assistant", "tool"]

_ARGUMENTS = (
    *("arguments", "args", "kwargs", "parameters", "params", "input", "input_parameters"),
    *("inputParameters", "tool_args", "tool_input", "tool_kwargs", "partial_json"),
)
"""What OpenAI, LangChain and ragas, tau-bench, Llama, Anthropic, deepeval, ADK, LlamaIndex and
others call the arguments of a call."""
_BESIDE = {
    *("name", "tool_name", "function", "id", "call_id", "tool_call_id", "toolUseId", "tool_id"),
    *("type", "index", "role", "description", "reasoning", "thought", "output", "result"),
    *("response", "error", "status", "state", "timestamp", "duration", "latency", "metadata"),
    "strict",
}
"""Further keys of a call without arguments."""


class ToolCall(TypedDict):
    """A call of a tool. Its id is its number in the conversation, from "1"."""

    id: str
    name: str
    arguments: Any
    """An object, or the text that should have been the JSON of one."""


class Message(TypedDict):
    """A message of a system, a user, an assistant or a tool; nothing is "", [] or None.

    `result_of` is the id of the call that a tool's message answers, `name` that tool or the
    speaker. `contexts` are the passages retrieved for it. `left_out` are the kinds of its parts
    that aren't text, such as "image_url".
    """

    role: Role
    text: str
    calls: list[ToolCall]
    result_of: str | None
    name: str | None
    contexts: list[str]
    left_out: list[str]


def written_call(entry: Mapping[str, Any]) -> tuple[str, Any]:
    """The tool that a call names, and its arguments as they were written, {} for none.

    Raises:
        ValueError: it names no tool, or it isn't certain what its arguments are.
    """
    function = entry.get("function")
    parts = [function, entry] if isinstance(function, Mapping) else [entry]
    name = function if isinstance(function, str) else parts[0].get("name")
    name = parts[0].get("tool_name") if name is None else name
    if not isinstance(name, str):
        raise ValueError("doesn't name a tool")
    values = [(key, value) for part in parts for key, value in part.items() if value is not None]
    written = [(key, value) for key, value in values if key in _ARGUMENTS]
    if len(written) > 1:
        written = _without_others(written)
    full = [(key, value) for key, value in written if not _is_blank(value)]
    if other := next((key for key, value in full if _meant(value) != _meant(full[0][1])), None):
        raise ValueError(
            f"has arguments for {name!r} under {full[0][0]!r} and others under {other!r}; keep one"
        )
    if written:
        return name, full[0][1] if full else {}
    for key, value in values:
        if key not in _BESIDE and not _is_blank(value):
            raise ValueError(
                f"has {key!r} beside the name {name!r}, which isn't read; put its arguments under "
                f"one of {', '.join(_ARGUMENTS)} ({{}} if it has none)"
            )
    return name, {}


def _without_others(written: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The arguments under several keys, without blank texts and those that aren't the call's.

    Logs keep the schema of a tool as its parameters, and what the user said as its input.
    """
    pairs = [(key, value) for key, value in written if _meant(value) not in (None, "", {})]
    pairs = [(key, value) for key, value in pairs if key != "parameters" or not _is_schema(value)]
    if any(isinstance(_meant(value), dict) for _, value in pairs):
        pairs = [(key, value) for key, value in pairs if key != "input" or not _is_plain(value)]
    return pairs or [("arguments", {})]


def _is_schema(value: object) -> bool:
    schema = _meant(value)
    is_object = isinstance(schema, dict) and schema.get("type") == "object"
    return is_object and isinstance(schema.get("properties"), dict)


def _is_plain(value: object) -> bool:
    return isinstance(_meant(value), str) and not str(value).lstrip().startswith(("{", "["))


def _meant(value: Any) -> Any:
    """The value of a JSON text; another text, and another value, is itself."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value) if value.strip() else ""
    except (ValueError, RecursionError):
        return value


def _is_blank(value: object) -> bool:
    return isinstance(value, (str, dict, list, tuple)) and not value


def message_texts(messages: Sequence[Message], start: int = 0) -> list[str]:
    """Each message as JSON text with its number as `index`, without what is empty.

    The text of a message can't be taken for another message, or for the role of its speaker.
    """
    return [message_text(message, index) for index, message in enumerate(messages, start)]


def message_text(message: Message, index: int, beside: Mapping[str, Any] | None = None) -> str:
    """One message as `message_texts` shows it, and what is to stand beside it."""
    present = {name: value for name, value in message.items() if value}
    return json.dumps({"index": index, **present, **(beside or {})}, ensure_ascii=False)


def interactions(messages: Sequence[Message]) -> list[list[int]]:
    """The numbers of the user's and assistant's messages of every exchange, in order.

    An exchange begins at a user's message that follows an assistant's, and ends with an
    assistant's. What an assistant says before the first user belongs to the first exchange.
    Messages of a user that nobody answers make none.
    """
    exchanges: list[list[int]] = []
    current: list[int] = []
    for index, message in enumerate(messages):
        if message["role"] not in ("user", "assistant"):
            continue
        if message["role"] == "user" and _is_exchange(messages, current):
            exchanges.append(current)
            current = []
        current.append(index)
    return [*exchanges, current] if _is_exchange(messages, current) else exchanges


def _is_exchange(messages: Sequence[Message], numbers: Sequence[int]) -> bool:
    roles = [messages[number]["role"] for number in numbers]
    return "user" in roles and roles[-1] == "assistant"
