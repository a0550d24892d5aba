"""Strict JSON: what RFC 8259 allows, out of a model's reply, and what is wrong with the rest."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

Problem = Literal["empty", "truncated", "surrounded", "syntax", "duplicate_keys"]

DEPTH = 100
"""Arrays and objects inside each other that are read; RFC 8259, section 9, allows a limit."""

_FENCE = re.compile(
    r"^ {0,3}(?P<mark>`{3,}+|~{3,}+)[ \t]*+(?P<language>\w*+)[^\n]*+\n"
    r"(?P<code>.*?)(?:^ {0,3}(?P=mark)|\Z)",
    re.MULTILINE | re.DOTALL,
)
_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)
_CUT_WORD = re.compile(r"(?:t|tr|tru|f|fa|fal|fals|n|nu|nul|-|u[0-9a-fA-F]{0,4})?[ \t\n\r]*")
_CUT_NUMBER = re.compile(r"(?<=[0-9])(?:\.|[eE][+-]?)")


class Reading(NamedTuple):
    """The value of a text, or what keeps it from being JSON."""

    value: Any = None
    problem: Problem | None = None


class _Refused(ValueError):
    """JSON that Python's parser reads, but that RFC 8259 or the caller refuses."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem


def read(text: str, *, duplicate_keys: bool = True) -> Reading:
    """The value of a JSON text; of equal keys the last counts, unless they are refused.

    `empty`: nothing but white space. `truncated`: right as far as it goes. `surrounded`: JSON
    with other text around it. `duplicate_keys`: an object has a key twice. `syntax`: the rest,
    NaN and Infinity and what is nested deeper than `DEPTH` too.
    """
    if not text.strip():
        return Reading(problem="empty")
    try:
        return Reading(_parse(text, duplicate_keys))
    except _Refused as refused:
        return Reading(problem=refused.problem)
    except json.JSONDecodeError as error:
        if _is_cut_short(text, error):
            return Reading(problem="truncated")
    inner = _inner(text)
    if inner != text and read(inner, duplicate_keys=duplicate_keys).problem is None:
        return Reading(problem="surrounded")
    return Reading(problem="syntax")


def unfenced(text: str) -> str:
    """The first fenced block marked as json, else the first block, else the text itself.

    A block that is never closed ends with the text.
    """
    blocks = list(_FENCE.finditer(text))
    marked = [block for block in blocks if block["language"].lower() == "json"]
    return (marked or blocks)[0]["code"] if blocks else text


def _parse(text: str, duplicate_keys: bool) -> Any:
    if _depth(text) > DEPTH:
        raise _Refused("syntax")
    return (_ANY_KEYS if duplicate_keys else _UNIQUE_KEYS).decode(text)


def _integer(digits: str) -> float:
    # int refuses very long numbers, which JSON allows.
    return int(digits) if len(digits) < 1000 else float(digits)


def _no_constant(_: str) -> None:
    raise _Refused("syntax")


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _Refused("duplicate_keys")
    return members


# `json.loads` would make one for every text.
_ANY_KEYS = json.JSONDecoder(parse_int=_integer, parse_constant=_no_constant)
_UNIQUE_KEYS = json.JSONDecoder(
    parse_int=_integer, parse_constant=_no_constant, object_pairs_hook=_unique
)


def _depth(text: str) -> int:
    """How deep the brackets outside of strings are nested."""
    deepest = depth = 0
    if text.count("[") + text.count("{") <= DEPTH:
        return deepest
    for bracket in _STRUCTURE.finditer(text):
        depth += (bracket[0] in "[{") - (bracket[0] in "]}")
        deepest = max(deepest, depth)
    return deepest


def _is_cut_short(text: str, error: json.JSONDecodeError) -> bool:
    """Whether the parser stopped at the end of the text, or in a token that the end cuts."""
    if error.msg.startswith("Unterminated string") or _CUT_NUMBER.fullmatch(text, error.pos):
        return True
    return error.msg != "Extra data" and bool(_CUT_WORD.fullmatch(text, error.pos))


def _inner(text: str) -> str:
    """The text from its first opening bracket to its last one of the same kind."""
    starts = [place for place in (text.find("{"), text.find("[")) if place >= 0]
    if not starts:
        return text
    start = min(starts)
    return text[start : text.rfind("}" if text[start] == "{" else "]") + 1]
