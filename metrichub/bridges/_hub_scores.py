"""What every bridge takes and returns: a hub, and the scores of its report by flat keys."""

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
    """The hub that is given, or of the metrics that are."""
    return metrics if isinstance(metrics, Hub) else Hub(metrics)


def check_outputs(outputs: OutputChoice) -> None:
    """Raise `ParameterError` if this isn't a valid choice of outputs."""
    if outputs not in _CHOICES:
        raise ParameterError(None, "outputs", outputs, " or ".join(map(repr, _CHOICES)))


def flat(report: Report, outputs: OutputChoice) -> dict[str, float]:
    """The corpus scores: {"bleu": 0.31, "rouge": 0.35, "rouge_rouge1": 0.42}.

    A metric's name is always the key of its `score`.
    """
    flattened: dict[str, float] = {}
    for name, result in report.results.items():
        scores = result.scores()
        chosen = {"score": (), "headline": result.metric.headline(), "all": tuple(scores)}[outputs]
        flattened[name] = scores["score"]
        flattened |= {f"{name}_{output}": scores[output] for output in chosen if output != "score"}
    return flattened
