"""Replies: their types and schemas, and how they are read from what a server sent."""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.json_schema import SkipJsonSchema

from metrichub.judge.repair import BEGINNING, WRAPPERS, word_of
from metrichub.models.client import clean
from metrichub.models.failures import Unreadable as Unreadable
from metrichub.text.answers import THINKING, THOUGHT


class Reply(BaseModel):
    """A structured answer; every field is required, and the schema allows no others."""

    model_config = ConfigDict(
        json_schema_extra={"additionalProperties": False}, allow_inf_nan=False
    )


def _no_boolean(value: object) -> object:
    """The value of a number, for which pydantic would take true as 1."""
    if isinstance(value, bool):
        raise ValueError("a boolean isn't a number")
    return value


class Items(Reply):
    """The texts of an extraction."""

    items: list[str]


class Judged(Reply):
    """A verdict on one item; the reason stands first, so that the verdict follows from it."""

    index: Annotated[int, BeforeValidator(_no_boolean)]
    reason: str
    verdict: str


class Judgements(Reply):
    """Verdicts on items."""

    verdicts: list[Judged]


class Graded(Reply):
    """A number on a scale; `weights` are none of the model's words but read from its tokens."""

    reason: str
    score: Annotated[float, BeforeValidator(_no_boolean)]
    weights: SkipJsonSchema[dict[int, float]] = Field(default_factory=dict)


class Chosen(Reply):
    """The better of two."""

    reason: str
    winner: str


R = TypeVar("R", bound=Reply)
_TEXT_PARTS = ("text", "output_text")
_FENCE = re.compile(r"^\s*```\w*|```\s*$")
_TRIES = 1000
"""How many braces of an answer are tried: text that is all braces would take minutes."""
_SHORT = 400
"""The bytes of a text up to which repetition isn't judged."""
_TRAILING_COMMA = re.compile(r'("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])')
"""A comma that ends a list or an object, or a string, which may hold such signs."""


# Every request has one, and pydantic takes a millisecond to make it.
@cache
def schema_of(
    reply: type[Reply],
    words: tuple[str, ...] = (),
    scale: tuple[int, ...] = (),
    most: int | None = None,
    indices: tuple[int, ...] = (),
) -> Mapping[str, Any]:
    """The JSON schema of a reply; the verdict or winner is one of `words`, the score on `scale`.

    A list holds at most `most` items, or a verdict for each of `indices`: small models don't end a
    list by themselves, and some count its items from 1.
    """
    schema = reply.model_json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        part.pop("description", None)
        for name, field in part["properties"].items():
            field.pop("title", None)
            if name in ("verdict", "winner"):
                field["enum"] = list(words)
            if name == "score":
                field |= {"type": "integer", "enum": list(range(scale[0], scale[-1] + 1))}
            if name == "items" and most is not None:
                field["maxItems"] = most
            if name == "verdicts":
                field |= {"minItems": len(indices), "maxItems": len(indices)}
            if name == "index":
                field["enum"] = list(indices)
    return schema


