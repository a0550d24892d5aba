"""Loading: metrics from their names, specs and functions, and lists of them."""

from __future__ import annotations

import hashlib
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar, Literal, TypeGuard

from metrichub.catalog.card import Card
from metrichub.catalog.frontmatter import Scale
from metrichub.catalog.parameters import make, off_default
from metrichub.catalog.registry import registry, spec_of
from metrichub.errors import BrokenMetric, CardError, MetricError, ParameterError, SpecError, what
from metrichub.metric.base import Metric, arguments_of

MetricLike = str | Metric | Callable[..., Any]
"""A metric in any form: its name or spec, the metric, or a function."""
SOURCE_UNKNOWN = "unknown"
"""Stands in signatures for a function whose source can't be read, or doesn't decide its scores."""


def load_metric(spec: str | Callable[..., Any], /, **parameters: object) -> Metric:
    """The metric that a name or spec describes, with its parameters, or that a function is.

    >>> load_metric("bleu", max_order=2) == load_metric("bleu(max_order=2)")
    True

    A function's parameters name its inputs, and those with a default keep it; it returns the score
    of a sample, a mapping of numbers with a "score", or None. `better="higher"` or "lower" says how
    systems are ranked by it, `range=(0, 1)` what it can be, and `name` what it is called.

    Raises:
        MetricError: the function has no name, or parameters that can't be given by name.
        UnknownMetric: no installed metric has this name.
        ParameterError: a parameter is unknown, or its value isn't allowed.
        BrokenMetric: the installed metric can't be imported, or isn't a metric class.
        CardError: it has no card.
    """
    if is_function(spec):
        return load_function(spec, parameters)
    if not isinstance(spec, str):
        raise SpecError(
            "load_metric takes one name or spec, such as 'bleu(max_order=2)', or a function, "
            f"not {what(spec)}"
        )
    parsed = spec_of(spec)
    entry = registry().find(parsed.metric)
    values = {**parsed.parameters, **parameters}
    if parsed.alias:
        values["name"] = parsed.alias
    loaded = entry.load()
    if not (isinstance(loaded, type) and issubclass(loaded, Metric)):
        raise BrokenMetric(f"{entry.qualified}: {entry.value} isn't a subclass of metrichub.Metric")
    metric: Metric = make(loaded, values, entry.name)
    if not metric.card.path and entry.problem:
        raise CardError(f"{entry.qualified} doesn't score without its card: {entry.problem}")
    return with_extraction(metric)


def with_extraction(metric: Metric, extract: object = None, references: object = None) -> Metric:
    """The metric with its own extractions, or else with these; see `extracting`.

    Raises:
        ParameterError: it isn't a valid extraction, or the metric can't be used with one.
    """
    if metric.extraction is not None:
        extract = metric.extraction
    if metric.reference_extraction is not None:
        references = metric.reference_extraction
    if extract is not None:
        from metrichub.metric.extraction import extracting

        metric = extracting(metric, extract)
    if references is not None:
        from metrichub.metric.reference_extraction import reading_references

        metric = reading_references(metric, references)
    return metric


def needed_by(metric: Metric) -> tuple[str, ...]:
    """The inputs of a metric, and `choices` if an extraction reads them."""
    inputs = metric.inputs()
    labels = [label for label in (metric.extraction, metric.reference_extraction) if label]
    if not labels:
        return inputs
    from metrichub.metric.extraction import extraction

    reads_choices = any(extraction(label).reads_choices for label in labels)
    return (*inputs, "choices") if reads_choices else inputs


def recorded_metrics(columns: Mapping[str, Mapping[str, Any]]) -> list[Metric]:
    """A metric for each column of numbers, with what is known of it, such as which is better."""
    return [
        load_metric("recorded", column=name, extract="none", **facts)
        for name, facts in columns.items()
    ]


def load_metrics(specs: MetricLike | Iterable[MetricLike]) -> tuple[Metric, ...]:
    """The metrics that a name, a spec, a metric, a function or a list of them stands for.

    Raises:
        SpecError: none, no list, or two of one name; and what `load_metric` raises.
        MetricError: this isn't a metric.
    """
    if isinstance(specs, Mapping):
        raise SpecError(
            "metrics must be a name or a list of names, with parameters in parentheses, such as "
            f"metrics=['bleu(max_order=2)', 'rouge'], not {what(specs)}"
        )
    single = isinstance(specs, (str, Metric, type)) or not isinstance(specs, Iterable)
    listed: Sequence[Any] = [specs] if single else list(specs)  # type: ignore[arg-type]  # one or many
    if not listed:
        raise SpecError("the list of metrics is empty; name one, for example metrics='bleu'")
    metrics = tuple(load_metric(m) if isinstance(m, str) or is_function(m) else m for m in listed)
    for metric in metrics:
        if not isinstance(metric, Metric):
            hint = " (an instance is needed: call it)" if isinstance(metric, type) else ""
            raise MetricError(
                f"{metric!r} isn't a metric{hint}; pass a name, a spec, a Metric or a function"
            )
        if not metric.name:
            raise MetricError(
                f"{type(metric).__name__} defines its own __init__; make it a dataclass with its "
                "parameters as fields instead: @dataclass(frozen=True, kw_only=True)"
            )
    names = [metric.name for metric in metrics]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SpecError(
            f"two metrics are called {twice[0]!r}; name one of them: "
            f"'{twice[0]}_2 = {twice[0]}(...)'"
        )
    return metrics


