"""The hub that a bridge takes, and the scores of its report by flat keys."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from metrichub import Hub, Report
from metrichub.authoring import Metric
from metrichub.errors import ParameterError

Metrics: TypeAlias = Hub | Metric | str | Iterable[str | Metric]
"""A hub, or what makes one: a metric, its name, its spec, or a list of these."""
OutputChoice = Literal["score", "headline", "all"]
"""Which outputs of each metric are handed on: one, those that its card names, or all."""
_CHOICES = ("score", "headline", "all")


def hub_of(metrics: Metrics) -> Hub:
    """The hub itself, or a hub of the metrics."""
    return metrics if isinstance(metrics, Hub) else Hub(metrics)


def check_outputs(outputs: OutputChoice) -> None:
    """Raise `ParameterError` if this isn't a valid choice of outputs."""
    if outputs not in _CHOICES:
        raise ParameterError(None, "outputs", outputs, " or ".join(map(repr, _CHOICES)))


def keys_of(metric: Metric, outputs: OutputChoice, every: Iterable[str]) -> dict[str, str]:
    """The chosen of a metric's outputs by key: {"rouge": "score", "rouge_rouge1": "rouge1"}."""
    chosen = {"score": (), "headline": metric.headline(), "all": every}[outputs]
    others = {f"{metric.name}_{output}": output for output in chosen if output != "score"}
    return {metric.name: "score"} | others


def flat(report: Report, outputs: OutputChoice) -> dict[str, float]:
    """The corpus scores: {"bleu": 0.31, "rouge": 0.35, "rouge_rouge1": 0.42}.

    A metric's name is always the key of its `score`.
    """
    flattened: dict[str, float] = {}
    for result in report.results.values():
        scores = result.scores()
        keys = keys_of(result.metric, outputs, scores)
        flattened |= {key: scores[output] for key, output in keys.items()}
    return flattened
