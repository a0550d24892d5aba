"""Examples: the samples that a form begins with, out of a metric's card."""

from __future__ import annotations

import ast
import copy
import doctest
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from metrichub.catalog.registry import Entry, spec_of
from metrichub.catalog.spec import Spec
from metrichub.data.columns import column_of
from metrichub.errors import MetrichubError

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
