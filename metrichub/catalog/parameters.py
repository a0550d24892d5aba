"""A metric's parameters: read from its dataclass fields and docstring, checked when it is made."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from metrichub.errors import MissingParameter, ParameterError, UnknownParameter, listed

RESERVED = ("name", "extraction", "reference_extraction")
"""Fields that every metric has: not parameters of its own."""
_WRITTEN = {"extract": "extraction", "extract_references": "reference_extraction"}

REQUIRED = MappingProxyType({"required": True})
"""The metadata of a field that has to be chosen; until then it is None."""

OMIT_DEFAULT = MappingProxyType({"omit_default": True})
"""The metadata of a field that a metric gains later: signatures leave it out at its default.

So they stay those of older reports, which remain comparable.
"""
_WORDS: dict[Any, str] = {
    int: "an integer",
    float: "a number",
    bool: "True or False",
    str: "a string",
    NoneType: "None",
    **dict.fromkeys((dict, Mapping), "a mapping"),
}
"""The words for values that aren't objects."""


class Range(NamedTuple):
    """The closed interval of the values that a number may have: `Annotated[int, Range(1, 9)]`."""

    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        """The bounds in words, such as "from 1 to 9" or "of at least 1"; without any, blank."""
        if self.low is not None and self.high is not None:
            return f"from {self.low} to {self.high}"
        if self.low is not None:
            return f"of at least {self.low}"
        return "" if self.high is None else f"of at most {self.high}"

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """The schema of the annotated number with its bounds."""
        from pydantic import Field

        return handler(Annotated[source, Field(ge=self.low, le=self.high)])


@dataclass(frozen=True)
class LocalPath:
    """Marks the path of a file or folder on this machine: `Annotated[str | None, LocalPath()]`.

    Clients of `metrichub serve` can't set it. A `Path` needs no mark.
    """


@dataclass(frozen=True)
class Secret:
    """Marks a key or password: `Annotated[str | None, Secret()]`.

    Clients of `metrichub serve` can't set it, and no signature, label or report shows it.
    """


@dataclass(frozen=True)
class Address:
    """Marks the address of a server to call; clients of `metrichub serve` can't set it."""


Mark = LocalPath | Secret | Address


def members(hint: Any) -> list[Any]:
    """The members of a union, each with the annotations that are written around it."""
    arguments = get_args(hint)
    if get_origin(hint) is Annotated:
        inside = members(arguments[0])
        return [m if m is NoneType else Annotated[m, *arguments[1:]] for m in inside]
    if get_origin(hint) in (Union, UnionType):
        return [member for argument in arguments for member in members(argument)]
    return [hint]


def type_of(member: Any) -> Any:
    """A member of a hint without its annotations."""
    return get_args(member)[0] if get_origin(member) is Annotated else member


def _parts(hint: Any) -> Iterator[Any]:
    """A type hint and all that it is made of, but for the items of a mapping that takes any."""
    yield hint
    for argument in get_args(hint):
        if argument is not Any or get_origin(hint) not in (dict, Mapping):
            yield from _parts(argument)


def marks_of(hint: Any) -> list[type[Mark]]:
    """The marks within a hint: a path is local without one, and parentheses may be forgotten."""
    classes = [part if isinstance(part, type) else type(part) for part in _parts(hint)]
    marks = [LocalPath if issubclass(c, PurePath) else c for c in classes]
    return [mark for mark in marks if issubclass(mark, Mark)]


def object_types(hint: Any) -> list[type]:
    """The classes within a hint whose objects aren't text, numbers or paths, such as a judge."""
    classes = [part for part in _parts(hint) if isinstance(part, type)]
    return [c for c in classes if c not in _WORDS and not issubclass(c, (Mark, PurePath))]


def choices_of(hint: Any) -> tuple[Any, ...]:
    """The values that a hint lists one by one, such as those of a `Literal`."""
    literals = [t for t in map(type_of, members(hint)) if get_origin(t) is Literal]
    return tuple(choice for literal in literals for choice in get_args(literal))


def described_values(hint: Any) -> list[str]:
    """The values of a hint in a reader's words, None last: ["an integer of at least 1", "None"]."""
    words: list[str] = []
    for member in members(hint):
        bare = type_of(member)
        origin, arguments = get_origin(bare) or bare, get_args(bare)
        if origin is Literal:
            words += map(repr, arguments)
        elif origin is tuple and arguments[1:] == (...,):
            words.append(f"a sequence; each item is {' or '.join(described_values(arguments[0]))}")
        else:
            name = "a path" if marks_of(bare) else getattr(bare, "__name__", str(bare))
            bounds = [str(extra) for extra in get_args(member)[1:] if isinstance(extra, Range)]
            words.append(" ".join([_WORDS.get(origin, name), *bounds]).rstrip())
    return sorted(words, key=lambda word: word == "None")


@cache
def _adapter(hint: Any) -> Any:
    from pydantic import TypeAdapter

    # In a tuple, as a dataclass takes no configuration but its own.
    return TypeAdapter(tuple[hint], config={"arbitrary_types_allowed": True, "strict": True})


def is_valid(value: object, hint: Any) -> bool:
    """Whether a value is of a type; True, "3" and 3.0 aren't integers."""
    from pydantic import ValidationError

    try:
        (checked,) = _adapter(hint).validate_python((value,))
    except ValidationError:
        return False
    # Pydantic takes True and 1.0 for the 1 of a `Literal`.
    return type(checked) is type(value) or not isinstance(checked, int)


