"""A metric's parameters: read from its dataclass fields and docstring, checked when it is made."""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from metrichub.errors import ParameterError, UnknownParameter


class Range(NamedTuple):
    """The closed interval that a number has to lie in: `Annotated[int, Range(1, 9)]`."""

    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        """The bounds in words: "from 1 to 9", "at least 1" or "at most 9"."""
        if self.low is not None and self.high is not None:
            return f"from {self.low} to {self.high}"
        return f"at least {self.low}" if self.low is not None else f"at most {self.high}"


REQUIRED = MappingProxyType({"required": True})
"""The metadata of a field that has to be chosen; until then it is None."""


class Parameter(NamedTuple):
    """One parameter of a metric, as its card shows it."""

    name: str
    type: str
    default: str
    meaning: str
    required: bool = False


def parameters_of(metric: type) -> tuple[Parameter, ...]:
    """The parameters of a metric class in the order of its fields, without `name`."""
    meanings = _meanings(metric)
    return tuple(
        Parameter(
            field.name,
            describe(_chosen(field, _hints(metric)[field.name])),
            repr(_default(field)),
            meanings.get(field.name, ""),
            is_required(field),
        )
        for field in _fields(metric)
    )


def off_default(metric: object) -> dict[str, object]:
    """The parameters of a metric whose values differ from their defaults."""
    return {
        field.name: getattr(metric, field.name)
        for field in _fields(type(metric))
        if getattr(metric, field.name) != _default(field)
    }


def values_of(metric: object) -> dict[str, object]:
    """All parameters of a metric and their values."""
    return {field.name: getattr(metric, field.name) for field in _fields(type(metric))}


def make(metric: type, parameters: Mapping[str, object], label: str) -> Any:
    """An instance of a metric class; a list stands for the tuple that a field asks for.

    Raises:
        UnknownParameter: the class has no such parameter.
        ParameterError: a value is out of its domain.
    """
    known = [field.name for field in dataclasses.fields(metric) if field.init]
    for name in parameters:
        if name not in known:
            raise UnknownParameter(label, name, [k for k in known if k != "name"])
    hints = _hints(metric)
    return metric(
        **{
            name: tuple(value)
            if isinstance(value, list) and not _fits(value, hints[name])
            else value
            for name, value in parameters.items()
        }
    )


def check(metric: object, label: str) -> None:
    """Raise `ParameterError` if a field's value doesn't fit its annotation.

    A list given for a tuple becomes one, as lists come from JSON and specs.
    """
    owner: type = type(metric)
    for field in _fields(owner):
        hint, value = _hints(owner)[field.name], getattr(metric, field.name)
        if isinstance(value, list) and get_origin(hint) is tuple:
            value = tuple(value)
            object.__setattr__(metric, field.name, value)
        if not _fits(value, hint):
            raise ParameterError(label, field.name, value, describe(_chosen(field, hint)))


def is_required(field: dataclasses.Field[Any]) -> bool:
    """Whether a field has to be chosen."""
    return bool(field.metadata.get("required"))


def describe(hint: Any) -> str:
    """A type hint in a reader's words: "an integer at least 1", "'13a' or 'char'"."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        bounds = [str(extra) for extra in arguments[1:] if isinstance(extra, Range)]
        return " ".join([describe(arguments[0]), *bounds])
    if origin is Literal:
        return " or ".join(repr(value) for value in arguments)
    if origin in (Union, types.UnionType):
        return " or ".join(describe(argument) for argument in arguments)
    if origin is tuple:
        return f"a sequence of: {describe(arguments[0])}"
    words = {int: "an integer", float: "a number", str: "a string", bool: "True or False"}
    return words.get(hint, "None" if hint is type(None) else getattr(hint, "__name__", str(hint)))


def _fits(value: object, hint: Any) -> bool:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        ranges = [extra for extra in arguments[1:] if isinstance(extra, Range)]
        return _fits(value, arguments[0]) and all(_within(value, bounds) for bounds in ranges)
    if origin is Literal:
        return any(value == choice and type(value) is type(choice) for choice in arguments)
    if origin in (Union, types.UnionType):
        return any(_fits(value, argument) for argument in arguments)
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(item, arguments[0]) for item in value)
    if hint is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return not isinstance(hint, type) or isinstance(value, hint)


def _chosen(field: dataclasses.Field[Any], hint: Any) -> Any:
    """The hint without the None that stands for a required field until it is chosen."""
    if not is_required(field):
        return hint
    return Union[tuple(kind for kind in get_args(hint) if kind is not type(None))]  # noqa: UP007


def _within(value: object, bounds: Range) -> bool:
    if not isinstance(value, (int, float)):
        return True
    above = bounds.low is None or value >= bounds.low
    return above and (bounds.high is None or value <= bounds.high)


def _fields(metric: type) -> list[dataclasses.Field[Any]]:
    return [f for f in dataclasses.fields(metric) if f.name != "name" and f.init]


def _default(field: dataclasses.Field[Any]) -> object:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


@cache
def _hints(metric: type) -> dict[str, Any]:
    return get_type_hints(metric, include_extras=True)


def _meanings(metric: type) -> dict[str, str]:
    """What the "Attributes:" sections of the class and those that it derives from say of fields."""
    meanings: dict[str, str] = {}
    for owner in reversed(metric.__mro__):
        meanings |= _said(inspect.cleandoc(owner.__dict__.get("__doc__") or ""))
    return meanings


def _said(text: str) -> dict[str, str]:
    _, _, section = text.partition("Attributes:\n")
    section = re.split(r"\n(?=\S)", section)[0]
    entries = re.findall(r"^ {4}(\w+):\s*(.*(?:\n {5,}.*)*)", section, re.MULTILINE)
    return {name: " ".join(meaning.split()) for name, meaning in entries}
