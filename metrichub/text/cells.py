"""Lists and objects that cells hold as text, as JSON, Python or numpy write them."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

BLANKS = frozenset(("", "NaN", "nan", "NA", "<NA>", "N/A", "null", "NULL", "None"))
"""How tables write that a value is missing."""
_FORM = re.compile(
    r"\[.*\]|\{.*\}|array\(.*\)|\((?:\s*(?:['\"]|None\b).*)?\)|[\[{]\s*[bB]?['\"].*", re.DOTALL
)
"""Lists and objects; one of texts also if its end is missing."""
_MEANT = re.compile(
    r"[\[{]\s*(?:[\[{(<]|(?:None|nan|NULL)\b|[\w.]+\(|[^\[\]{}]*,|[-\d.\s]+\.\.\.)|array\("
)
"""How lists and objects begin that a library wrote, or somebody by hand; words alone are prose."""
_OF_TEXTS = re.compile(r"(?:[\[{]|array\(\[)\s*[bB]?['\"]")
_PART = re.compile(
    r"""(?P<text>[uU]?(?:'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"))
    |(?P<type>,\s*(?:dtype=(?:'[^']*'|\w+)|shape=\([\d,\ ]*\)))
    |(?P<call>\b(?:list|tuple|(?:np\.)?(?:array|str_|bool_?|u?int\d*|float\d*))(?=\())
    |(?P<none><NA>|\b(?:nan|NaN|null|NULL|NA|NaT)\b)
    |(?P<numpy>\bnp\.(?=(?:True|False)_\b)|(?<=True|alse)_\b)""",
    re.VERBOSE | re.DOTALL,
)
_MARK = "\0"
"""A stand-in for a text while the rest of the cell is read."""
_DEEPEST = 12
"""How deep lists may be in lists."""
_GROUP = re.compile(r"[\[({][^\[\](){}]*[\])}]")
_NEXT = re.compile(r"(?<=[\0\w.\])}])\s+(?=[\0\w.\[({]|[+-][\d.])")
"""The blanks or line's end that numpy shows between two items."""


class DuplicateKey(ValueError):
    """A key that an object has twice; its values would hide each other."""


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        raise DuplicateKey(next(key for key in keys if keys.count(key) > 1))
    return members


DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys)


def read_cell(value: Any, *, json_objects: bool = True) -> Any:
    """The list or object that a text holds; any other text, and any other value, as it is.

    Tuples and arrays are lists, and what is missing in one is None. Without `json_objects`, an
    object in JSON stays text.

    Raises:
        ValueError: the text looks like a list or an object, but can't be read for certain.
    """
    text = value.strip() if isinstance(value, str) else ""
    if text[:1] not in ("[", "{", "(", "a") or not _FORM.fullmatch(text):
        return value
    try:
        content = DECODER.decode(text)
        return value if isinstance(content, dict) and not json_objects else content
    except DuplicateKey as error:
        problem = f"has the key {error.args[0]!r} twice"
    except (ValueError, RecursionError):
        problem = f"looks like {'an object' if text[0] == '{' else 'a list'}, but can't be read"
        try:
            # By JSON, tuples become lists, and neither sets nor bytes are read.
            content = json.loads(json.dumps(ast.literal_eval(_as_python(text))))
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            if not _is_meant(text):
                return value
        else:
            # A text in parentheses isn't a list.
            return content if isinstance(content, (list, dict)) else value
    raise ValueError(f"{problem}: {text[:40]!r}; write it as JSON (json.dumps)")


def cell_or_text(value: Any) -> Any:
    """The list or object that a text holds, or the text where it can't be read."""
    try:
        return read_cell(value)
    except ValueError:
        return value


def _is_meant(text: str) -> bool:
    """Whether a text that can't be read is meant for a list or an object."""
    depth = 0
    for character in text[:-1]:
        depth += (character in "[{(") - (character in "]})")
        # "[1] says so, and [2]" is prose.
        if depth == 0 and character in "]})":
            return _OF_TEXTS.match(text) is not None
    return bool(_OF_TEXTS.match(text) or _MEANT.match(text))


def _as_python(text: str) -> str:
    """Text that Python or numpy prints, as Python reads it: with commas, and without types.

    Raises:
        ValueError: Python shows no such thing, or would join texts that have no comma.
    """
    texts: list[str] = []

    def outlined(part: re.Match[str]) -> str:
        if part["text"]:
            texts.append(part["text"])
        return _MARK if part["text"] else "None" if part["none"] else ""

    outline = _PART.sub(outlined, text)
    escapes = {escape[1] for part in texts for escape in re.findall(r"\\.", part, re.DOTALL)}
    if _MARK in text or _MARK * 2 in outline or not escapes <= {*"\\'\"nrtxuU"}:
        raise ValueError(text)
    reduced = outline
    for _ in range(_DEEPEST):
        if any("," in group and _NEXT.search(group) for group in _GROUP.findall(reduced)):
            raise ValueError(text)
        reduced = _GROUP.sub(_MARK, reduced)
    if reduced.strip() != _MARK:
        raise ValueError(text)
    own_texts = iter(texts)
    return re.sub(_MARK, lambda _: next(own_texts), _NEXT.sub(", ", outline))
