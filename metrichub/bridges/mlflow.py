"""MLflow 3: a hub as scorers of `mlflow.genai.evaluate`, and metrics of `mlflow.models.evaluate`.

mlflow.genai.evaluate(data=rows, scorers=bridges.mlflow.scorers(["bleu", "faithfulness"]))
"""

from __future__ import annotations

import inspect
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from metrichub import Hub, Report
from metrichub.authoring import Metric
from metrichub.bridges._hub_scores import Metrics, hub_of
from metrichub.data.columns import ALIASES, column_of_alias
from metrichub.errors import InputError, MissingDependency, SpecError, what

__all__ = ["make_metric", "scorer", "scorers"]

_EXPECTED = {"expected_response": "references"}
_NEEDED = "metrichub.bridges.mlflow"


def scorers(metrics: Metrics) -> list[Any]:
    """Scorers for `mlflow.genai.evaluate`, which calls them with one sample at a time.

    For a macro metric, MLflow shows the mean of the samples, which is its score: "rouge/mean", and
    "rouge/rouge1/mean" for another output that its card names as headline. Macro metrics share one
    scorer, so that they also share a judge's answers. For other metrics it shows the corpus score
    instead, as "bleu/corpus", and other outputs as "distinct/distinct_1". A sample without a score
    has none in MLflow either.

    The reference is `expected_response`, or `references`, of the expectations; the question is the
    only value of the inputs, or is found by its usual names, like other columns.
    """
    try:
        from mlflow.genai.scorers import scorer as decorate
    except ImportError:
        raise MissingDependency(_NEEDED, "mlflow") from None
    hub = hub_of(metrics)
    means = [metric for metric in hub.metrics if metric.averaging == "macro"]
    needed: list[Any] = []
    if means:
        shared = Hub(means, reduce=hub.reduce)
        name = means[0].name if len(means) == 1 else "metrichub"
        needed.append(decorate(_scored_samples(shared), name=name))
    for metric in hub.metrics:
        if metric not in means:
            alone = _Corpus(Hub(metric, reduce=hub.reduce), metric.name)
            needed.append(
                decorate(alone.sample(), name=metric.name, aggregations=alone.aggregations())
            )
    return needed


def scorer(metrics: Metrics) -> Any:
    """The only scorer of `scorers`, for one metric, or for a hub with macro metrics only.

    mlflow.genai.evaluate(data=rows, scorers=[bridges.mlflow.scorer("bleu"), ...])

    Raises:
        SpecError: the metrics need several scorers, because MLflow asks each for only one corpus
            score.
    """
    needed = scorers(metrics)
    if len(needed) > 1:
        named = ", ".join(each.name for each in needed)
        raise SpecError(
            f"these metrics are {len(needed)} scorers in MLflow ({named}): give them as "
            "scorers=bridges.mlflow.scorers(hub)"
        )
    return needed[0]


def make_metric(metric: str | Metric | Hub) -> Any:
    """A metric for `extra_metrics` of `mlflow.models.evaluate`: the corpus score, "bleu/score".

    Other headline outputs are beside it, as "rouge/rouge1". Rows have sample scores. Columns other
    than predictions and targets are found in the data by name, for example sources.

    Raises:
        SpecError: the hub has several metrics.
    """
    try:
        from mlflow.metrics import MetricValue
        from mlflow.metrics import make_metric as metric_of
    except ImportError:
        raise MissingDependency(_NEEDED, "mlflow") from None
    hub = hub_of(metric)
    if len(hub.metrics) > 1:
        raise SpecError("make_metric takes one metric; call it for each of the hub's")
    (wrapped,) = hub.metrics
    # The names by which MLflow finds the columns.
    names = {column: column for column in hub.needs()} | {"references": "targets"}
    taken = [names[column] for column in hub.needs()]

    def evaluated(*args: Any, **keywords: Any) -> Any:
        values = dict(zip(taken, args, strict=False)) | keywords
        columns = {column: list(values[names[column]]) for column in hub.needs()}
        report = hub.evaluate(columns)
        scores = report.samples()[wrapped.name]["score"].tolist()
        corpus = report[wrapped.name]
        return MetricValue(
            scores=scores, aggregate_results={name: corpus[name] for name in _outputs(wrapped)}
        )

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind) for name in taken]
    # MLflow reads it; mypy knows no such attribute of a function.
    setattr(evaluated, "__signature__", inspect.Signature(parameters))  # noqa: B010
    return metric_of(
        eval_fn=evaluated,
        greater_is_better=wrapped.card.better("score") != "lower",
        name=wrapped.name,
    )


