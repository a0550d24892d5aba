"""A function as a metric: its parameters name the inputs, as those of `observe` do."""

from __future__ import annotations

import hashlib
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar, Literal, TypeGuard

from metrichub.catalog.card import Card
from metrichub.catalog.frontmatter import Scale
from metrichub.catalog.parameters import make, off_default
from metrichub.errors import MetricError, ParameterError
from metrichub.metric.base import Metric, arguments_of

SOURCE_UNKNOWN = "unknown"
"""What signatures say of a function whose source can't be read, or doesn't decide its scores."""


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
        found = arguments_of(type(self), "observe").values()
        return tuple(one.name for one in found if one.default is one.empty)

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


def is_function(given: object) -> TypeGuard[Callable[..., Any]]:
    """Whether `load_function` takes it: any function or method, also a partial one."""
    return inspect.isroutine(given) or isinstance(given, partial)


def load_function(function: Callable[..., Any], parameters: Mapping[str, object]) -> Metric:
    """The metric that a function is; `parameters` are those of `FunctionMetric`.

    Raises:
        MetricError: the function has no name and none is given, or its inputs have no names.
        ParameterError: a parameter is unknown, or its value isn't allowed.
    """
    own = getattr(function, "__name__", "")
    name = str(parameters.get("name") or (own if own.isidentifier() else ""))
    if not name:
        raise MetricError(
            f"{'a lambda' if own else 'a partial function'} has no name for its scores; give it "
            "one, load_metric(function, name='my_metric'), or define it with def"
        )
    try:
        takes = list(inspect.signature(function).parameters.values())
    except ValueError:
        takes = []
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    if all(one.default is not one.empty for one in takes) or {t.kind for t in takes} - {*named}:
        raise MetricError(
            f"the parameters of {name} don't name its inputs; write for example "
            f"def {name}(prediction, reference), without *, ** and /"
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
