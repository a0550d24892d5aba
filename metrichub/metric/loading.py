"""Loading: metrics from their names, specs and lists of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from metrichub.catalog.parameters import make
from metrichub.catalog.registry import registry, spec_of
from metrichub.errors import BrokenMetric, MetricError, SpecError, what
from metrichub.metric.base import Metric
from metrichub.metric.function import is_function, load_function

MetricLike = str | Metric | Callable[..., Any]
"""What stands for a metric: its name or spec, the metric, or a function."""


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
    """
    if is_function(spec):
        return load_function(spec, parameters)
    if not isinstance(spec, str):
        raise SpecError(
            "load_metric takes one name or spec, such as 'bleu(max_order=2)', or a function, and "
            f"not {what(spec)}"
        )
    parsed = spec_of(spec)
    entry = registry().find(parsed.metric)
    given = {**parsed.parameters, **parameters}
    if parsed.alias:
        given["name"] = parsed.alias
    found = entry.load()
    if not (isinstance(found, type) and issubclass(found, Metric)):
        raise BrokenMetric(f"{entry.qualified}: {entry.value} isn't a subclass of metrichub.Metric")
    metric: Metric = make(found, given, entry.name)
    return metric


def load_metrics(given: MetricLike | Iterable[MetricLike]) -> tuple[Metric, ...]:
    """The metrics that a name, a spec, a metric, a function or a list of them stands for.

    Raises:
        SpecError: none, no list, or two of one name; and what `load_metric` raises.
        MetricError: this isn't a metric.
    """
    if isinstance(given, Mapping):
        raise SpecError(
            "metrics are a name or a list of names, with parameters in the name, such as "
            f"metrics=['bleu(max_order=2)', 'rouge'], and not {what(given)}"
        )
    one = isinstance(given, (str, Metric, type)) or not isinstance(given, Iterable)
    listed: Sequence[Any] = [given] if one else list(given)  # type: ignore[arg-type]  # one or many
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
                f"{type(metric).__name__} has an __init__ of its own, which a dataclass writes "
                "better: @dataclass(frozen=True, kw_only=True), and its parameters as fields"
            )
    names = [metric.name for metric in metrics]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SpecError(
            f"two metrics are called {twice[0]!r}; name one of them: "
            f"'{twice[0]}_2 = {twice[0]}(...)'"
        )
    return metrics
