r"""Repair: a reply that isn't quite the JSON that was asked for, read where it leaves no doubt.

It is asked only where the strict reading fails. What it knows are slips of form: quotes of Python,
comments, raw line breaks and stray backslashes in strings, a last brace that is missing, capital
letters in keys, a list without its object, JSON inside a string, words such as "Yes." or **A**, and
the `[RESULT]` of Prometheus models. What a reply leaves out is never guessed, but for its reasons.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from metrichub.text.answers import without_thinking

_TOKEN = re.compile(
    r"(?s)(?P<space>(?:[\s\u200b-\u200d\u2060\ufeff]|//[^\n]*|/\*.*?\*/)+)"
    r"""|(?P<mark>[{}\[\]:,])|(?P<quote>["'“‘])|(?P<word>-?\d+(?:\.\d+)?(?![\w.])|[^\W\d]\w*)"""
)
_BRACKET = re.compile(r"[{\[]")
BEGINNING = re.compile(r"""[{\[]\s*(?:["'“‘{\[]|\w+\s*:)""")
"""How an object or a list begins, and no brace of prose."""
_CLOSING = {"{": "}", "[": "]"}
# The quote that ends a string is one that something of JSON follows: texts quote, too.
_STRINGS = {
    opened: re.compile(rf"((?:\\.|[^\\])*?){closed}(?=\s*(?:[,:}}\]]|//|/\*|\Z))", re.DOTALL)
    for opened, closed in zip("\"'“‘", "\"'”’", strict=True)
}
_TWO_STRINGS = re.compile(r"""(?<!\\)["'”’]\s*["'“‘]""")
_ESCAPE = re.compile(r"""(\\(?:u[\da-fA-F]{4}|["\\/nrt]))|\\(?=')|([\\"])""")
"""An escape that JSON knows, or a sign that must be one: the backslash of \\alpha, a quote."""
_CONSTANTS = {"True": "true", "False": "false", "None": "null"}
_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=[}\]])', re.DOTALL)
_FENCED = re.compile(r"```\w*\n(.*?)```", re.DOTALL)
_RESULT = re.compile(
    r"(?is)(?:\W*feedback\s*:)?((?:(?!\[RESULT\]).)*)\[RESULT\][\s:*(]*"
    r"(\d+(?:\s*/\s*\d+)?|[a-z]+)[\s).*]*(?:</s>)?\s*"
)
"""How the models of Prometheus reply: the reason, and the score or the winner."""
_AROUND = " \t\n*_`'\"“”.。!()[]\u200b\ufeff"
"""Signs around a word that don't change it."""
_CALLED = re.compile(r"(?:answer|candidate|response|option|assistant)\s+(?=\w$)")
_MEANT = {"true": "yes", "false": "no", "是": "yes", "否": "no"}
WRAPPERS = ("answer", "data", "json", "output", "reply", "response", "result")
"""The only key of an object around a reply."""
_INSIDE = ("arguments", "parameters", "properties")
"""The keys under which a reply stands that repeats its schema, or is written as a call."""


class _Value(NamedTuple):
    """A value, its text, and the brackets that lack at its end."""

    value: Any
    text: str
    lacking: str


def repaired(content: str, schema: Mapping[str, Any]) -> str | None:
    """The reply in a text, as JSON with the names and words of the schema; None if in doubt.

    Whether numbers are on their scale, and indices those of the question, remains to be checked.
    """

    def without_reason(reply: dict[str, Any]) -> list[tuple[str, Any]]:
        return sorted((name, part) for name, part in reply.items() if name != "reason")

    try:
        replies = list(_replies(without_thinking(content).strip(), schema))
    except (ValueError, RecursionError):
        return None
    texts = [json.dumps(reply) for reply in replies]
    decisions = {str(json.loads(text, object_hook=without_reason)) for text in texts}
    return texts[-1] if len(decisions) == 1 else None


def word_of(value: object, words: Sequence[str]) -> str | None:
    """Which of the words a value means, as "Yes." and true mean yes; None if it isn't certain."""
    plain = str(value).strip().lower() if isinstance(value, (str, bool)) else ""
    text = _CALLED.sub("", plain.strip(_AROUND))
    by_lower = {word.lower(): word for word in words}
    return by_lower.get(plain) or by_lower.get(text) or by_lower.get(_MEANT.get(text, ""))