def _scored_samples(hub: Hub) -> Callable[..., list[Any]]:
    """A function from a sample to its feedback, for metrics that are means."""

    def scored(inputs: Any = None, outputs: Any = None, expectations: Any = None) -> list[Any]:
        report = hub.evaluate([_row(inputs, outputs, expectations)])
        return [
            _feedback(report, metric.name, output)
            for metric in hub.metrics
            for output in _outputs(metric)
        ]

    return scored


def _outputs(metric: Metric) -> list[str]:
    """The score, and the other outputs that the card names as headline."""
    return list(dict.fromkeys(("score", *metric.headline())))


class _Corpus:
    """A metric that isn't a mean, and what was measured of the samples of a run."""

    def __init__(self, hub: Hub, name: str) -> None:
        self.hub, self.name = hub, name
        self._corpus: Mapping[str, float] = {}
        self._measured: list[tuple[float | None, Report]] = []
        self._lock = threading.Lock()

    def sample(self) -> Callable[..., Any]:
        """A function from a sample to its feedback; MLflow calls it in several threads."""

        def scored(inputs: Any = None, outputs: Any = None, expectations: Any = None) -> Any:
            report = self.hub.evaluate([_row(inputs, outputs, expectations)], texts=False)
            feedback = _feedback(report, self.name, "score")
            with self._lock:
                self._measured.append((feedback.value, report))
            return feedback

        return scored

    def aggregations(self) -> list[Callable[[Sequence[float]], float]]:
        """Functions of the values of all samples, which MLflow calls at the end of a run."""

        def corpus(values: Sequence[float]) -> float:
            self._corpus = self._scores(values)
            return self._corpus.get("score", math.nan)

        def output(name: str) -> Callable[[Sequence[float]], float]:
            def other(_: Sequence[float]) -> float:
                return self._corpus.get(name, math.nan)

            # MLflow shows its value by this name.
            other.__name__ = name
            return other

        (metric,) = self.hub.metrics
        return [corpus, *map(output, _outputs(metric)[1:])]

    def _scores(self, values: Sequence[float]) -> Mapping[str, float]:
        """The scores of the samples that have these values; none if they can't be told."""
        with self._lock:
            measured, self._measured = self._measured, []
        places = [place for place, (value, _) in enumerate(measured) if value is not None]
        if len(places) > len(values):
            # A run that was broken off before has left its samples.
            measured = measured[places[-len(values)] :]
        if sorted(value for value, _ in measured if value is not None) != sorted(values):
            return {}
        first, *others = (report for _, report in measured)
        return first.merge(*others)[self.name]


def _feedback(report: Report, name: str, output: str) -> Any:
    """One of a sample's scores as MLflow keeps it, with the reason or the judge's words."""
    from mlflow.entities import Feedback

    explained = report.explain(name, 0)
    score = explained.scores[output]
    metadata = {"signature": report.signatures()[name]}
    shown = name if output == "score" else f"{name}/{output}"
    if explained.status == "error":
        return Feedback(name=shown, error=Exception(explained.reason), metadata=metadata)
    value = None if math.isnan(score) else score
    return Feedback(name=shown, value=value, rationale=explained.reason, metadata=metadata)


def _row(inputs: Any, outputs: Any, expectations: Any) -> dict[str, Any]:
    """A sample's columns out of what MLflow has of it."""
    fields: dict[str, Any] = dict(inputs) if isinstance(inputs, Mapping) else {"questions": inputs}
    if len(fields) == 1 and column_of_alias(next(iter(fields))) not in ALIASES:
        fields = {"questions": next(iter(fields.values()))}
    expected: dict[str, Any] = dict(expectations or {})
    expected = {_EXPECTED.get(name, name): value for name, value in expected.items()}
    row = {**fields, **expected, "predictions": _text(outputs)}
    return {name: value for name, value in row.items() if value is not None}


def _text(outputs: Any) -> Any:
    """The generated text: itself, the only value of a mapping, or the message of a chat."""
    if isinstance(outputs, Mapping) and outputs.get("choices"):
        outputs = outputs["choices"][0]["message"]["content"]
    if isinstance(outputs, Mapping):
        named = [v for k, v in outputs.items() if column_of_alias(k) == "predictions"]
        texts = named or list(outputs.values())
        if len(texts) != 1:
            raise InputError(f"outputs are {what(outputs)}; one of its values has to be the text")
        return texts[0]
    return outputs
