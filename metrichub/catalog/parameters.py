"""A metric's parameters: read from its dataclass fields and docstring, checked when it is made."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple, get_type_hints

from metrichub.catalog.kinds import Address as Address
from metrichub.catalog.kinds import LocalPath as LocalPath
from metrichub.catalog.kinds import Range as Range
from metrichub.catalog.kinds import Secret as Secret
from metrichub.catalog.kinds import Values, values_of_hint
from metrichub.errors import MissingParameter, ParameterError, UnknownParameter

RESERVED = ("name", "extraction", "reference_extraction")
_WRITTEN = {"extract": "extraction", "extract_references": "reference_extraction"}
"""Fields that every metric has: not parameters of its own."""

REQUIRED = MappingProxyType({"required": True})
"""The metadata of a field that has to be chosen; until then it is None."""

OMIT_DEFAULT = MappingProxyType({"omit_default": True})
"""The metadata of a field that a metric gains later: signatures leave it out at its default.

So they stay those of older reports, which remain comparable.
"""


class Parameter(NamedTuple):
    """One parameter of a metric: all that its card, a check, a form or a policy needs to know.

    `default` is None where one is `required`.
    """

    name: str
    values: Values
    default: Any
    required: bool
    meaning: str

    @property
    def secret(self) -> bool:
        """Whether it holds a key or password."""
        return any(isinstance(kind.mark, Secret) for kind in self.values.every())


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
    kind: type = type(metric)
    values: dict[str, object] = {name: getattr(metric, name) for name in _shown(kind)}
    for name, field in _WRITTEN.items():
        if extraction := getattr(metric, field, None):
            values[name] = extraction
    return values


@cache
def _shown(metric: type) -> tuple[str, ...]:
    return tuple(p.name for p in parameters_of(metric) if not p.secret)


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
    known = [field.name for field in dataclasses.fields(metric) if field.init]
    fields = {name: field for name, field in _WRITTEN.items() if name not in known}
    parameters = {fields.get(name, name): value for name, value in parameters.items()}
    for name in parameters:
        if name not in known:
            error = UnknownParameter(label, name, [k for k in known if k not in RESERVED])
            raise error.with_remedy("reduce_in_hub") if name == "reduce" else error
    for name in _without_default(metric):
        if name not in parameters:
            example, meaning = example_call(metric, label), _meanings(metric).get(name, "")
            raise MissingParameter(label, name, example, meaning)
    values = {parameter.name: parameter.values for parameter in parameters_of(metric)}
    return metric(
        **{
            name: values[name].taken(value) if name in values else value
            for name, value in parameters.items()
        }
    )


def example_call(metric: type, label: str) -> str:
    """A spec with all parameters that have no default: "local(model='…')"."""
    named = ", ".join(f"{name}='…'" for name in _without_default(metric))
    return f"{label}({named})" if named else label


def _without_default(metric: type) -> list[str]:
    missing = dataclasses.MISSING
    return [
        field.name
        for field in dataclasses.fields(metric)
        if field.init and field.default is missing and field.default_factory is missing
    ]


def check_parameters(metric: object, label: str) -> None:
    """Raise `ParameterError` if a field's value doesn't fit its annotation.

    A list given for a tuple becomes one, as lists come from JSON and specs.
    """
    owner: type = type(metric)
    for parameter in parameters_of(owner):
        raw = getattr(metric, parameter.name)
        if raw is None and parameter.name in _chosen_later(owner):
            continue
        value = parameter.values.taken(raw)
        if value is not raw:
            object.__setattr__(metric, parameter.name, value)
        if value not in parameter.values:
            one = isinstance(value, str) and (value,) in parameter.values
            allowed = f"a list, such as [{value!r}]" if one else parameter.values.phrase()
            raise ParameterError(label, parameter.name, value, allowed)


@cache
def _parameters(metric: type) -> tuple[Parameter, ...]:
    hints, meanings = get_type_hints(metric, include_extras=True), _meanings(metric)
    later = _chosen_later(metric)
    return tuple(
        Parameter(
            field.name,
            # None isn't a value of a field that is chosen later: it says that none is chosen yet.
            replace(values_of_hint(hints[field.name]), optional=False)
            if field.name in later
            else values_of_hint(hints[field.name]),
            *_default(field),
            meanings.get(field.name, ""),
        )
        for field in dataclasses.fields(metric)
        if field.init and field.name not in RESERVED
    )


@cache
def _chosen_later(metric: type) -> frozenset[str]:
    """The required parameters that may be chosen after the metric is made, by its hub."""
    return frozenset(
        field.name for field in dataclasses.fields(metric) if field.metadata.get("required")
    )


def _default(field: dataclasses.Field[Any]) -> tuple[Any, bool]:
    """The default of a field, and whether it has none."""
    if field.metadata.get("required"):
        return None, True
    # By their type: a class that travels to another process by value has a MISSING of its own.
    missing = type(dataclasses.MISSING)
    factory: Any = field.default_factory
    if not isinstance(factory, missing):
        return factory(), False
    required = isinstance(field.default, missing)
    return None if required else field.default, required


def _meanings(metric: type) -> dict[str, str]:
    """What the "Attributes:" sections of the class and those that it derives from say of fields."""
    meanings: dict[str, str] = {}
    for owner in reversed(metric.__mro__):
        meanings |= _attribute_texts(inspect.cleandoc(owner.__dict__.get("__doc__") or ""))
    return meanings


def _attribute_texts(text: str) -> dict[str, str]:
    _, _, section = text.partition("Attributes:\n")
    section = re.split(r"\n(?=\S)", section)[0]
    entries = re.findall(r"^ {4}(\w+):\s*(.*(?:\n {5,}.*)*)", section, re.MULTILINE)
    return {name: " ".join(meaning.split()) for name, meaning in entries}
