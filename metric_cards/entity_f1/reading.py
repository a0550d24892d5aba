"""Reading: the entities of a JSON value, as spans, as tags of tokens, or as pairs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

_LABELS = ("label", "type", "entity_group", "entity")
_TEXTS = ("text", "word", "value", "name")
_BEGIN, _END, _IOB2 = {*"BSU"}, {*"ESLU"}, {*"BIO"}
_PREFIXES = _BEGIN | _END | _IOB2
_OUTSIDE = ("O", "")
_TAGS = re.compile(r'(?:[\s,"\[\]]*+(?:O|[BIESLU]-[^\s,"\[\]]++)(?=[\s,"\[\]]|\Z))++[\s,"\[\]]*+')


class Span(NamedTuple):
    """An entity with the places of its first and its last token or character."""

    label: str
    start: int
    end: int


class NotEntities(ValueError):
    """A value that isn't entities; the text says why, and where."""


def read_spans(value: Any, exclusive: bool) -> list[Span]:
    """The spans of a list of objects with a label, a start and an end.

    Raises:
        NotEntities: it isn't such a list.
    """
    spans = []
    for place, item in enumerate(_listed(value)):
        start, end = (_is_object(item) and item.get(key) for key in ("start", "end"))
        if type(start) is not int or type(end) is not int:
            raise NotEntities(f"its entry {place} has no whole numbers as start and end")
        span = Span(_label(item, place), start, end - exclusive)
        if span.end < start:
            raise NotEntities(f"its entry {place} ends before it starts")
        spans.append(span)
    return spans


def read_pairs(value: Any) -> list[tuple[str, str]]:
    """The labels and texts of a list of objects or pairs, or of texts by their labels.

    Raises:
        NotEntities: it is something else.
    """
    if _is_object(value):
        return [
            (_normal(label), _text(text, str(label)))
            for label, texts in value.items()
            for text in (texts if isinstance(texts, list) else [texts])
        ]
    pairs = []
    for place, item in enumerate(_listed(value)):
        if _is_object(item):
            text = next((item[key] for key in _TEXTS if key in item), None)
            pairs.append((_label(item, place), _text(text, place)))
        elif isinstance(item, list) and len(item) == 2:
            pairs.append((_text(item[0], place), _text(item[1], place)))
        else:
            raise NotEntities(f"its entry {place} isn't an object with a label and a text")
    return pairs


def read_tags(value: Any, repair: bool) -> list[Span]:
    """The entities of a sequence of tags, a list or a text with blanks between them.

    With `repair`, a tag that continues nothing begins an entity, and E, S, L and U are read too.
    Else only B- begins one, and I- of the same label continues it (strict IOB2).

    Raises:
        NotEntities: it isn't a list of tags, or a tag isn't one of IOB2 where it has to be.
    """
    tags = value.split() if isinstance(value, str) else _listed(value)
    spans: list[Span] = []
    open_ = False
    for place, tag in enumerate(tags):
        if not isinstance(tag, str):
            raise NotEntities(f"its entry {place} isn't a tag")
        prefix, label = _split(tag)
        if not repair and prefix not in _IOB2:
            raise NotEntities(f"its tag {tag!r} isn't one of IOB2 (B-…, I-… or O)")
        follows = open_ and prefix not in _BEGIN and spans[-1].label == label
        inside = prefix != "O" and (follows or repair or prefix == "B")
        if inside and follows:
            spans[-1] = spans[-1]._replace(end=place)
        elif inside:
            spans.append(Span(label, place, place))
        open_ = inside and prefix not in _END
    return spans


def are_tags(text: str) -> bool:
    """Whether a text is nothing but tags with their prefixes, with blanks or as JSON's list."""
    return _TAGS.fullmatch(text) is not None


def _split(tag: str) -> tuple[str, str]:
    """The prefix, O outside and blank where a tag has none, and the label."""
    if tag in _OUTSIDE:
        return "O", ""
    prefix, dash, label = tag.partition("-")
    if prefix in _PREFIXES and (dash or not label):
        return prefix, _normal(label)
    return "", _normal(tag)


def _listed(value: Any) -> Sequence[Any]:
    if not isinstance(value, list):
        raise NotEntities("it isn't a list")
    return value


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _label(item: Mapping[str, Any], place: int) -> str:
    label = next((item[key] for key in _LABELS if key in item), None)
    return _text(label, place)


def _text(value: Any, place: int | str) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise NotEntities(f"its entry {place} has no label and text")
    return _normal(str(value))


def _normal(text: Any) -> str:
    return " ".join(unicodedata.normalize("NFC", str(text)).split())
