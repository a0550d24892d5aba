"""Columns of conversations: as they are, made of questions and predictions, or as predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from metrichub.data.conversations import conversation
from metrichub.data.values import as_list, inner_list, sample_error
from metrichub.errors import InputError, MissingColumn, what
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


def read_calls(column: str, values: Sequence[Any]) -> list[list[Message]]:
    """The calls of every sample, each a message without what was returned; names are calls too.

    Raises:
        InputError: a value isn't a list of calls.
    """
    return read_conversations(column, list(map(_calls_of_names, values)))


def predictions_of(name: str, values: Sequence[Any], as_conversations: bool) -> Sequence[Any]:
    """The last answers of a column of conversations, or these `as_conversations`.

    Raises:
        MissingColumn: the column has the questions of ragas, and no conversation.
        InputError: a value isn't a conversation.
    """
    if name == "user_input" and not any(map(_is_conversation, values)):
        error = MissingColumn(
            "the metrics need predictions, and user_input has questions, not conversations"
        )
        error.column = "predictions"
        raise error
    return values if as_conversations else last_answers("predictions", values)


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
) -> tuple[list[list[Message]], list[str]]:
    """The conversations that a column is a part of, and the columns that they were made of.

    A sample's question, calls and prediction are one. A column of texts holds conversations if one
    of the texts is one. A question may be a conversation itself, which the prediction goes on with.

    Raises:
        InputError: a value is neither a conversation nor a text.
    """
    calling = name == "tools_called"
    question = beside("questions") if name != "user_input" else name
    answer = name if name != question and not calling else beside("predictions")
    if (name == question and not answer) or (name == answer and _hold_conversations(values)):
        return with_replies(name, values, values_of, beside)
    columns = [question, name if calling else None, answer]
    rows = zip(*(_beside(name, values, column, values_of) for column in columns), strict=True)
    make = _with_calls if calling else _exchange
    messages = [make(sample, *row) for sample, row in enumerate(rows)]
    return messages, [column for column in columns if column]


def with_replies(
    name: str,
    values: Sequence[Any],
    values_of: Callable[[str], Iterable[Any]],
    beside: Callable[[str], str | None],
) -> tuple[list[list[Message]], list[str]]:
    """The conversations of a column, and the columns that they were made of.

    One that ends with a user or a tool goes on with the prediction beside it.
    """
    rows = read_conversations("messages", values)
    waiting = [bool(row) and row[-1]["role"] in ("user", "tool") for row in rows]
    other = beside("predictions") if any(waiting) else None
    if other is None or other == name:
        return rows, [name]
    replies = list(map(_reply, _beside(name, values, other, values_of)))
    waiting = [waits and bool(reply) for waits, reply in zip(waiting, replies, strict=True)]
    both = zip(rows, replies, waiting, strict=True)
    rows = [conversation([*row, *reply]) if waits else row for row, reply, waits in both]
    return rows, [name, other] if any(waiting) else [name]


def _reply(value: Any) -> list[Any]:
    """The messages of a prediction: a text, or messages themselves; none if it is neither."""
    if (text := _text_of(value)) is not None:
        return [{"role": "assistant", "content": text}]
    entries = [value] if isinstance(value, Mapping) else list(inner_list(value) or ())
    return entries if _is_conversation(entries) else []


def _beside(
    name: str,
    values: Sequence[Any],
    other: str | None,
    values_of: Callable[[str], Iterable[Any]],
) -> Sequence[Any]:
    """The values of another column, of the same length; None for each if there is none."""
    if other is None or other == name:
        return values if other else [None] * len(values)
    others = as_list(other, values_of(other))
    if len(others) != len(values):
        counts = f"{name} has {len(values)}, {other} has {len(others)}"
        raise InputError(f"the columns differ in length: {counts}; each needs one entry per sample")
    return others


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


def _exchange(sample: int, question: Any, calls: Any, reply: Any) -> list[Message]:
    """The question, if there is one, and the reply, unless the question has one already."""
    answer = _text_of(reply)
    if answer is None:
        problem = f"can't be made of {what(reply)} as the answer; it has to be one text"
        raise sample_error("messages", sample, problem)
    messages = _asked(sample, question)
    if messages and messages[-1]["role"] == "assistant" and messages[-1]["text"]:
        return messages
    return conversation([*messages, {"role": "assistant", "content": answer}])


def _with_calls(sample: int, question: Any, calls: Any, reply: Any) -> list[Message]:
    """The question, the calls that were made, and the reply, if there are any."""
    turn = {"role": "assistant", "content": _text_of(reply), "tools_called": calls}
    try:
        messages = conversation([turn])
    except ValueError as error:
        raise sample_error("messages", sample, f"{error}; metrichub reads {FORMATS}") from None
    answers = [message for message in messages if message["text"] or message["calls"]]
    return [*_asked(sample, question), *(messages if answers else [])]


def _calls_of_names(value: Any) -> Any:
    """Names of tools as calls of them; what else there is stays as it is."""
    is_name = isinstance(value, str) and value.lstrip()[:1] not in ("[", "{")
    names = [value] if is_name else inner_list(value)
    if not names or not all(name and isinstance(name, str) for name in names):
        return value
    return [{"name": name} for name in names]


def _asked(sample: int, question: Any) -> list[Message]:
    """The messages before a reply: a conversation, or a text of the user."""
    text = _text_of(question)
    try:
        if text is None or _is_conversation(text):
            return conversation(question) if question is not None else []
        return conversation([{"role": "user", "content": text}] if text else [])
    except ValueError as error:
        raise sample_error("messages", sample, f"can't begin with the question: {error}") from None
