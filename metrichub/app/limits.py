"""Whether columns are small enough to score within a request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from math import prod
from typing import Any

from metrichub.app.problem import Problem, problem
from metrichub.app.settings import ServerLimits

_DEEPEST = 50


def check_size(
    columns: Mapping[str, Sequence[Any]],
    limits: ServerLimits,
    parameters: Iterable[Mapping[str, Any]] = (),
) -> None:
    """Raise `Problem` (413) if there are more samples, characters or rows than allowed.

    Neither a sample nor a parameter may be nested deeper than any real one is (422).
    """
    samples = max(map(len, columns.values()), default=0)
    if samples > limits.samples:
        raise _over("samples", samples, limits.samples)
    characters = sum(_size(value) for values in columns.values() for value in values)
    characters += sum(map(_size, parameters))
    if characters > limits.characters:
        raise _over("characters", characters, limits.characters)
    rows = rows_of(columns.values())
    if rows > limits.rows:
        raise _over("pairs of a prediction with its references", rows, limits.rows)


def rows_of(columns: Iterable[Sequence[Any]]) -> int:
    """The most rows that a metric may see of these columns: each item with each of the others."""
    return sum(prod(map(_items, row)) for row in zip_longest(*columns))


def _items(value: object) -> int:
    return max(1, len(value)) if isinstance(value, (list, tuple)) else 1


def _size(value: object, depth: int = 0) -> int:
    """The characters of all texts in a value, and one more each."""
    if isinstance(value, str):
        return len(value) + 1
    if isinstance(value, Mapping):
        value = (*value, *value.values())
    if not isinstance(value, (list, tuple)):
        return 1
    if depth > _DEEPEST:
        raise problem(422, "InputError", f"a value is nested deeper than {_DEEPEST} levels")
    return sum(_size(item, depth + 1) for item in value) + 1


def _over(what: str, number: int, allowed: int) -> Problem:
    return problem(
        413,
        "TooLarge",
        f"{number:,} {what} are more than a request may have ({allowed:,}); send several requests, "
        "or score a file",
    )
