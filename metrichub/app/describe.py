"""What a form needs to know of a metric: its columns, its parameters as fields, an example.

Made in a worker process, as it imports the metric's code.
"""

from __future__ import annotations

import dataclasses
import types
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from metrichub.app.example import Example, example_of
from metrichub.app.policy import closed, kinds_of, unavailable
from metrichub.app.refusal import Refusal
from metrichub.app.settings import Judging
from metrichub.columns import column_of, is_plural
from metrichub.errors import MetrichubError
from metrichub.parameters import Parameter, Range, parameters_of
from metrichub.registry import Entry, registry

Kind = Literal["switch", "choice", "choices", "number", "numbers", "text", "texts", "json", "none"]
_NOTHING = type(None)


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
        fields = tuple(map(_Reader(entry.load()).field, parameters_of(entry.load())))
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


class _Reader:
    """Reads the fields of a metric class."""

    def __init__(self, metric: type) -> None:
        self.metric = metric
        self.hints = get_type_hints(metric, include_extras=True)
        self.defaults = {field.name: _default(field) for field in dataclasses.fields(metric)}

    def field(self, parameter: Parameter) -> Field:
        """A parameter as a field of a form."""
        name, default = parameter.name, self.defaults[parameter.name]
        given = (name, str(parameter.values), default, parameter.meaning)
        if reason := closed(self.metric, parameter):
            shown = default if isinstance(default, (str, int, float, tuple, _NOTHING)) else "…"
            return Field(name, str(parameter.values), shown, parameter.meaning, "none", reason)
        hints = _alternatives(self.hints[name])
        optional = _NOTHING in hints
        hints = [hint for hint in hints if hint is not _NOTHING]
        if kinds_of(self.metric, name) & {dict}:
            return Field(*given, "json", optional=optional)
        if all(get_origin(hint) is Literal for hint in hints):
            choices = tuple(value for hint in hints for value in get_args(hint))
            return Field(*given, "choice", choices=choices, optional=optional)
        return self._plain(given, hints[0], optional)

    def _plain(self, given: tuple[str, str, Any, str], hint: Any, optional: bool) -> Field:
        if get_origin(hint) is tuple:
            inner = get_args(hint)[0]
            if get_origin(inner) is Literal:
                return Field(*given, "choices", choices=get_args(inner))
            one = self._plain(given, inner, False)
            kind: Kind = "numbers" if one.kind == "number" else "texts"
            return dataclasses.replace(one, kind=kind)
        if hint is bool:
            return Field(*given, "switch")
        if hint is str:
            return Field(*given, "text", optional=optional)
        bounds = Range()
        if get_origin(hint) is Annotated:
            hint, *extras = get_args(hint)
            bounds = next((extra for extra in extras if isinstance(extra, Range)), bounds)
        return Field(
            *given, "number", None, (), bounds.low, bounds.high, hint is int, optional=optional
        )


def _alternatives(hint: Any) -> list[Any]:
    """The members of a union; a hint that is none stands alone."""
    found = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    return list(found)


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default