def without_bounds(schema: Any) -> Any:
    """A schema that bounds no list and no number, which some servers refuse."""
    if isinstance(schema, list):
        return [without_bounds(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    bounds = ("enum",) if schema.get("type") == "integer" else ("minItems", "maxItems")
    return {name: without_bounds(part) for name, part in schema.items() if name not in bounds}


def read_reply(reply: type[R], content: str) -> R:
    """The reply in a model's answer.

    Prose, code fences and thinking around the JSON object are ignored: the answer is what follows
    the thinking, and of several objects the last. So are a comma at the end of a list and an object
    such as {"result": …} around the answer.

    Raises:
        Unreadable: there is no such JSON object in it, or two that contradict each other.
    """
    try:
        return reply.model_validate_json(content)
    except ValidationError as error:
        problem = error
    head, brace, tail = content.partition("{")
    plain = _TRAILING_COMMA.sub(lambda part: part[1] or "", brace + tail)
    answers = _answers(reply, head + plain)
    reasons: Any = {"reason": True, "verdicts": {"__all__": {"reason"}}}
    if len({json.dumps(answer.model_dump(exclude=reasons)) for answer in answers}) > 1:
        raise Unreadable(
            f"the reply holds {len(answers)} answers that contradict each other: "
            f"{_start(content)!r}"
        )
    if answers:
        return answers[-1]
    first = problem.errors()[0]
    where = ".".join(map(str, first["loc"]))
    raise Unreadable(
        f"the reply isn't the JSON that was asked for ({where + ': ' if where else ''}"
        f"{first['msg']}): {_start(content)!r}"
    )


def _answers(reply: type[R], content: str) -> list[R]:
    """The objects that follow the thinking; a closing tag inside of an object ends none."""
    closed = max((tag.end() for tag in THOUGHT.finditer(content)), default=0)
    if not closed and (opened := THINKING.search(content)):
        # Thinking that is never closed runs to the end.
        return [answer for answer, end in _objects(reply, content, 0) if end <= opened.start()]
    after = [answer for answer, _ in _objects(reply, content, closed)]
    return after or [answer for answer, end in _objects(reply, content, 0) if end > closed]


def _objects(reply: type[R], text: str, start: int) -> Iterator[tuple[R, int]]:
    """The JSON objects from `start` on that are such a reply, and where each ends."""
    decoder, start = json.JSONDecoder(), text.find("{", start)
    for _ in range(_TRIES):
        if start < 0:
            return
        end = start + 1
        try:
            value, end = decoder.raw_decode(text, start)
            if len(value) == 1 and (name := next(iter(value))).lower() in WRAPPERS:
                value = value[name]
            yield reply.model_validate_json(clean(json.dumps(value, ensure_ascii=False))), end
        except (ValueError, RecursionError):
            # What stands in a broken object may be quoted, or a draft.
            if end == start + 1 and BEGINNING.match(text, start):
                return
        start = text.find("{", end)


def _start(content: str) -> str:
    return " ".join(content.split())[:80]


def is_reply(reply: type[Reply], content: str) -> bool:
    """Whether a text, such as what was kept, is such a reply and nothing else."""
    try:
        reply.model_validate_json(content)
    except ValueError:
        return False
    return True


def read_verdicts(done: Completion, indices: Sequence[int]) -> Judgements:
    """The verdicts in what a server sent, whose indices are among these, some of them or all.

    A model that counted from 1 is known by one verdict on each next index.

    Raises:
        Unreadable: there are none, or it isn't certain which item each is about.
    """
    verdicts = read_reply(Judgements, done.content).verdicts
    read = sorted(judged.index for judged in verdicts)
    if read == [index + 1 for index in indices]:
        for judged in verdicts:
            judged.index -= 1
    # Without the first, the others may be counted from 1, too.
    elif read and not (read[0] == indices[0] and set(read) <= set(indices)):
        read = read[: 2 * len(indices)]
        raise Unreadable(f"its verdicts have the indices {read}, not {list(indices)}")
    return Judgements(verdicts=verdicts)


def sound_verdicts(
    verdicts: Sequence[Judged], indices: Sequence[int], words: Sequence[str]
) -> dict[int, Judged]:
    """The verdicts that count: on an item that has no other, in a known word."""
    times = Counter(judged.index for judged in verdicts)
    return {
        judged.index: judged.model_copy(update={"verdict": word})
        for judged in verdicts
        if (word := word_of(judged.verdict, words)) is not None
        and judged.index in indices
        and times[judged.index] == 1
    }


class Completion(NamedTuple):
    """The text of the first choice, why it ended, a refusal, and its tokens where asked for.

    `moved` is whether the text stood elsewhere than the text of a reply does.
    """

    content: str
    finish_reason: object
    refusal: object
    tokens: Sequence[Any]
    moved: bool = False


def completion_of(done: object) -> Completion:
    """The first choice of what the client gives.

    Raises:
        Unreadable: there is none, or it isn't a message.
    """
    choices = getattr(done, "choices", None)
    first = choices[0] if isinstance(choices, list) and choices else None
    message = getattr(first, "message", None)
    if message is None:
        raise Unreadable("the answer has no choices")
    content = getattr(message, "content", None) or ""
    if isinstance(content, list) and all(isinstance(part, Mapping) for part in content):
        # In parts, of which the others are the model's thinking.
        texts = [part.get("text") for part in content if part.get("type") in _TEXT_PARTS]
        content = "".join(map(str, texts))
    if moved := isinstance(content, Mapping):
        content = json.dumps(content)
    if not isinstance(content, str):
        raise Unreadable("the answer's content isn't text")
    finish, refusal = getattr(first, "finish_reason", None), getattr(message, "refusal", None)
    thoughts = getattr(message, "reasoning_content", None) or getattr(message, "reasoning", None)
    if finish != "length" and not (content.strip() or refusal):
        content, moved = _elsewhere(message, thoughts), True
    if finish == "stop" and thoughts and not (content or refusal):
        raise Unreadable("the reply is empty but for its reasoning; switch off thinking")
    tokens = getattr(getattr(first, "logprobs", None), "content", None) or ()
    return Completion(
        content,
        finish,
        refusal,
        [token for token in tokens if isinstance(getattr(token, "token", None), str)],
        moved,
    )


def _elsewhere(message: object, thoughts: object) -> str:
    """The reply in the arguments of a call, or in the thoughts if these are one object alone."""
    calls = getattr(message, "tool_calls", None)
    functions = [getattr(call, "function", None) for call in calls or ()]
    functions = functions or [getattr(message, "function_call", None)]
    arguments = getattr(functions[0], "arguments", None)
    if arguments and len(functions) == 1:
        return arguments if isinstance(arguments, str) else json.dumps(arguments)
    alone = _FENCE.sub("", thoughts) if isinstance(thoughts, str) else ""
    return alone if is_reply(Reply, alone) else ""


def repeats_itself(content: str) -> bool:
    """Whether a text ends in the same words over and over, as a model does that finds no end."""
    end = content[-2000:].encode()
    return len(end) > _SHORT and len(zlib.compress(end)) * 10 < len(end)
