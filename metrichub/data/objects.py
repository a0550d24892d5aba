"""Objects that a sample holds in place of a text, such as an agent's calls, as that text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from metrichub.data.columns import column_of
from metrichub.data.values import bad_sample
from metrichub.errors import what

TextOf: TypeAlias = Callable[[Sequence[Any] | Mapping[str, Any]], str]
"""The text of a list of objects, or of one; a `ValueError` says why they have none."""


def objects_of(readers: Iterable[tuple[Sequence[str], TextOf | None]]) -> dict[str, TextOf]:
    """How objects in a column become text, where all metrics that read it take the same.

    A reader is a metric's inputs, with what it makes texts of objects by.
    """
    found: dict[str, set[TextOf | None]] = {}
    for inputs, text_of in readers:
        for name in inputs:
            found.setdefault(column_of(name), set()).add(text_of)
    return {
        column: text_of for column, (text_of, *others) in found.items() if text_of and not others
    }


def inner_list(value: object) -> Sequence[Any] | None:
    """The list of a sample with several items, or None where the value is one item."""
    if isinstance(value, (list, tuple)):
        return value
    if not isinstance(value, str) and hasattr(value, "tolist") and getattr(value, "ndim", 0) > 0:
        return list(value.tolist())
    return None


def as_texts(column: str, values: Sequence[Any], text_of: TextOf) -> list[Any]:
    """The values of a column with each list of objects as one text, [] too.

    A list of lists has several candidates; texts, and lists of texts, stay as they are. Whether an
    object alone will do is for `text_of` to say.

    Raises:
        InputError: a value is neither text nor a list, or its objects have no text.
    """
    found = []
    for sample, value in enumerate(values):
        try:
            found.append(_as_text(value, text_of))
        except ValueError as error:
            raise bad_sample(column, sample, str(error)) from error
    return found


def _as_text(value: object, text_of: TextOf) -> Any:
    if isinstance(value, str):
        return value
    items = inner_list(value)
    if items is None and isinstance(message := plain(value), Mapping):
        return text_of(message)
    if items is None:
        raise ValueError(f"is {what(value)}, neither text nor a list; use [] for none")
    if items and all(isinstance(item, str) for item in items):
        return items
    if items and all(isinstance(item, str) or inner_list(item) is not None for item in items):
        return [_as_text(item, text_of) for item in items]
    return text_of(list(map(plain, items)))


def joined(values: Sequence[Any]) -> list[Any]:
    """The values with a sample's list of texts as one text, joined by line feeds."""
    lists = map(inner_list, values)
    return [
        "\n".join(items) if items is not None and all(isinstance(i, str) for i in items) else value
        for value, items in zip(values, lists, strict=True)
    ]


def plain(item: object) -> object:
    """An object of a library as the mapping that it says it is (pydantic's `model_dump`)."""
    dump = getattr(item, "model_dump", None)
    return dump() if callable(dump) and not isinstance(item, (Mapping, type)) else item
