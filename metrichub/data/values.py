"""Values of a column: as a list, those inside nested fields, and as texts, objects too.

The steps of a path, such as "doc.answer" or "filtered_resps.0", are keys and places in lists.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple, TypeAlias

from metrichub.errors import InputError, MissingColumn, did_you_mean, listed, what
from metrichub.text.cells import cell_or_text

_SHOWN = 8
"""How many keys of an object an error names."""


class Objects(NamedTuple):
    """How a column's objects become text, and under which names other tools keep them.

    `single`: whatever a sample has is one object, also a number or a list of texts.
    `conversations`: a conversation is such an object, and not read as its last answer.
    `several`: a list is several objects; `listed`: a metric asks for all of them.
    """

    text_of: Callable[[Any], str]
    names: tuple[str, ...] = ()
    single: bool = False
    conversations: bool = False
    several: bool = False
    listed: bool = False


TextOf: TypeAlias = Callable[[Sequence[Any] | Mapping[str, Any]], str] | Objects
"""The text of a list of objects, or of one; a `ValueError` says why they have none."""


def as_list(name: str, values: Iterable[Any]) -> Sequence[Any]:
    """The values of a column of any library, one per sample.

    Raises:
        InputError: one string, or a value that isn't a column; the text names the column.
    """
    if type(values) is list:
        return values
    if isinstance(values, str):
        raise InputError(
            f"{name} is one string; give a list with one entry per sample: {name}=[{values[:40]!r}]"
        )
    try:
        rows = _listed_values(values)
    except UnicodeDecodeError:  # Arrow doesn't look at what it takes for text.
        raise InputError(f"{name} contains text that isn't UTF-8") from None
    if not isinstance(rows, (list, tuple)):
        leave_out = ", or leave it out" if values is None else ""
        raise InputError(
            f"{name} is {what(values)}; give a list with one entry per sample{leave_out}"
        )
    return rows


def names_of(option: str, names: str | Iterable[str] | None) -> tuple[str, ...]:
    """The names of columns that an option gives: one, several, or none.

    Raises:
        InputError: they aren't names.
    """
    single = isinstance(names, str) or not isinstance(names, Iterable)
    chosen: list[Any] = [] if names is None else [names] if single else list(names)
    for name in chosen:
        if not isinstance(name, str):
            raise InputError(f"{option} takes names of columns, {option}=['id'], not {what(name)}")
    return tuple(chosen)


def check_mapping(columns: object) -> None:
    """Raise `InputError` unless `columns` maps names of columns to names, or is None."""
    example = "columns={'predictions': 'summary'}"
    if columns is None:
        return
    if not isinstance(columns, Mapping):
        raise InputError(f"columns must be a mapping, {example}, not {what(columns)}")
    for column, name in columns.items():
        if not isinstance(column, str):
            raise InputError(f"columns maps names of columns, {example}, not {what(column)}")
        if not isinstance(name, str):
            raise InputError(
                f"columns maps each column to one name, {example}, not to {what(name)}"
            )


def _listed_values(values: Any) -> object:
    """The values as a list, by what their library offers; None if there is no way to one."""
    is_table = hasattr(values, "columns") or hasattr(values, "column_names")
    if is_table or isinstance(values, (bytes, Mapping, set, frozenset)):
        return None
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
    plain = value.tolist()
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if kind not in ("m", "M") or not _is_number(plain):
        return plain
    # A caller with a date of numpy has loaded it.
    import numpy as np

    rough = value.astype(f"{kind}8[us]")
    exact = ((rough == value) | np.isnat(value)).all()
    return rough.tolist() if exact else value.astype(str).tolist()


_PLAIN = {str, int, bool, type(None)}
"""Most values are of these, and pages ask a million times."""


def json_value(value: Any, unknown: Callable[[Any], Any] = str) -> Any:
    """A value in the types of JSON: arrays as lists, objects with named fields as mappings.

    Numbers that aren't finite become None, dates, times and UUIDs their texts; and what JSON
    doesn't know becomes what `unknown` makes of it.
    """
    if type(value) in _PLAIN:
        return value
    if type(value) in (dict, list):
        pass
    elif is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    elif hasattr(value, "_asdict"):
        value = value._asdict()
    elif hasattr(value, "tolist"):
        value = without_numpy(value)
    if isinstance(value, Mapping):
        return {
            str(key): item if type(item) in _PLAIN else json_value(item, unknown)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [json_value(item, unknown) for item in value]
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return int(value) if isinstance(value, numbers.Integral) else _rare(value, unknown)


def _rare(value: Any, unknown: Callable[[Any], Any]) -> Any:
    import datetime
    from decimal import Decimal
    from uuid import UUID

    if isinstance(value, (numbers.Real, Decimal)):
        return json_value(float(value))
    if isinstance(value, (datetime.date, datetime.time)):
        # pandas' NaT, a date without a year, is unequal to itself.
        return None if value != value else value.isoformat()  # noqa: PLR0124
    if isinstance(value, UUID):
        return str(value)
    mapping = _as_mapping(value)
    return unknown(value) if mapping is value else json_value(mapping, unknown)


def _is_number(value: Any) -> bool:
    while isinstance(value, list):
        value = next((item for item in value if item is not None), None)
    return isinstance(value, int)


def column_of_path(path: str, names: Iterable[str]) -> str | None:
    """The column that a path starts at, or None where there is none.

    A column of the very name wins, then the one with the most of the path's steps in its name.
    """
    columns = set(names)
    while path not in columns:
        path, dot, _ = path.rpartition(".")
        if not dot:
            return None
    return path


def paths_of(path: str, names: Iterable[str]) -> list[str]:
    """The paths of several columns that are read as one, as in "ref1+ref2"; else this one."""
    columns = set(names)
    several = path.split("+")
    apart = path not in columns and all(column_of_path(part, columns) for part in several)
    return several if apart else [path]


def columns_of_path(path: str, names: Iterable[str]) -> list[str]:
    """The columns that a path starts at, of several paths all; none where there is none."""
    columns = set(names)
    starts = [column_of_path(part, columns) for part in paths_of(path, columns)]
    return [column for column in starts if column]


def values_at(
    path: str,
    names: Collection[str],
    values_of: Callable[[str], Iterable[Any]],
    cells: bool = False,
) -> Iterable[Any]:
    """The values of a column, or what a path finds in each of them; of several, in a list.

    In `cells`, which are texts, an empty one of several is missing, and one may hold a list.

    Raises:
        InputError: the path ends before its last step; the text says where, and what is there.
    """
    paths = paths_of(path, names)
    if len(paths) > 1:
        read = [as_list(part, values_at(part, names, values_of)) for part in paths]
        return [_several(values, cells) for values in zip(*read, strict=True)]
    column = column_of_path(path, names) or path
    values = values_of(column)
    steps = path.removeprefix(column).removeprefix(".").split(".") if path != column else []
    if not steps:
        return values
    return [
        _value(value, path, column, steps, sample)
        for sample, value in enumerate(as_list(column, values))
    ]


def _several(values: Sequence[Any], cells: bool) -> Any:
    """The values of a sample in several columns, but for those that are missing."""
    read = [cell_or_text(value) for value in values] if cells else values
    items: list[Any] = []
    for value in read:
        inner = inner_list(value)
        items += [value] if inner is None else inner
    return [i for i in items if not (is_missing(i) or (cells and i == ""))] or values[0]


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
    if not columns_of_path(name, available):
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
            raise sample_error(path, sample, f"doesn't exist: {end} {error.args[0]}") from None
    return value


def _inside(value: Any, step: str) -> Any:
    """The value of a key of an object, or at a place of a list.

    Raises:
        LookupError: there is none; the text says what is there.
    """
    value = cell_or_text(value)
    if isinstance(value, Mapping):
        if step in value:
            return value[step]
        keys = [str(key) for key in value]
        shown = keys if len(keys) <= _SHOWN else [*keys[:_SHOWN], f"{len(keys) - _SHOWN} more"]
        has = f"has {listed(shown)}{did_you_mean(step, keys)}" if keys else "is an empty object"
        raise LookupError(has)
    # pandas reads lists from Parquet as arrays.
    if not isinstance(value, (list, tuple)) and getattr(value, "ndim", 0) == 0:
        raise LookupError(f"is {what(value)}")
    size = len(value)
    if not step.isdecimal():
        raise LookupError(f"is a list of {size}, whose items are numbered from 0")
    if int(step) >= size:
        raise LookupError(f"is a list of {size}, numbered from 0" if size else "is an empty list")
    return value[int(step)]


def check_texts(name: str, values: Sequence[Any], lists: Sequence[Sequence[Any] | None]) -> None:
    """Raise `InputError` if a value, or an item of its list, isn't text."""
    for i, (value, items) in enumerate(zip(values, lists, strict=True)):
        if items is None:
            _check_item(name, i, None, value)
            continue
        if not items and name != "contexts":
            raise sample_error(name, i, "is an empty list; give at least one text ('' is valid)")
        for j, item in enumerate(items):
            _check_item(name, i, j, item)


