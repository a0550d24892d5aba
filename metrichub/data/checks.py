"""Checks: whether every value of a column is text, and what to do with one that isn't."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from metrichub.errors import InputError, what


def check_texts(name: str, values: Sequence[Any], lists: Sequence[Sequence[Any] | None]) -> None:
    """Raise `InputError` if a value is no text, and none of its list where it has one."""
    for i, (value, items) in enumerate(zip(values, lists, strict=True)):
        if items is None:
            _check_item(name, i, None, value)
            continue
        if not items and name != "contexts":
            raise bad_sample(name, i, "is an empty list; give at least one text ('' is valid)")
        for j, item in enumerate(items):
            _check_item(name, i, j, item)


def _check_item(name: str, sample: int, item: int | None, value: object) -> None:
    if isinstance(value, str):
        return
    if _is_missing(value):
        advice = "give a string ('' is valid text) or leave the sample out of every column"
    elif isinstance(value, (bytes, bytearray)):
        advice = "decode it: value.decode('utf-8')"
    elif isinstance(value, (list, tuple)):
        advice = "the lists are nested too deeply; give one text or one list of texts per sample"
    elif isinstance(value, Mapping):
        advice = "convert it, json.dumps(value)"
    else:
        advice = "convert it to text, for example str(value)"
    error = bad_sample(name, sample, f"is {what(value)}, not text; {advice}", item)
    if isinstance(value, Mapping):
        error = error.with_remedy("choose_field", name, f"NAME.{next(iter(value), 'text')}")
    raise error


def _is_missing(value: object) -> bool:
    """Whether a value is None, nan, or pandas' NA or NaT, which are known by name alone."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def bad_sample(column: str, sample: int, message: str, item: int | None = None) -> InputError:
    """The error of one sample, or of one of its items: "references[3][0] is …"."""
    place = "" if item is None else f"[{item}]"
    error = InputError(f"{column}[{sample}]{place} {message}")
    error.column, error.sample = column, sample
    return error