class Parameter(NamedTuple):
    """One parameter of a metric: all that its card, a check, a form or a policy needs to know.

    `default` is None where one is `required`.
    """

    name: str
    hint: Any
    default: Any
    required: bool
    meaning: str
    secret: bool
    """Whether it holds a key or password."""


@cache
def _parameters(metric: Any) -> tuple[Parameter, ...]:
    hints, meanings = get_type_hints(metric, include_extras=True), _meanings(metric)
    # By their type: a class that travels to another process by value has a MISSING of its own.
    missing = type(dataclasses.MISSING)
    parameters = []
    for field in dataclasses.fields(metric):
        if field.init and field.name not in RESERVED:
            hint: Any = hints[field.name]
            factory: Any = field.default_factory
            default = field.default if isinstance(factory, missing) else factory()
            required = isinstance(default, missing)
            if field.metadata.get("required"):
                # Its None isn't a value: it says that none is chosen yet.
                values = tuple(member for member in members(hint) if member is not NoneType)
                hint, required = Union[values], True  # noqa: UP007  # as many as there are
            default, meaning = None if required else default, meanings.get(field.name, "")
            secret = Secret in marks_of(hint)
            parameters.append(Parameter(field.name, hint, default, required, meaning, secret))
    return tuple(parameters)


def parameters_of(metric: type) -> tuple[Parameter, ...]:
    """The parameters of a metric class in the order of its fields, without those that all have."""
    return _parameters(metric)


def off_default(metric: object) -> dict[str, object]:
    """The parameters of a metric whose values differ from their defaults, but for secrets."""
    defaults = {p.name: p.default for p in parameters_of(type(metric)) if not p.required}
    return {
        name: value
        for name, value in values_of(metric).items()
        if name not in defaults or value != defaults[name]
    }


def values_of(metric: object) -> dict[str, object]:
    """The parameters of a metric and their values, but for secrets: reports and labels say them.

    Its extractions are among them, if it has any.
    """
    shown = [p.name for p in parameters_of(type(metric)) if not p.secret]
    values: dict[str, object] = {name: getattr(metric, name) for name in shown}
    for name, field in _WRITTEN.items():
        if extraction := getattr(metric, field, None):
            values[name] = extraction
    return values


def omitted(metric: Any) -> set[str]:
    """The parameters at a default that labels leave out."""
    return {
        field.name
        for field in dataclasses.fields(metric)
        if field.metadata.get("omit_default") and getattr(metric, field.name) == field.default
    }


def make(metric: type, parameters: Mapping[str, object], label: str) -> Any:
    """An instance of a metric class; a list stands for the tuple that a field asks for.

    Raises:
        UnknownParameter: the class has no such parameter.
        MissingParameter: one has neither a value nor a default.
        ParameterError: a value is out of its domain.
    """
    fields = [field.name for field in dataclasses.fields(metric) if field.init]
    renamed = {name: field for name, field in _WRITTEN.items() if name not in fields}
    parameters = {renamed.get(name, name): value for name, value in parameters.items()}
    for name in parameters:
        if name not in fields:
            error = UnknownParameter(label, name, [f for f in fields if f not in RESERVED])
            raise error.with_remedy("reduce_in_hub") if name == "reduce" else error
    for parameter in _without_default(metric):
        if parameter.name not in parameters:
            example = example_call(metric, label)
            raise MissingParameter(label, parameter.name, example, parameter.meaning)
    instance = metric(**parameters)
    check_parameters(instance, label)
    return instance


def example_call(metric: type, label: str) -> str:
    """A spec with all parameters that have no default: "local(model='…')"."""
    named = ", ".join(f"{parameter.name}='…'" for parameter in _without_default(metric))
    return f"{label}({named})" if named else label


def _without_default(metric: type) -> list[Parameter]:
    """The parameters without which it can't be made."""
    later = {f.name for f in dataclasses.fields(metric) if f.metadata.get("required")}
    return [p for p in parameters_of(metric) if p.required and p.name not in later]


def check_parameters(metric: Any, label: str) -> None:
    """Raise `ParameterError` if a field's value is neither its default nor fits its annotation.

    A list given for a tuple becomes one, as lists come from JSON and specs.
    """
    hints = {parameter.name: parameter.hint for parameter in parameters_of(type(metric))}
    for field in dataclasses.fields(metric):
        hint, value = hints.get(field.name), getattr(metric, field.name)
        if hint is None or value is field.default or is_valid(value, hint):
            continue
        if isinstance(value, list) and is_valid(tuple(value), hint):
            object.__setattr__(metric, field.name, tuple(value))
            continue
        allowed = listed(described_values(hint), "or").replace("a sequence", "a list")
        allowed = allowed.replace("a list; each item is a string", "a list of strings")
        if isinstance(value, str) and is_valid((value,), hint):
            allowed = f"a list, such as [{value!r}]"
        raise ParameterError(label, field.name, value, allowed)


def _meanings(metric: type) -> dict[str, str]:
    """The fields' texts in the "Attributes:" sections of the class and of those above it."""
    meanings: dict[str, str] = {}
    for owner in reversed(metric.__mro__):
        text = inspect.cleandoc(owner.__dict__.get("__doc__") or "")
        section = re.split(r"\n(?=\S)", text.partition("Attributes:\n")[2])[0]
        entries = re.findall(r"^ {4}(\w+):\s*(.*(?:\n {5,}.*)*)", section, re.MULTILINE)
        meanings |= {name: " ".join(meaning.split()) for name, meaning in entries}
    return meanings
