"""What a form needs to know of a metric: its columns, its parameters as fields, an example.

Made in a worker process, as it imports the metric's code.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import doctest
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from metrichub import Entry
from metrichub.app.policy import closed, open_values, unavailable
from metrichub.app.problem import Refusal
from metrichub.app.settings import Judging
from metrichub.authoring import Spec
from metrichub.catalog.kinds import Boolean, Integer, Number, OneOf, SequenceOf, Text, Values
from metrichub.catalog.parameters import Parameter, parameters_of
from metrichub.catalog.registry import registry, spec_of
from metrichub.data.columns import column_of, is_plural
from metrichub.errors import MetrichubError

Kind = Literal["switch", "choice", "choices", "number", "numbers", "text", "texts", "json", "none"]
_SEVERAL: Mapping[Kind, Kind] = {"number": "numbers", "text": "texts", "choice": "choices"}
_MOST_SAMPLES, _MOST_CHARACTERS = 6, 6000
TEXTS: Mapping[str, Sequence[Any]] = {
    "predictions": (
        "The bridge over the river was opened in 1932. It is made of steel.",
        "The market sells fish on Mondays.",
    ),
    "references": (
        "The steel bridge across the river opened in 1932.",
        "On Mondays there is fish at the market.",
    ),
    "sources": (
        "After four years of building, the steel bridge across the river was opened in 1932.",
        "The town has a market. On Mondays it sells fish, on Fridays flowers.",
    ),
    "questions": ("When was the bridge opened?", "What does the market sell on Mondays?"),
    "contexts": (
        ["The bridge across the river opened in 1932.", "It is made of steel."],
        ["The town has a market, which sells fish on Mondays."],
    ),
}
"""What a form begins with where a card has no example of its own."""


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
        _blank_field(free),
        name=name,
        values=str(values),
        default=default,
        meaning=parameter.meaning,
        optional=free.optional,
        required=parameter.required,
    )


def _blank_field(values: Values) -> Field:
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
            item = _blank_field(items)
            return dataclasses.replace(item, kind=_SEVERAL.get(item.kind, "json"))
    listed = [kind for kind in values.kinds if isinstance(kind, OneOf)]
    if len(listed) < len(values.kinds):
        return blank
    choices = tuple(choice for kind in listed for choice in kind.choices)
    return dataclasses.replace(blank, kind="choice", choices=choices)


@dataclass(frozen=True)
class Example:
    """Samples as columns, and parameters off their defaults.

    `source` says where they are from: the card's "example", its "samples", or "here".
    """

    columns: Mapping[str, Sequence[Any]]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    source: str = "here"


def example_of(entry: Entry, parameters: Collection[str]) -> Example:
    """The first example of the card that gives its columns in plain sight, or else other samples.

    One that leaves all parameters alone goes before others; none sets any beyond those named.
    """
    columns = list(dict.fromkeys(map(column_of, entry.card.inputs)))
    usable = [
        example
        for code in entry.card.examples
        for example in _examples(code, entry.card.name, columns)
        if set(example.parameters) <= set(parameters) and _is_small(example)
    ]
    if usable:
        return min(usable, key=lambda example: bool(example.parameters))
    if own := _samples(entry, columns):
        return Example(own, source="samples")
    return Example({column: TEXTS.get(column, TEXTS["predictions"]) for column in columns})


def _is_small(example: Example) -> bool:
    characters = sum(len(str(value)) for values in example.columns.values() for value in values)
    samples = max(map(len, example.columns.values()))
    return samples <= _MOST_SAMPLES and characters <= _MOST_CHARACTERS


def _samples(entry: Entry, columns: Sequence[str]) -> Mapping[str, Sequence[Any]] | None:
    """The first two samples beside the card, if they have all columns."""
    try:
        with (entry.folder / "samples.jsonl").open(encoding="utf-8") as lines:
            rows = [json.loads(line) for line, _ in zip(lines, range(2), strict=False)]
        return {column: [row[column] for row in rows] for column in columns} if rows else None
    except (OSError, ValueError, LookupError, TypeError, MetrichubError):
        return None


def _examples(code: str, name: str, columns: Sequence[str]) -> Iterator[Example]:
    """The calls in a doctest that score literal columns, read without running anything."""
    values = _Values(name)
    try:
        steps = doctest.DocTestParser().get_examples(code)
        trees = [ast.parse(step.source) for step in steps]
    except (SyntaxError, ValueError):
        return
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (example := values.scored(node, columns)):
                yield example
        values.learn(tree)


class _Unknown(Exception):
    """A value that isn't in plain sight."""


class _Named(ast.NodeTransformer):
    """Puts values where their names stand."""

    def __init__(self, names: Mapping[str, ast.expr]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """The value of a name, which may hold no names itself."""
        return self.names.get(node.id, node)


class _Values:
    """The literals that a doctest has given names to, and the metrics of its hubs."""

    def __init__(self, metric: str) -> None:
        self.metric = metric
        self.names: dict[str, ast.expr] = {}

    def learn(self, tree: ast.Module) -> None:
        """Remember what names are given to."""
        for node in tree.body:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self.names[target.id] = node.value

    def scored(self, call: ast.Call, columns: Sequence[str]) -> Example | None:
        """The example that a call of a hub is, if all columns are literals."""
        try:
            arguments: dict[str, Any] = {}
            for keyword in call.keywords:
                value = self._literal(keyword.value)
                arguments |= value if keyword.arg is None else {keyword.arg: value}
            if not all(isinstance(arguments.get(column), (list, tuple)) for column in columns):
                return None
            parameters = self._parameters(call.func)
        except (_Unknown, TypeError, MetrichubError):
            return None
        samples = {column: list(arguments[column]) for column in columns}
        return Example(samples, parameters, "example") if all(samples.values()) else None

    def _literal(self, node: ast.expr) -> Any:
        try:
            return ast.literal_eval(_Named(self.names).visit(copy.deepcopy(node)))
        except (ValueError, TypeError, SyntaxError, RecursionError):
            raise _Unknown from None

    def _parameters(self, node: ast.expr) -> Mapping[str, Any]:
        """The parameters of the metric that a hub, or its `evaluate`, has."""
        if isinstance(node, ast.Attribute) and node.attr == "evaluate":
            node = node.value
        node = self._named(node)
        if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "Hub":
            raise _Unknown
        metrics = [*node.args, *(k.value for k in node.keywords if k.arg == "metrics")]
        metric = self._named(metrics[0]) if metrics else None
        if isinstance(metric, (ast.List, ast.Tuple)) and metric.elts:
            metric = self._named(metric.elts[0])
        if isinstance(metric, ast.Call) and getattr(metric.func, "id", "") == "load_metric":
            return self._loaded(metric)
        if isinstance(metric, ast.Constant) and isinstance(metric.value, str):
            return self._spec(metric.value).parameters
        raise _Unknown

    def _loaded(self, call: ast.Call) -> Mapping[str, Any]:
        spec = self._spec(self._literal(call.args[0]) if call.args else "")
        parameters = dict(spec.parameters)
        for keyword in call.keywords:
            # A judge of the example's own isn't the client's to choose, its texts are.
            if keyword.arg not in (None, "judge", "embedder", "name"):
                parameters[str(keyword.arg)] = self._literal(keyword.value)
        return parameters

    def _spec(self, text: str) -> Spec:
        spec = spec_of(text)
        if spec.metric.rpartition("/")[2] != self.metric:
            raise _Unknown
        return spec

    def _named(self, node: ast.expr) -> ast.expr:
        return self.names.get(node.id, node) if isinstance(node, ast.Name) else node
