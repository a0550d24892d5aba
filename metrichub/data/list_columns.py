"""Columns whose cells hold lists or objects as text, since their table knows no others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any

from metrichub.data.values import Objects, TextOf, is_missing, sample_error
from metrichub.errors import InputError
from metrichub.text.cells import BLANKS, read_cell

LISTS = Objects(lambda value: value, single=True, listed=True)
"""For columns that metrics read as lists, of whatever is in them."""


def read_each(column: str, values: Sequence[Any], *, json_objects: bool) -> Sequence[Any]:
    """The values of a column of lists; without `json_objects`, an object in JSON stays text.

    Raises:
        InputError: a cell looks like a list or an object, and can't be read.
    """
    read = []
    for sample, value in enumerate(values):
        try:
            read.append(read_cell(value, json_objects=json_objects))
        except ValueError as error:
            raise sample_error(column, sample, str(error)) from None
    return read


def read_lists(
    column: str,
    values: Sequence[Any],
    way: TextOf | None,
    predictions: Sequence[Any],
    shared: dict[str, bool],
) -> Sequence[Any]:
    """The values of a column as lists if all of them are, blank ones aside; else as they are.

    Where half of the `predictions` are lists too, texts are compared that happen to be lists.
    `way` makes texts of objects; without it, lists are those of texts. The first rows of a table
    decide what its columns hold, in `shared`.

    Raises:
        InputError: a list can't be read, a later value isn't one, or it isn't clear what is meant.
    """
    kinds = (_is_list(value, way) for value in values)
    lists = list(takewhile(lambda kind: kind is not False, kinds))
    if len(lists) < len(values):
        if shared.get(column):
            raise sample_error(column, len(lists), "isn't a list, unlike all before it")
        shared[column] = False
    elif column not in shared and True in lists:
        shared[column] = _are_meant(column, way, predictions)
    return read_each(column, values, json_objects=way is not None) if shared.get(column) else values


def _are_meant(column: str, way: TextOf | None, predictions: Sequence[Any]) -> bool:
    """Whether a column of lists is one of lists, beside these predictions."""
    size = len(predictions)
    number = sum(isinstance(text, str) and _is_list(text, way) is True for text in predictions)
    if way is None and size <= 10 * number and 2 * number < size:
        raise InputError(
            f"all {column} are lists in the form of text, and so are {number} of {size} "
            "predictions: are texts compared, or is each list one of several references? Pass "
            f"lists (json.loads) as {column}, of one text each if texts are compared"
        )
    return 2 * number < size or not number


def _is_list(value: Any, way: TextOf | None) -> bool | None:
    """Whether a value is a list, or an object for `way`; None where it is blank or unreadable."""
    if is_missing(value) or (isinstance(value, str) and value in BLANKS):
        return None
    try:
        value = read_cell(value, json_objects=way is not None)
    except ValueError:
        return None
    if isinstance(value, Mapping):
        return way != LISTS
    if isinstance(value, str) or not isinstance(value, Iterable):
        return False
    return way is not None or all(item is None or isinstance(item, str) for item in value)
