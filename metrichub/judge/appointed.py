"""Who is asked: a hub's metrics get their judge and embedder here, by choice and never silently."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from metrichub.errors import JudgeUnavailable
from metrichub.judge.metric import JudgeMetric, ModelMetric
from metrichub.metric import Metric
from metrichub.models.resolve import VARIABLES, about, judge_of, unchosen


def appointed(metric: Metric, given: Mapping[str, object]) -> Metric:
    """The metric with the judge and the embedder that it asks; it keeps those that it has.

    The others are those that are given, or else those of the machine.

    Raises:
        JudgeUnavailable: there is none, or the judge can't answer what the metric asks.
    """
    if not isinstance(metric, ModelMetric):
        return metric
    chosen: dict[str, Any] = {
        kind: _chosen(metric, kind, given.get(kind))
        for kind in metric.models()
        if getattr(metric, kind) is None
    }
    found = replace(metric, **chosen) if chosen else metric
    if isinstance(found, JudgeMetric) and "judge" in found.models():
        _check_answers(found)
    return found


def _chosen(metric: Metric, kind: str, given: object) -> object:
    asked = given if given is not None else os.environ.get(VARIABLES[kind])
    if not asked:
        only_models = kind == "judge" and metric.card.judge == "model"
        raise unchosen(metric.name, kind, only_models=only_models)
    return asked


def _check_answers(metric: JudgeMetric) -> None:
    judge = judge_of(metric.judge)
    kind = judge.label.partition("(")[0]
    for question, names in metric.questions().items():
        for name in names:
            if not about(judge).answers(question, metric.prompt(name)):
                raise JudgeUnavailable(
                    f"{metric.name}: the {kind} judge can't {question} ({name}), so a model is "
                    "needed: judge=\"openai(model='…')\", with base_url='http://…' for a "
                    "server of your own"
                )
