"""Replies: the types that a model's answers are read into, and the schemas that it is given."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.json_schema import SkipJsonSchema

from metrichub.errors import JudgeError
from metrichub.models.client import clean


class Reply(BaseModel):
    """A structured answer; every field is required, and the schema allows no others."""

    model_config = ConfigDict(
        json_schema_extra={"additionalProperties": False}, allow_inf_nan=False
    )


class Items(Reply):
    """Texts that were asked for."""

    items: list[str]


class Judged(Reply):
    """A verdict on one item; the reason stands first, so that the verdict follows from it."""

    index: int
    reason: str
    verdict: str


class Judgements(Reply):
    """Verdicts on items."""

    verdicts: list[Judged]


class Graded(Reply):
    """A number on a scale; `weights` are none of the model's words but read from its tokens."""

    reason: str
    score: float
    weights: SkipJsonSchema[dict[int, float]] = Field(default_factory=dict)


class Chosen(Reply):
    """The better of two."""

    reason: str
    winner: str


R = TypeVar("R", bound=Reply)


class Unreadable(JudgeError):
    """A reply that isn't of the type that was asked for; asking again may help."""


def schema_of(
    reply: type[Reply], words: Sequence[str] = (), scale: Sequence[int] = ()
) -> Mapping[str, Any]:
    """The JSON schema of a reply; the verdict or winner is one of `words`, the score on `scale`."""
    return _schema(reply, tuple(words), tuple(scale))


# Every request has one, and pydantic takes a millisecond to make it.
@cache
def _schema(
    reply: type[Reply], words: tuple[str, ...], scale: tuple[int, ...]
) -> Mapping[str, Any]:
    schema = reply.model_json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        part.pop("description", None)
        for name, field in part["properties"].items():
            field.pop("title", None)
            if name in ("verdict", "winner"):
                field["enum"] = list(words)
            if name == "score":
                field |= {"type": "integer", "enum": list(range(scale[0], scale[-1] + 1))}
    return schema


def read_reply(reply: type[R], content: str) -> R:
    """The reply in a model's answer; prose and code fences around the JSON are ignored.

    Raises:
        Unreadable: there is no such JSON object in it.
    """
    try:
        return reply.model_validate_json(content)
    except ValidationError as error:
        problem = error
    for start in (i for i, character in enumerate(content) if character == "{"):
        try:
            found, _ = json.JSONDecoder().raw_decode(content, start)
            return reply.model_validate_json(clean(json.dumps(found, ensure_ascii=False)))
        except (ValueError, RecursionError):
            continue
    first = problem.errors()[0]
    where = ".".join(map(str, first["loc"]))
    raise Unreadable(
        f"the reply is no {reply.__name__} ({where + ': ' if where else ''}{first['msg']}): "
        f"{' '.join(content.split())[:80]!r}"
    )
