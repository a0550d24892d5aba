"""From a spec to the judge or embedder that it stands for; equal ones are one and the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from typing import Any, Literal, NamedTuple

from metrichub.catalog.parameters import choices_of, example_call, make
from metrichub.catalog.registry import Registry
from metrichub.catalog.spec import Spec
from metrichub.errors import JudgeUnavailable, MetrichubError, SpecError, UnknownMetric
from metrichub.models.usage import batch_of_run

JUDGES, EMBEDDERS = "metrichub.judges", "metrichub.embedders"
VARIABLES = {"judge": "METRICHUB_JUDGE", "embedder": "METRICHUB_EMBEDDER"}
"""The environment variables that name the judge and the embedder of hubs without one."""
_BASELINES = {
    "judge": "a word-matching baseline, to try things out",
    "embedder": "hashed n-grams, a baseline to try things out",
}
_ROWS_A_CALL = 4
"""How many rows wait for each call that a judge makes at the same time."""
VoteRule = Literal["majority", "mean"]
"""How the votes of several judges decide."""
VOTE_RULES: tuple[VoteRule, ...] = choices_of(VoteRule)


def judge_of(judge: Any) -> Any:
    """The judge of a spec such as "openai(model='…')", or the panel of a list of them.

    A judge stands for itself.

    Raises:
        UnknownMetric: no installed judge has this name.
        SpecError, ParameterError: the spec can't be parsed, or a parameter is wrong.
    """
    if isinstance(judge, (list, tuple)):
        return make(_installed(JUDGES, "judge").find("panel").load(), {"judges": [*judge]}, "panel")
    return _service_of(judge, JUDGES, "judge") if isinstance(judge, str) else judge


def embedder_of(embedder: Any) -> Any:
    """The embedder of a spec; an embedder stands for itself. Raises as `judge_of`."""
    return _service_of(embedder, EMBEDDERS, "embedder") if isinstance(embedder, str) else embedder


RESOLVERS: Mapping[str, Callable[[Any], Any]] = {"judge": judge_of, "embedder": embedder_of}
"""The functions from a spec to a judge or an embedder."""


def safe_to_show(spec: Any, resolve: Callable[[Any], Any]) -> Any:
    """A judge or an embedder as a metric keeps it: the object in place of a spec with secrets.

    An object shows its secrets nowhere; a spec is text.
    """
    service = resolve(spec) if isinstance(spec, str) else spec
    return service if getattr(service, "has_secrets", False) else spec


class ServiceInfo(NamedTuple):
    """Facts about a judge or an embedder; the defaults are those of a model.

    Attributes:
        is_model: Whether it is a model.
        note: A note for readers of its scores.
        answers: Whether a judge can answer a question ("grade") by a prompt.
    """

    is_model: bool = True
    note: str | None = None
    answers: Callable[[Any, Any], bool] = lambda question, prompt: True


def about(service: object) -> ServiceInfo:
    """The facts that a judge or an embedder gives about itself, or else the defaults."""
    described = {
        name: getattr(service, name) for name in ServiceInfo._fields if hasattr(service, name)
    }
    return ServiceInfo(**described)


def rows_at_once(metric: Any) -> int | None:
    """How many rows a metric measures at the same time, enough to keep its judges busy.

    None is all: an embedder waits for the texts of all rows, a batch for their requests, and some
    judges set no limit.
    """
    if batch_of_run() or not hasattr(metric, "models") or hasattr(metric, "embedder"):
        return None
    judge = judge_of(metric.judge)
    limits = [getattr(member, "concurrency", None) for member in getattr(judge, "members", [judge])]
    calls = [limit for limit in limits if isinstance(limit, int)]
    return _ROWS_A_CALL * max(calls) if len(calls) == len(limits) else None


def unset_error(metric: str, kind: str, *, only_models: bool = False) -> JudgeUnavailable:
    """The error of a metric without the judge or embedder that it needs, with ways to set one.

    With `only_models`, neither baselines nor services of plugins are named.
    """
    ways = ["\"openai(model='…')\" (a model)"]
    if not only_models:
        ways += [*_of_plugins(kind), f'"offline" ({_BASELINES[kind]})']
    article = "an" if kind == "embedder" else "a"
    error = JudgeUnavailable(f"{metric} needs {article} {kind}, and none is set")
    way = f"{' or '.join(ways)}, or set {VARIABLES[kind]} for this machine"
    return error.with_remedy("set_service", kind, way)


def _of_plugins(kind: str) -> list[str]:
    """How the judges or embedders of plugins are written."""
    ways = []
    for entry in _installed(JUDGES if kind == "judge" else EMBEDDERS, kind).entries:
        if entry.distribution != "metrichub":
            with suppress(MetrichubError):
                ways.append(f'"{example_call(entry.load(), entry.name)}" (installed)')
    return ways


def _service_of(text: str, group: str, kind: str) -> Any:
    if re.search(r"key\s*=", text, re.IGNORECASE):
        raise SpecError(
            f"the spec of a {kind} can't hold a key, because every report shows it; "
            "set OPENAI_API_KEY instead"
        )
    try:
        parsed = Spec.parse(text)
    except SpecError as error:
        if "@" in text or "headers" in text:
            raise SpecError(
                f"this isn't a valid {kind}; is a bracket or a quote missing?"
            ) from None
        named = re.fullmatch(r"(?:openai\(\s*(?:model\s*=)?|openai:)?\s*([\w.:/-]+)\s*\)?", text)
        model = named[1] if named else "…"
        if "://" in model:
            model = f"…', base_url='{model}"
        ways = ["offline", *_of_plugins(kind), f"\"openai(model='{model}')\""]
        raise SpecError(f"{text!r} isn't a valid {kind}; write {', or '.join(ways)}") from error
    try:
        entry = _installed(group, kind).find(parsed.metric)
    except UnknownMetric as error:
        way = f"; for a model write \"openai(model='{parsed.metric}')\""
        raise UnknownMetric(f"{error}{'' if parsed.parameters else way}") from None
    return make(entry.load(), parsed.parameters, entry.name)


@cache
def _installed(group: str, kind: str) -> Registry:
    return Registry.installed(group, kind)
