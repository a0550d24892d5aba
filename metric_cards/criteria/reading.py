"""Criteria as people write them: a list of texts or objects, JSON text of one, or a file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from metrichub.errors import (
    InputError,
    MetrichubError,
    ParameterError,
    did_you_mean,
    listed,
    what,
)


class Criterion(NamedTuple):
    """A criterion, how many points it is worth, and the tags that it counts for."""

    criterion: str
    points: float = 1
    tags: tuple[str, ...] = ()


def criteria_of(metric: str, source: str | Sequence[Any]) -> Sequence[Criterion]:
    """The criteria of one sample, without blank ones.

    Raises:
        InputError: something in it isn't a criterion; the text says what.
    """
    if isinstance(source, str):
        return _parsed(metric, source)
    if len(source) == 1 and isinstance(source[0], str) and source[0].lstrip().startswith("["):
        return _parsed(metric, source[0])  # A cell of a CSV file.
    return _read(metric, source)


def criteria_text(metric: str, source: str | Path | Sequence[Any]) -> str:
    """The criteria of a parameter as JSON text.

    Raises:
        ParameterError: it isn't a list of criteria, or the path of one.
    """
    try:
        items = source if isinstance(source, tuple) else _items(source)
        criteria = _read(metric, items)
    except (MetrichubError, OSError, ValueError) as error:
        example = f", such as [{source!r}]" if isinstance(source, str) and " " in source else ""
        allowed = f"a list of criteria{example}, JSON text of one, or the path of a file ({error})"
        raise ParameterError(metric, "criteria", source, allowed) from None
    if not criteria:
        raise ParameterError(metric, "criteria", source, "one or more criteria")
    plain = [{k: v for k, v in c._asdict().items() if v != ()} for c in criteria]
    return json.dumps(plain, ensure_ascii=False)


def _items(source: Any) -> Any:
    """The items of JSON text, of a JSON file, or of a file with a criterion a line."""
    text = str(source)
    if not text.lstrip().startswith("["):
        text = Path(source).read_text(encoding="utf-8-sig")
    if text.lstrip().startswith("["):
        return json.loads(text)
    return [json.loads(line) if line.startswith("{") else line for line in text.splitlines()]


@lru_cache(maxsize=1024)
def _parsed(metric: str, text: str) -> Sequence[Criterion]:
    try:
        return _read(metric, json.loads(text))
    except ValueError as error:
        raise InputError(f"{metric}: {text[:40]!r} isn't a list of criteria: {error}") from None


def _read(metric: str, items: Any) -> Sequence[Criterion]:
    if not isinstance(items, (list, tuple)):
        raise InputError(f"{metric}: the criteria are {what(items)}, not a list")
    read = [_criterion(metric, item) for item in items]
    return tuple(criterion for criterion in read if criterion.criterion.strip())


def _criterion(metric: str, item: Any) -> Criterion:
    if isinstance(item, str):
        return Criterion(item)
    if not isinstance(item, Mapping):
        raise InputError(f"{metric}: a criterion is {what(item)}, neither a text nor an object")
    text, points, tags = item.get("criterion"), item.get("points", 1), item.get("tags") or ()
    if not isinstance(text, str):
        names = listed(map(repr, item)) if item else "nothing"
        grades = "; descriptions of scores are for the metric rubric"
        raise InputError(
            f"{metric}: an object with {names} has no text as 'criterion'"
            f"{grades if 'score1_description' in item else ''}"
        )
    # Rows of Arrow have the keys of all, null where a row has none.
    if strange := [k for k, v in item.items() if k not in Criterion._fields and v is not None]:
        fields = f"{listed(Criterion._fields)}{did_you_mean(str(strange[0]), Criterion._fields)}"
        raise InputError(f"{metric}: a criterion has no {strange[0]!r}, only {fields}")
    if isinstance(points, bool) or not isinstance(points, (int, float)) or not isfinite(points):
        raise InputError(
            f"{metric}: the points of {text!r} are {what(points)}, not a finite number"
        )
    tags = (tags,) if isinstance(tags, str) else tags
    if not isinstance(tags, (list, tuple)) or not all(isinstance(tag, str) for tag in tags):
        raise InputError(f"{metric}: the tags of {text!r} are {what(tags)}, not a list of texts")
    return Criterion(text, points, tuple(tags))