def _replies(text: str, schema: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The replies in a text, one after the other.

    Raises:
        ValueError: one is cut off, or isn't one to its end.
    """
    if re.match(r'"|\{\s*\\"', text):
        # JSON in a string, which may have lost its quotes.
        text = json.loads(text if text[0] == '"' else f'"{text}"', strict=False).strip()
    if result := _RESULT.fullmatch(text):
        value = dict.fromkeys(("score", "winner"), result[2]) | {"reason": result[1].strip()}
        yield from _shaped(value, schema)
    fenced = _FENCED.findall(text)
    alone = (fenced[0] if len(fenced) == 1 else text).strip()
    for value, source, lacking in _values(text.removesuffix("```").rstrip()):
        # In prose it may be a quote, unless it has all the names.
        if source == alone or (isinstance(value, dict) and value.keys() >= {*schema["required"]}):
            replies = _shaped(value, schema)
            yield from (each for each in replies if not lacking or _is_whole(each, lacking, schema))


def _values(text: str) -> Iterator[_Value]:
    """The objects and lists in a text.

    Raises:
        ValueError: something begins like one, so that what stands in it may be quoted or a draft.
    """
    place = 0
    while bracket := _BRACKET.search(text, place):
        try:
            yield (parsed := _value(text[bracket.start() :]))
            place = bracket.start() + len(parsed.text)
        except (ValueError, RecursionError):
            if BEGINNING.match(text, bracket.start()):
                raise
            place = bracket.end()


def _value(text: str) -> _Value:
    """The object or list that a text begins with.

    Raises:
        ValueError: there is none, or the text ends before it does.
    """
    parts: list[str] = []
    closing: list[str] = []
    place = 0
    while place < len(text) and (closing or not place):
        if not (token := _TOKEN.match(text, place)):
            raise ValueError(f"{text[place]!r} outside of a string")
        part, place = token[0], token.end()
        if token["quote"]:
            if not (string := _STRINGS[part].match(text, place)):
                raise ValueError("a string without an end")
            if _TWO_STRINGS.search(string[1]):
                raise ValueError("two strings without a comma")
            escaped = _ESCAPE.sub(lambda e: e[1] or ("\\" + e[2] if e[2] else ""), string[1])
            part, place = f'"{escaped}"', string.end()
        elif token["word"] and re.compile(r"\s*:").match(text, place):
            part = json.dumps(part)
        elif part in _CLOSING:
            closing.append(_CLOSING[part])
        elif part in ("}", "]") and part != closing.pop():
            raise ValueError("brackets that don't match")
        parts += [] if token["space"] else [_CONSTANTS.get(part, part)]
    lacking = "".join(reversed(closing))
    plain = _TRAILING_COMMA.sub(lambda part: part[1] or "", "".join(parts) + lacking)
    value = json.loads(plain, strict=False, object_pairs_hook=_object)
    return _Value(value, text[:place], lacking)


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object, its keys in small letters.

    Raises:
        ValueError: two keys are the same.
    """
    by_key = {key.strip().lower(): value for key, value in pairs}
    if len(by_key) < len(pairs):
        raise ValueError("two values for a key")
    return by_key


def _shaped(value: Any, schema: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The reply that a value is, if it is one, with the schema's names and words."""
    names = schema["required"]
    if isinstance(value, str):
        yield from _replies(value.strip(), schema)
    elif isinstance(value, list):
        if len(value) == 1:
            yield from _shaped(value[0], schema)
        if len(names) == 1:
            yield from _shaped({names[0]: value}, schema)
    elif isinstance(value, dict):
        inside = [key for key in value if key in _INSIDE or (key in WRAPPERS and len(value) == 1)]
        if len(inside) == 1 and names[-1] not in value:
            yield from _shaped(value[inside[0]], schema)
        elif reply := _fields(value, schema):
            yield reply


def _fields(value: Any, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The fields that a schema asks for; None if one lacks. A reason may."""
    fields: dict[str, Any] = {}
    for name in schema["required"] if isinstance(value, dict) else ():
        field, part = schema["properties"][name], value.get(name)
        if name in ("winner", "verdict"):
            part = word_of(part, field["enum"]) or part
        elif name in ("score", "index") and isinstance(part, str):
            part = part.strip("*_` ").rstrip(".")
        elif name in ("items", "verdicts") and isinstance(part, list):
            parts = schema.get("$defs", {}).values()
            listed = [next((_fields(each, of) for of in parts), _item(each)) for each in part]
            part = None if None in listed else listed
        if part is None and name != "reason":
            return None
        fields[name] = part or "" if name == "reason" else part
    return fields or None


def _item(value: Any) -> str | None:
    """The text of an item, which may be the only one of an object, as in {"claim": "…"}."""
    if isinstance(value, dict):
        texts = [part for part in value.values() if not isinstance(part, (int, float))]
        value = texts[0] if len(texts) == 1 and "type" not in value else None
    return value if isinstance(value, str) else None


def _is_whole(reply: Mapping[str, Any], lacking: str, schema: Mapping[str, Any]) -> bool:
    """Whether a reply that lacks brackets at its end has all that was asked for."""
    if verdicts := reply.get("verdicts"):
        indices = schema["properties"]["verdicts"]["minItems"]
        return len(verdicts) == indices and all(each["reason"] for each in verdicts)
    # A 1 may have been going to be a 10.
    longer = max(schema["properties"].get("score", {}).get("enum", (0,))) > 9
    return "]" not in lacking and not longer and bool(reply.get("reason", True))
