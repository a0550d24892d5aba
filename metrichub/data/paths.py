"""Paths into nested fields: "doc.answer", "filtered_resps.0"; steps are keys and list places."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from metrichub.data.values import as_list, bad_sample
from metrichub.errors import InputError, MissingColumn, did_you_mean, listed, what

_SHOWN = 8
"""How many keys of an object an error names."""


def column_of_path(path: str, names: Iterable[str]) -> str | None:
    """The column that a path starts at, or None where there is none.

    A column of the very name wins, then the one with the most of the path's steps in its name.
    """
    have = set(names)
    while path not in have:
        path, dot, _ = path.rpartition(".")
        if not dot:
            return None
    return path


def values_at(
    path: str, names: Iterable[str], values_of: Callable[[str], Iterable[Any]]
) -> Iterable[Any]:
    """The values of a column, or what a path finds in each of them.

    Raises:
        InputError: the path ends before its last step; the text says where, and what is there.
    """
    column = column_of_path(path, names) or path
    values = values_of(column)
    steps = path.removeprefix(column).removeprefix(".").split(".") if path != column else []
    if not steps:
        return values
    return [
        _value(value, path, column, steps, sample)
        for sample, value in enumerate(as_list(column, values))
    ]


def named_values(
    by: str,
    name: str,
    available: Collection[str],
    values_of: Callable[[str], Iterable[Any]],
    size: int,
) -> Sequence[Any]:
    """The `size` values of a column, or of what a path finds, that an option (`by`) names.

    Raises:
        MissingColumn: it isn't there.
        InputError: it has other than `size` values, or a sample has no such path.
    """
    if column_of_path(name, available) is None:
        raise MissingColumn(
            f"{by} names the column {name!r}, which doesn't exist{did_you_mean(name, available)} "
            f"(columns: {', '.join(available) or 'none'})"
        )
    values = as_list(name, values_at(name, available, values_of))
    if len(values) != size:
        raise InputError(f"{name} has {len(values)} values for {size} samples")
    return values


def _value(value: Any, path: str, column: str, steps: Sequence[str], sample: int) -> Any:
    for number, step in enumerate(steps):
        try:
            value = _inside(value, step)
        except LookupError as error:
            end = ".".join((column, *steps[:number]))
            raise bad_sample(path, sample, f"doesn't exist: {end} {error.args[0]}") from None
    return value


def _inside(value: Any, step: str) -> Any:
    """What is at a key of an object, or at a place of a list; `LookupError` says what is there."""
    if isinstance(value, Mapping):
        if step in value:
            return value[step]
        raise LookupError(_keys(value, step))
    if not _is_list(value):
        raise LookupError(f"is {what(value)}")
    size = len(value)
    if not step.isdecimal():
        raise LookupError(f"is a list of {size}, whose items are numbered from 0")
    if int(step) >= size:
        raise LookupError(f"is a list of {size}, numbered from 0" if size else "is an empty list")
    return value[int(step)]


def _is_list(value: object) -> bool:
    """Whether a value is a list, a tuple or an array, such as pandas reads lists from Parquet."""
    return isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) > 0


def _keys(value: Mapping[Any, Any], step: str) -> str:
    keys = [str(key) for key in value]
    if not keys:
        return "is an empty object"
    shown = keys if len(keys) <= _SHOWN else [*keys[:_SHOWN], f"{len(keys) - _SHOWN} more"]
    return f"has {listed(shown)}{did_you_mean(step, keys)}"
