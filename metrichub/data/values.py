"""The values of a column as a list, whichever library holds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from metrichub.errors import InputError, what


def as_list(name: str, values: Iterable[Any]) -> Sequence[Any]:
    """The values of a column of any library, one a sample.

    Raises:
        InputError: one string, or what is no column; the text names the column.
    """
    if isinstance(values, str):
        raise InputError(
            f"{name} is one string; give a list with one entry per sample: {name}=[{values[:40]!r}]"
        )
    listed = None if _is_no_column(values) else listed_values(values)
    if not isinstance(listed, (list, tuple)):
        leave_out = ", or leave it out" if values is None else ""
        raise InputError(
            f"{name} is {what(values)}; give a list with one entry per sample{leave_out}"
        )
    return listed


def names_of(option: str, names: str | Iterable[str] | None) -> tuple[str, ...]:
    """The names of columns that an option gives: one, several, or none.

    Raises:
        InputError: they are no names.
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


def listed_values(values: Any) -> object:
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
