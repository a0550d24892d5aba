"""Listed ids: the ids or texts that a sample lists, given as JSON text or as several texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from metric_cards._bases.json_replies import json_text
from metric_cards._bases.strictjson import read
from metrichub.errors import InputError, what


def ways_of(column: str, *, required: bool = False) -> Mapping[str, Callable[[Any], Any]]:
    """How the objects in a column become text, by the names under which a hub may know it.

    None is an empty list, unless one is `required`.

    Several texts of a column that is named in the plural stay as they are: other metrics read such
    columns, too.
    """
    way = _listed_text if column.endswith("s") else json_text
    way = partial(_converted, way) if required else way
    return dict.fromkeys((column, f"{column}s", f"{column}es", f"{column[:-1]}ies"), way)


def _converted(way: Callable[[Any], Any], value: Any) -> Any:
    if value is None:
        raise ValueError("is None; give a list, [] if there is nothing to list")
    return way(value)


def _listed_text(value: Any) -> Any:
    texts = isinstance(value, (list, tuple)) and value and {*map(type, value)} == {str}
    return list(value) if texts else json_text(value)


def read_listed(metric: str, column: str, listed: Any) -> Sequence[str] | Mapping[str, float]:
    """The ids or texts in their order, or the numbers of each; `listed` is one text or several.

    A text that is a JSON list or object stands for it, null for an empty list, and any other for
    one id.

    Raises:
        InputError: something listed isn't an id, or a number is missing.
    """
    texts = [listed] if isinstance(listed, str) else list(listed)
    value: Any = texts
    if len(texts) == 1:
        parsed, problem = read(texts[0])
        if problem is None and (parsed is None or isinstance(parsed, (list, dict))):
            value = parsed or []
    if isinstance(value, dict):
        return {
            key: _number(metric, column, key, number)
            for key, number in value.items()
            # A table of mappings has all keys for all rows.
            if number is not None
        }
    return [_id(metric, column, item) for item in value]


def _id(metric: str, column: str, item: object) -> str:
    if isinstance(item, float) and item.is_integer():
        item = int(item)
    if isinstance(item, bool) or not isinstance(item, (str, int, float)):
        raise InputError(
            f"{metric}: {column!r} holds {what(item)} in a list; give ids or texts, or an object "
            "with the number of each"
        )
    return str(item)


def _number(metric: str, column: str, key: str, number: object) -> float:
    try:
        if isinstance(number, (int, float)):
            return float(number)
    except OverflowError:
        pass
    raise InputError(f"{metric}: {column!r} holds {what(number)} for {key!r}; give a number")