def _check_item(name: str, sample: int, item: int | None, value: object) -> None:
    if isinstance(value, str):
        return
    if is_missing(value):
        advice = "give a text ('' is valid), or leave the sample out"
    elif isinstance(value, (bytes, bytearray)):
        advice = "decode it: value.decode('utf-8')"
    elif isinstance(value, (list, tuple)):
        advice = "the lists are nested too deeply; give one text or one list of texts per sample"
    elif isinstance(value, Mapping) and "role" in value:
        advice = "a conversation belongs in the column messages, whose last answer is scored then"
    elif isinstance(value, Mapping):
        advice = "write it as JSON text (json.dumps)"
    else:
        advice = "write it as text, in quotes"
        if name in ("predictions", "references") and not isinstance(value, bool):
            advice += ", or choose a metric that compares numbers"
    error = sample_error(name, sample, f"is {what(value)}, not text; {advice}", item)
    if isinstance(value, Mapping):
        error = error.with_remedy("choose_field", name, f"NAME.{next(iter(value), 'text')}")
    raise error


def is_missing(value: object) -> bool:
    """Whether a value is None, nan, or pandas' NA or NaT, which are known only by name."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def sample_error(column: str, sample: int, message: str, item: int | None = None) -> InputError:
    """The error of one sample, or of one of its items: "references[3][0] is …"."""
    place = "" if item is None else f"[{item}]"
    error = InputError(f"{column}[{sample}]{place} {message}")
    error.column, error.sample = column, sample
    return error


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
    if set(map(type, values)) == {str}:
        return list(values)
    texts = []
    for sample, value in enumerate(values):
        try:
            texts.append(_as_text(_own_types(value), text_of))
        except ValueError as error:
            raise sample_error(column, sample, str(error)) from error
    return texts


def _own_types(value: Any) -> Any:
    """The value with lists for the arrays in it, as pandas reads objects from Parquet.

    Objects of libraries are the mappings that they say they are.
    """
    if getattr(value, "ndim", 0) > 0:
        value = value.tolist()
    if type(value) in (list, tuple):
        return list(map(_own_types, value))
    value = value if isinstance(value, str) else _as_mapping(value)
    if isinstance(value, dict):
        return {key: _own_types(item) for key, item in value.items()}
    return value


def _as_text(value: object, text_of: TextOf) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(text_of, Objects):
        if text_of.single:
            return text_of.text_of(value)
        text_of = text_of.text_of
    items = inner_list(value)
    if items is None and isinstance(value, Mapping):
        return text_of(value)
    if items is None:
        raise ValueError(f"is {what(value)}, neither text nor a list; use [] for none")
    if items and all(isinstance(item, str) for item in items):
        return items
    if items and all(isinstance(item, str) or inner_list(item) is not None for item in items):
        return [_as_text(item, text_of) for item in items]
    return text_of(items)


def joined(values: Sequence[Any]) -> list[Any]:
    """The values with a sample's list of texts as one text, joined by line feeds."""
    lists = map(inner_list, values)
    return [
        "\n".join(items) if items is not None and all(isinstance(i, str) for i in items) else value
        for value, items in zip(values, lists, strict=True)
    ]


def _as_mapping(item: Any) -> Any:
    """An object of a library as the mapping that it says it is (pydantic's `model_dump`)."""
    dump = getattr(item, "model_dump", None)
    return dump() if callable(dump) and not isinstance(item, (Mapping, type)) else item
