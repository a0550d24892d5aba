"""What a form needs to know of a metric: its columns, its parameters as fields, an example.

Made in a worker process, as it imports the metric's code.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from metrichub.app.example import Example, example_of
from metrichub.app.policy import closed, open_values, unavailable
from metrichub.app.problem import Refusal
from metrichub.app.settings import Judging
from metrichub.catalog.kinds import Boolean, Integer, Number, OneOf, SequenceOf, Text, Values
from metrichub.catalog.parameters import Parameter, parameters_of
from metrichub.catalog.registry import Entry, registry
from metrichub.data.columns import column_of, is_plural
from metrichub.errors import MetrichubError

Kind = Literal["switch", "choice", "choices", "number", "numbers", "text", "texts", "json", "none"]
_SEVERAL: Mapping[Kind, Kind] = {"number": "numbers", "text": "texts", "choice": "choices"}


@dataclass(frozen=True)
class Input:
    """A column that a metric reads, and whether it sees all texts of a sample at once."""

    column: str
    several: bool


@dataclass(frozen=True)
class Field:
    """A parameter as a form shows it.

    Attributes:
        name: Its name.
        values: The values that it takes, in words.
        default: The default.
        meaning: What it does.
        kind: What it is filled in with; "none" where it isn't the client's.
        closed: Why it isn't the client's, or None.
        choices: The values to choose from.
        low: The smallest number.
        high: The largest number.
        whole: Whether numbers are whole.
        optional: Whether it may be None.
        required: Whether it has no default.
    """

    name: str
    values: str
    default: Any
    meaning: str
    kind: Kind
    closed: str | None = None
    choices: tuple[Any, ...] = ()
    low: float | None = None
    high: float | None = None
    whole: bool = False
    optional: bool = False
    required: bool = False


@dataclass(frozen=True)
class Description:
    """A metric as its page shows it.

    Attributes:
        inputs: The columns that it reads.
        fields: Its parameters.
        example: Samples and parameters that a form begins with.
        unavailable: Why it can't be run here, or None.
    """

    inputs: tuple[Input, ...]
    fields: tuple[Field, ...]
    example: Example
    unavailable: str | None


def describe(name: str, judging: Judging) -> Description | Refusal:
    """The description of a metric, or why there is none."""
    try:
        entry = registry().find(name)
        metric = entry.load()
        fields = tuple(field_of(metric, parameter) for parameter in parameters_of(metric))
        open_names = {field.name for field in fields if not field.closed}
        return Description(
            _inputs(entry), fields, example_of(entry, open_names), unavailable(entry, judging)
        )
    except MetrichubError as error:
        return Refusal.of(error)


def _inputs(entry: Entry) -> tuple[Input, ...]:
    several: dict[str, bool] = {}
    for name in entry.card.inputs:
        column = column_of(name)
        several[column] = several.get(column, False) or is_plural(name)
    return tuple(Input(*pair) for pair in several.items())


def field_of(metric: type, parameter: Parameter) -> Field:
    """A parameter as a field of a form."""
    name, values, default = parameter.name, parameter.values, parameter.default
    if reason := closed(metric, parameter):
        is_plain = default is None or isinstance(default, (str, int, float, tuple))
        shown = default if is_plain and not parameter.secret else "…"
        return Field(name, str(values), shown, parameter.meaning, "none", reason)
    free = open_values(values)
    return dataclasses.replace(
        _field_for(free),
        name=name,
        values=str(values),
        default=default,
        meaning=parameter.meaning,
        optional=free.optional,
        required=parameter.required,
    )


def _field_for(values: Values) -> Field:
    """A field without a name yet, of the kind that fits the values; JSON where none does."""
    blank = Field("", "", None, "", "json")
    match values.kinds:
        case (Boolean(),) if not values.optional:
            return dataclasses.replace(blank, kind="switch")
        case (Boolean(),):
            return dataclasses.replace(blank, kind="choice", choices=(True, False))
        case (Text(),):
            return dataclasses.replace(blank, kind="text")
        case (Integer(bounds) | Number(bounds) as number,):
            whole = isinstance(number, Integer)
            return dataclasses.replace(
                blank, kind="number", low=bounds.low, high=bounds.high, whole=whole
            )
        case (SequenceOf(items),) if not items.optional:
            item = _field_for(items)
            return dataclasses.replace(item, kind=_SEVERAL.get(item.kind, "json"))
    listed = [kind for kind in values.kinds if isinstance(kind, OneOf)]
    if len(listed) < len(values.kinds):
        return blank
    choices = tuple(choice for kind in listed for choice in kind.choices)
    return dataclasses.replace(blank, kind="choice", choices=choices)
