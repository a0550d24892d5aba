"""Messages out of requests, responses, runs of LangSmith and traces of OpenTelemetry."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from metrichub.data.values import inner_list
from metrichub.errors import what

_WHOLE = (
    *("messages", "turns", "conversation", "trajectory", "trace", "contents", "spans"),
    "resourceSpans",
)
"""The keys under which an object holds its messages, or the spans of a trace."""
_INPUT, _OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
_SYSTEM = "gen_ai.system_instructions"


def entries_of(source: object) -> Iterator[Mapping[str, Any]]:
    """The messages or items of a conversation as their format has them."""
    value: Any = source
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            start = f", and begins {value[:40]!r}" if value.strip() else ""
            raise ValueError(f"isn't a conversation: it isn't JSON{start}") from None
    if isinstance(value, Mapping):
        yield from _of_object(value)
        return
    items = inner_list(value)
    if items is None:
        raise ValueError(f"isn't a conversation: it is {what(value)}")
    if len(items) == 1 and (inner := inner_list(items[0])) is not None:
        items = inner  # LangSmith has a list of prompts, of which a chat is one.
    entries: list[Any] = list(items)
    for place, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            raise ValueError(f"isn't a conversation: its entry {place} is {what(entry)}")
    if entries and all(map(_is_span, entries)):
        yield from _of_spans(entries)
        return
    yield from entries


def _of_object(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The messages in an object around a conversation: a request, a response, a run or a trace."""
    if _is_span(value):
        yield from _of_spans([value])
        return
    if isinstance(value.get("outputs"), Mapping) and isinstance(value.get("inputs"), Mapping):
        yield from _of_run(value["inputs"], value["outputs"])
        return
    key = next((key for key in _WHOLE if value.get(key) is not None), None)
    if key in ("spans", "resourceSpans"):
        yield from _of_spans(list(spans_of(value)))
        return
    system = value.get("system") or value.get("instructions")
    if instruction := value.get("systemInstruction"):  # Of Gemini.
        system = instruction.get("parts") if isinstance(instruction, Mapping) else instruction
    if key is None and isinstance(value.get("output"), (list, tuple)):
        questions = value.get("input") or ()
        asked = [_from("user", questions)] if isinstance(questions, str) else questions
        entries: Iterable[Any] = [*asked, *value["output"]]
    elif key is None:
        if "content" in value and ("role" in value or "type" in value):
            raise ValueError(
                "isn't a conversation: it is one message; for one conversation write "
                "messages=[conversation]"
            )
        keys = ", ".join(map(repr, list(value)[:8])) or "no keys"
        raise ValueError(f"isn't a conversation: it is an object with {keys}")
    else:
        entries = entries_of(value[key])
    if system:
        yield {"role": "system", "content": system}
    yield from entries


def _of_run(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The messages of a run of LangSmith, whose outputs may repeat its inputs."""
    asked = list(entries_of(inputs["messages"])) if "messages" in inputs else []
    if not asked and isinstance(text := next(iter(inputs.values()), None), str):
        asked = [_from("user", text)]
    if "messages" in outputs:
        answers = list(entries_of(outputs["messages"]))
    elif "generations" in outputs:
        (first, *_), *_ = outputs["generations"]
        answers = [first["message"]]
    else:
        answer = outputs.get("output", outputs)
        answers = [_from("assistant", answer) if isinstance(answer, str) else answer]
    yield from answers if answers[: len(asked)] == asked else [*asked, *answers]


def _from(role: str, text: str) -> Mapping[str, Any]:
    return {"role": role, "content": text}


def spans_of(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The spans of a trace, also of one in the form of OTLP."""
    for key in ("resourceSpans", "scopeSpans", "spans"):
        for inner in value.get(key) or ():
            yield from [inner] if key == "spans" else spans_of(inner)


def attributes_of(span: object) -> Mapping[str, Any]:
    """The attributes of a span of OpenTelemetry that are about a conversation."""
    if not isinstance(span, Mapping):
        return {}
    attributes = span.get("attributes", span)
    if isinstance(attributes, (list, tuple)):
        attributes = {pair["key"]: next(iter(pair["value"].values()), None) for pair in attributes}
    if isinstance(attributes, Mapping) and any(key.startswith("gen_ai.") for key in attributes):
        return attributes
    return {}


def _is_span(entry: Mapping[str, Any]) -> bool:
    own_id = entry.get("spanId") or entry.get("span_id") or entry.get("context")
    is_span = "attributes" in entry and "role" not in entry and bool(own_id)
    return is_span or bool(attributes_of(entry))


def _of_spans(spans: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The messages of the last chat, whose input repeats the earlier ones."""
    chats = [chat for chat in map(attributes_of, spans) if _INPUT in chat or _OUTPUT in chat]
    if not chats:
        raise ValueError(
            f"isn't a conversation: these are spans, and no span has {_INPUT} or {_OUTPUT}"
        )
    inputs = [list(_listed(chat.get(_INPUT))) for chat in chats]
    longest = max(range(len(chats)), key=lambda number: len(inputs[number]))
    if system := list(_listed(chats[longest].get(_SYSTEM))):
        yield {"role": "system", "parts": system}
    yield from inputs[longest]
    yield from _listed(chats[longest].get(_OUTPUT))


def _listed(value: object) -> Iterator[Mapping[str, Any]]:
    return entries_of(value) if value else iter(())
