"""Values of a column: as a list, whichever library holds them, and whether they are texts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from metrichub.errors import InputError, what


def as_list(name: str, values: Iterable[Any]) -> Sequence[Any]:
    """The values of a column of any library, one a sample.

    Raises:
        InputError: one string, or a value that isn't a column; the text names the column.
    """
    if type(values) is list:
        return values
    if isinstance(values, str):
        raise InputError(
            f"{name} is one string; give a list with one entry per sample: {name}=[{values[:40]!r}]"
        )
    listed = None if _is_no_column(values) else _listed_values(values)
    if not isinstance(listed, (list, tuple)):
        leave_out = ", or leave it out" if values is None else ""
        raise InputError(
            f"{name} is {what(values)}; give a list with one entry per sample{leave_out}"
        )
    return listed


def names_of(option: str, names: str | Iterable[str] | None) -> tuple[str, ...]:
    """The names of columns that an option gives: one, several, or none.

    Raises:
        InputError: they aren't names.
    """
    one = isinstance(names, str) or not isinstance(names, Iterable)
    found: list[Any] = [] if names is None else [names] if one else list(names)
    for name in found:
        if not isinstance(name, str):
            raise InputError(f"{option} takes names of columns, {option}=['id'], not {what(name)}")
    return tuple(found)


def _is_no_column(values: object) -> bool:
    return isinstance(values, (bytes, Mapping, set, frozenset)) or any(
        hasattr(values, attribute) for attribute in ("columns", "column_names")
    )


def _listed_values(values: Any) -> object:
    """The values as a list, by what their library offers; None if there is no way to one."""
    for method in ("to_pylist", "to_list"):
        if hasattr(values, method):
            return getattr(values, method)()
    if hasattr(values, "tolist"):
        return without_numpy(values)
    if isinstance(values, (list, tuple)):
        return values
    return list(values) if isinstance(values, Iterable) or hasattr(values, "__getitem__") else None


def without_numpy(value: Any) -> Any:
    """A scalar or an array of numpy in Python's types.

    Python's dates end at microseconds, and numpy makes whole numbers of finer ones; those are
    texts here, as files have them.
    """
    found = value.tolist()
    if getattr(getattr(value, "dtype", None), "kind", "") not in "mM" or not _is_number(found):
        return found
    # A caller with a date of numpy has loaded it.
    import numpy as np

    rough = value.astype(value.dtype.kind + "8[us]")
    exact = ((rough == value) | np.isnat(value)).all()
    return rough.tolist() if exact else value.astype(str).tolist()


def _is_number(found: Any) -> bool:
    while isinstance(found, list):
        found = next((item for item in found if item is not None), None)
    return isinstance(found, int)


def check_texts(name: str, values: Sequence[Any], lists: Sequence[Sequence[Any] | None]) -> None:
    """Raise `InputError` if a value, or an item of its list, isn't text."""
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
