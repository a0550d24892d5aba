"""Columns of conversations: as they are, made of questions and predictions, or as predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from metrichub.data.conversations import conversation
from metrichub.data.values import as_list, inner_list, sample_error
from metrichub.errors import InputError, what
from metrichub.text.conversation import Message

FORMATS = (
    "a list of messages, or JSON text of one, as OpenAI (Chat and Responses), Anthropic, Gemini, "
    "Bedrock, OpenTelemetry, LangChain, LangSmith, inspect, ragas or deepeval write it"
)


def read_conversations(column: str, values: Sequence[Any]) -> list[list[Message]]:
    """The messages of every sample.

    Raises:
        InputError: a value isn't a conversation; the text names the sample and what is there.
    """
    messages = []
    for sample, value in enumerate(values):
        try:
            messages.append(conversation(value))
        except ValueError as error:
            raise sample_error(column, sample, f"{error}; metrichub reads {FORMATS}") from None
    return messages


def last_answers(column: str, values: Sequence[Any]) -> list[str]:
    """The last text of the assistant in every conversation, "" where there is none.

    Raises:
        InputError: a value isn't a conversation.
    """
    return [
        next((m["text"] for m in reversed(messages) if m["role"] == "assistant" and m["text"]), "")
        for messages in read_conversations(column, values)
    ]


def conversations_of(
    name: str,
    values: Sequence[Any],
    values_of: Callable[[str], Iterable[Any]],
    beside: Callable[[str], str | None],
) -> list[list[Message]]:
    """The conversations that a column holds, or else each question and the prediction for it.

    A column of texts holds conversations if one of the texts is one. A question may be a
    conversation itself, which the prediction goes on with.

    Raises:
        InputError: a value is neither a conversation nor a text.
    """
    asking = name == "user_input"
    other = beside("predictions" if asking else "questions")
    if (asking and other is None) or (not asking and _hold_conversations(values)):
        return read_conversations("messages", values)
    others: Sequence[Any] = [""] * len(values)
    if other is not None and other != name:
        others = as_list(other, values_of(other))
    if len(others) != len(values):
        counts = f"{name} has {len(values)}, {other} has {len(others)}"
        raise InputError(f"the columns differ in length: {counts}; each needs one entry per sample")
    pairs = zip(*((values, others) if asking else (others, values)), strict=True)
    return [_exchange(sample, *pair) for sample, pair in enumerate(pairs)]


def _hold_conversations(values: Sequence[Any]) -> bool:
    """Whether a value is a conversation, or can only be meant for one."""
    return any(_text_of(value) is None or _is_conversation(value) for value in values)


def _text_of(value: object) -> str | None:
    """A text, also the only one of a list, or None."""
    items = inner_list(value)
    value = items[0] if items is not None and len(items) == 1 else value
    return value if isinstance(value, str) else None


def _is_conversation(value: object) -> bool:
    try:
        return bool(conversation(value))
    except ValueError:
        return False


def _exchange(sample: int, question: Any, reply: Any) -> list[Message]:
    """What is asked, if anything is, and the reply, unless what is asked has one already."""
    text, answer = _text_of(question), _text_of(reply)
    if answer is None:
        problem = f"can't be made of {what(reply)} as the answer; it has to be one text"
        raise sample_error("messages", sample, problem)
    try:
        if text is None or _is_conversation(text):
            messages = conversation(question) if question is not None else []
        else:
            messages = conversation([{"role": "user", "content": text}] if text else [])
    except ValueError as error:
        raise sample_error("messages", sample, f"can't begin with the question: {error}") from None
    if messages and messages[-1]["role"] == "assistant" and messages[-1]["text"]:
        return messages
    return conversation([*messages, {"role": "assistant", "content": answer}])