@dataclass(frozen=True, kw_only=True)
class FunctionMetric(Metric):
    """A metric whose `observe` is a function.

    Attributes:
        better: Which scores are better; "neither" ranks no system.
        range: The lowest and the highest score, None where there is no bound.
    """

    better: Literal["higher", "lower", "neither"] = "neither"
    range: tuple[float | None, ...] = (None, None)
    source: ClassVar[str]
    observe: ClassVar[Callable[..., Any]]

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        if len(self.range) != 2:
            raise ParameterError(self.name, "range", self.range, "two bounds, such as (0, 1)")

    @property
    def card(self) -> Card:  # type: ignore[override]  # of each metric, not of the class
        """The first line of the function's docstring, its inputs, and how to read its score."""
        summary = (inspect.getdoc(self.observe) or "").partition("\n")[0]
        low, high = self.range
        scores = {"score": Scale(low, high, self.better)}
        return Card(self.name, self.name, summary, self.inputs(), scores)

    def inputs(self) -> tuple[str, ...]:
        """The function's parameters, but for those that have a default."""
        parameters = arguments_of(type(self), "observe").values()
        return tuple(p.name for p in parameters if p.default is p.empty)

    def check_range(self, scores: Iterable[float]) -> None:
        """Raise `MetricError` unless all scores are in the range: intervals end at its bounds."""
        if self.range == (None, None):
            return
        scale = self.card.scores["score"]
        for score in scores:
            if float(score) not in scale:
                raise MetricError(
                    f"{self.name} returned {score:g}, outside its range {scale.interval}"
                )

    def _values(self) -> dict[str, object]:
        return off_default(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """The function by its name, with the hash of its source where this process read it."""
        return _metric, (self.observe, self.source, {"name": self.name, **self._values()})


def is_function(value: object) -> TypeGuard[Callable[..., Any]]:
    """Whether `load_function` takes it: any function or method, also a partial one or an object."""
    return callable(value) and not isinstance(value, (type, Metric))


def load_function(function: Callable[..., Any], parameters: Mapping[str, object]) -> Metric:
    """The metric that a function is; `parameters` are those of `FunctionMetric`.

    Raises:
        MetricError: the function has no name and none is given, or its inputs have no names.
        ParameterError: a parameter is unknown, or its value isn't allowed.
    """
    written_name = getattr(function, "__name__", "")
    name = str(parameters.get("name") or (written_name if written_name.isidentifier() else ""))
    kind = "a lambda" if written_name else "a partial function"
    if not (written_name or isinstance(function, partial)):
        kind = f"a {type(function).__name__} object"
        # Unlike the object, its method can always be hashed.
        function = type(function).__call__.__get__(function)
    try:
        takes = list(inspect.signature(function).parameters.values())
    except ValueError:
        takes = []
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    if all(p.default is not p.empty for p in takes) or {p.kind for p in takes} - {*named}:
        raise MetricError(
            f"the parameters of {name or kind} don't name its inputs; write for example "
            f"def {name or 'score'}(prediction, reference), without *, ** and /"
        )
    if not name:
        raise MetricError(
            f"{kind} has no name for its scores; give it one, "
            "load_metric(function, name='my_metric'), or define it with def"
        )
    return _metric(function, _source(function), {**parameters, "name": name})


def _metric(function: Callable[..., Any], source: str, parameters: Mapping[str, object]) -> Metric:
    metric: Metric = make(_class_of(function, source), parameters, str(parameters["name"]))
    return metric


@cache
def _class_of(function: Callable[..., Any], source: str) -> type[FunctionMetric]:
    """The class of a function's metrics, the same one each time, as metrics equal by class."""
    module = getattr(function, "__module__", None) or "builtins"
    members = {"observe": staticmethod(function), "source": source, "__module__": module}
    return type(getattr(function, "__name__", "partial"), (FunctionMetric,), members)


@cache
def _source(function: Callable[..., Any]) -> str:
    """The first 8 hexadecimal digits of a SHA-256 of the source of a function.

    Unknown for anything but a plain function: what else decides the scores isn't in the source of
    a closure, a method or a partial function, and the line of a lambda may hold another one.
    """
    plain = inspect.isfunction(function) and function.__name__.isidentifier()
    if not plain or function.__closure__ or hasattr(function, "__wrapped__"):
        return SOURCE_UNKNOWN
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return SOURCE_UNKNOWN
    return hashlib.sha256(text.encode()).hexdigest()[:8]
