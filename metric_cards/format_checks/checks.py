"""Checks of a reply's form, by the text that stands for each: "words <= 100", "json"."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from metric_cards._bases.languages import is_in
from metric_cards._bases.strictjson import read
from metrichub.authoring import sentences

Check = Callable[[str], bool]

_BULLET = re.compile(r"^[ \t]*[-*+•][ \t]+\S", re.MULTILINE)
_NUMBERED = re.compile(r"^[ \t]*\d{1,9}[.)][ \t]+\S", re.MULTILINE)
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+\S", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _paragraphs(text: str) -> int:
    """The runs of lines between blank lines."""
    filled = [bool(line.strip()) for line in text.splitlines()]
    return sum(now and not before for before, now in zip([False, *filled], filled, strict=False))


COUNTS: Mapping[str, Callable[[str], int]] = {
    "characters": len,
    "words": lambda text: len(re.findall(r"\w+", text)),
    "sentences": lambda text: len(sentences(text)),
    "lines": lambda text: len(_lines(text)),
    "paragraphs": _paragraphs,
    "bullets": lambda text: len(_BULLET.findall(text)),
    "numbered": lambda text: len(_NUMBERED.findall(text)),
    "headings": lambda text: len(_HEADING.findall(text)),
    "code_blocks": lambda text: (len(_FENCE.findall(text)) + 1) // 2,
}
"""What can be counted; a fence that is never closed ends with the text."""
FLAGS: Mapping[str, Check] = {
    "json": lambda text: read(text).problem is None,
    "lowercase": str.islower,
    "uppercase": str.isupper,
}
TEXTS: Mapping[str, Callable[[str, str], bool]] = {
    "contains": lambda text, part: part.casefold() in text.casefold(),
    "lacks": lambda text, part: part.casefold() not in text.casefold(),
    "starts": lambda text, part: text.strip().casefold().startswith(part.casefold()),
    "ends": lambda text, part: text.strip().casefold().endswith(part.casefold()),
    "language": lambda text, code: is_in(text, code.lower(), "format_checks", undetected=False),
}
_RELATIONS = {
    "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "<": operator.lt, ">": operator.gt,
}  # fmt: skip
_COUNTED = re.compile(rf"({'|'.join(COUNTS)})\s*(<=|>=|==|!=|<|>)\s*(\d{{1,9}})")
_WITH_TEXT = re.compile(rf"({'|'.join(TEXTS)}):\s*(\S.*?)\s*", re.DOTALL)
FORMS = (
    f"a count ({', '.join(COUNTS)}) as in 'words <= 100', one of {', '.join(FLAGS)}, or "
    f"{', '.join(TEXTS)} as in 'ends: Goodbye.'"
)


@lru_cache(maxsize=4096)
def check_of(text: str) -> Check:
    """The check that a text stands for.

    Raises:
        ValueError: it stands for none.
    """
    text = text.strip()
    if text in FLAGS:
        return FLAGS[text]
    if match := _COUNTED.fullmatch(text):
        count, relation, limit = COUNTS[match[1]], _RELATIONS[match[2]], int(match[3])
        return lambda reply: bool(relation(count(reply), limit))
    if match := _WITH_TEXT.fullmatch(text):
        passes, part = TEXTS[match[1]], match[2]
        return lambda reply: passes(reply, part)
    raise ValueError(f"isn't a valid check; give {FORMS}")
