"""Assigns judges and embedders to the metrics of a hub, by choice and never silently."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import iscoroutinefunction, unwrap
from itertools import product
from typing import Any

from metrichub.errors import JudgeUnavailable, ParameterError, SpecError, UnknownMetric
from metrichub.judge.metric import JudgeMetric
from metrichub.judge.model_metric import ModelMetric
from metrichub.judge.panel import ASK_AGAIN, Panel
from metrichub.metric import Metric
from metrichub.models.resolve import RESOLVERS, VARIABLES, VOTE_RULES, about, judge_of, unset_error

_NO_PROMPTS = (
    "none here: it is the language of judges' prompts, and no metric of this hub uses a judge; "
    "write the metric's parameters into its spec"
)


def assigned(metrics: Sequence[Metric], settings: Mapping[str, object]) -> list[Metric]:
    """The metrics with the judges and the embedders that they ask; they keep those that they have.

    The others are those of the settings, or else those of the machine; a list of judges is a panel
    with the vote of the settings. Their language is that of prompts whose metric names none.

    Raises:
        JudgeUnavailable: there is none, or the judge can't answer what a metric asks.
        ParameterError: there is no such vote, or a metric has no prompts in this language.
    """
    vote, language = settings["vote"], settings["language"]
    if vote is not None and vote not in VOTE_RULES:
        raise ParameterError(None, "vote", vote, " or ".join(map(repr, VOTE_RULES)))
    if language is not None and not any(hasattr(metric, "prompts") for metric in metrics):
        raise ParameterError(None, "language", language, _NO_PROMPTS)
    return [_assigned(metric, settings) for metric in metrics]


def _assigned(metric: Metric, settings: Mapping[str, object]) -> Metric:
    if not isinstance(metric, ModelMetric):
        return metric
    chosen: dict[str, Any] = {
        kind: _chosen(metric, kind, settings)
        for kind in metric.models()
        if getattr(metric, kind) is None
    }
    metric = replace(metric, **chosen) if chosen else metric
    if not isinstance(metric, JudgeMetric):
        return metric
    language: Any = settings.get("language")
    if language is not None and metric.language is None:
        metric = _in_language(metric, language)
    if "judge" in metric.models():
        by_machine = "judge" in chosen and settings.get("judge") is None
        _check_answers(metric, f" ({VARIABLES['judge']})" if by_machine else "")
    return metric


def _chosen(metric: Metric, kind: str, settings: Mapping[str, Any]) -> object:
    service, vote = settings.get(kind), settings.get("vote")
    if service is None:
        service = _of_machine(kind)
    if not service:
        only_models = kind == "judge" and metric.card.judge == "model"
        raise unset_error(metric.name, kind, only_models=only_models)
    if kind == "embedder":
        return service
    if isinstance(service, (list, tuple)):
        return Panel(judges=tuple(service), vote=vote or "majority")
    if vote is not None:
        judge = judge_of(service)
        allowed = (
            f"none, or set it in the panel: {judge.label} has its own"
            if isinstance(judge, Panel)
            else f"it with several judges, judge=[…, …]; {ASK_AGAIN}"
        )
        raise ParameterError(None, "vote", vote, allowed)
    return service


def _in_language(metric: JudgeMetric, language: Any) -> JudgeMetric:
    """The metric with prompts in a hub's language.

    Raises:
        ParameterError: it has none.
    """
    try:
        return replace(metric, language=language)
    except ParameterError as error:
        if not isinstance(language, str):
            raise
        keep = f"{error.allowed}; or set it only for this metric: {metric.name}(language='en')"
        raise ParameterError(metric.name, "language", language, keep) from None


def _of_machine(kind: str) -> str | None:
    """The spec in the environment, if there is one.

    Raises:
        SpecError: it isn't valid; the text names the variable.
    """
    spec = os.environ.get(VARIABLES[kind]) or None
    try:
        RESOLVERS[kind](spec)
    except (SpecError, ParameterError, UnknownMetric) as error:
        raise SpecError(f"the environment variable {VARIABLES[kind]}: {error}") from error
    return spec


def _check_answers(metric: JudgeMetric, source: str) -> None:
    judge = judge_of(metric.judge)
    for question, names in metric.questions().items():
        judges = judge.members_for(question) if isinstance(judge, Panel) else (judge,)
        for member, name in product(judges, names):
            if not iscoroutinefunction(unwrap(getattr(member, question))):
                raise ParameterError(
                    None, "judge", member.label, f"a judge with 'async def {question}'"
                )
            if not about(member).answers(question, metric.prompt(name)):
                kind = member.label.partition("(")[0]
                error = JudgeUnavailable(
                    f"{metric.name}: the {kind} judge{source} can't answer the prompt {name!r}, "
                    "which needs a model"
                )
                way = "\"openai(model='…')\", with base_url='http://…' for your own server"
                raise error.with_remedy("set_service", "judge", way)
