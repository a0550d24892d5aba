"""The parameters of a metric that clients may choose: never who judges, nor a file.

Whoever can call the server must not make it read files, ask other servers or spend a key.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, ClassVar

from metrichub import Entry, load_metric
from metrichub.app.settings import Judging
from metrichub.authoring import Address, Embedder, Judge, LocalPath, Metric, Secret
from metrichub.catalog.parameters import (
    Mark,
    Parameter,
    described_values,
    is_valid,
    marks_of,
    members,
    object_types,
    parameters_of,
    type_of,
)
from metrichub.catalog.registry import registry, spec_of
from metrichub.errors import InputError, MetrichubError, MissingModel, ParameterError

_SERVERS_CHOICE = "the person who starts the server chooses it"
_NO_PLAIN_VALUES = "its values aren't text, numbers or choices"
_REASONS: Mapping[type[Mark], str] = {
    LocalPath: "it names a file or folder of the server's machine",
    Secret: "it is a secret",
    Address: _SERVERS_CHOICE,
}
_SERVER_MODELS: Mapping[Any, str] = {Judge: "judge", Embedder: "embedder"}
_LONGEST_SPEC, _LONGEST_NAME = 4000, 100


class Forbidden(ParameterError):
    """A parameter that only the person who starts the server may set."""

    def __init__(self, metric: str, parameter: str, reason: str) -> None:
        MetrichubError.__init__(self, f"{metric}: {parameter} can't be set from here: {reason}")
        self.metric, self.parameter = metric, parameter


class NoModel(InputError):
    """A metric that asks a model, a judge or an embedder, on a server that has none."""


@dataclass(frozen=True)
class RequestedMetric:
    """A metric as a client asks for it: a name or a spec, more parameters, the key of its scores.

    Attributes:
        metric: A name or a spec.
        parameters: Parameters beside those in the spec.
        name: The key that its scores stand under.
    """

    # As part of a request it has no other keys.
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    metric: str
    parameters: dict[str, Any] = field(default_factory=dict)
    name: str | None = None


def metric_of(requested: RequestedMetric, judging: Judging, *, saved: bool = False) -> Metric:
    """The metric that a client asks for, with the server's judge.

    That of a saved report may name a judge; it gets this one, which isn't asked again.

    Raises:
        MetrichubError: it can't be made; `Forbidden` for a parameter that isn't the client's.
    """
    if len(requested.metric) > _LONGEST_SPEC:
        raise InputError(f"a metric's spec may have at most {_LONGEST_SPEC} characters")
    spec = spec_of(requested.metric)
    entry = registry().find(spec.metric)
    if lacking := entry.lacking:
        raise lacking
    if not saved and (problem := unavailable(entry, judging)):
        raise NoModel(problem)
    kind = entry.load()
    parameters = {**spec.parameters, **requested.parameters}
    models = _server_models(kind, judging)
    if saved:
        parameters = {name: value for name, value in parameters.items() if name not in models}
    name = requested.name or spec.alias or parameters.pop("name", entry.name)
    for parameter in parameters_of(kind):
        if parameter.name in parameters:
            _check_allowed(entry.name, kind, parameter, parameters[parameter.name])
    if not isinstance(name, str) or len(name) > _LONGEST_NAME:
        raise ParameterError(
            entry.name, "name", name, f"a text of up to {_LONGEST_NAME} characters"
        )
    everything: dict[str, Any] = {**parameters, **models, "name": name}
    metric: Metric = load_metric(entry.qualified, **everything)
    return metric


def unavailable(entry: Entry, judging: Judging) -> str | None:
    """Why a metric whose card can be read can't be asked for, or None."""
    if lacking := entry.lacking:
        return str(lacking)
    if entry.card.judge == "model" and not judging.has_model:
        return (
            f"{entry.name} needs a model as judge, and this server has none; start it with one: "
            "metrichub serve --judge openai"
        )
    for article, kind in (("a", "judge"), ("an", "embedder")):
        if getattr(entry.card, kind) and not getattr(judging, kind):
            return (
                f"{entry.name} asks {article} {kind}, and this server was started without one: "
                f"metrichub serve --{kind} …"
            )
    return None


def not_offered(entry: Entry, judging: Judging) -> str | None:
    """Why a metric isn't offered: it can't be asked for, or its default model isn't there."""
    try:
        # What runs a model needs a package to run it; no other metric's code is imported for this.
        if not (problem := unavailable(entry, judging)) and entry.card.requires:
            entry.load()().resolved()
    except Exception as error:  # noqa: BLE001  # a plugin may raise anything; scoring says the rest
        return str(error) if isinstance(error, MissingModel) else None
    return problem


def open_members(hint: Any) -> list[Any]:
    """The members of a parameter's type whose values are the client's to give.

    An object closes a parameter as a whole. A mark closes its own member, and text beside it, which
    may stand for what is marked.
    """
    if object_types(hint):
        return []
    free = [member for member in members(hint) if not _reason(member)]
    if len(free) < len(members(hint)):
        free = [member for member in free if type_of(member) is not str]
    return free if free != [NoneType] else []


def _server_models(metric: type, judging: Judging) -> dict[str, str]:
    """The server's judge for every parameter that takes one, and its embedder likewise.

    A server without one leaves a plugin's parameter at the plugin's default.
    """
    return {
        parameter.name: model
        for parameter in parameters_of(metric)
        for hint in _declared(metric, parameter)
        for member in members(hint)
        if type_of(member) in _SERVER_MODELS
        if (model := getattr(judging, _SERVER_MODELS[type_of(member)])) is not None
    }


def _check_allowed(metric: str, kind: type, parameter: Parameter, value: object) -> None:
    """Raise `Forbidden` unless a client may give a parameter this value."""
    for hint in _declared(kind, parameter):
        free, reason = open_members(hint), _reason(hint)
        values = [value, tuple(value)] if isinstance(value, list) else [value]
        if reason and not any(is_valid(value, member) for value in values for member in free):
            words = " or ".join(word for member in free for word in described_values(member))
            advice = f"; give {words}" if free else ""
            raise Forbidden(metric, parameter.name, f"{reason}{advice}")


def _declared(metric: type, parameter: Parameter) -> list[Any]:
    """The types of a parameter in the classes above its metric, then its own.

    What a class closes stays closed in those that derive from it, whatever they declare.
    """
    inherited = [
        declared.hint
        for owner in reversed(metric.__mro__[1:])
        if dataclasses.is_dataclass(owner)
        for declared in parameters_of(owner)
        if declared.name == parameter.name
    ]
    return [*inherited, parameter.hint]


def _reason(hint: Any) -> str | None:
    """Why some values of a type aren't the client's to give, or None if all are."""
    for mark in marks_of(hint):
        return _REASONS[mark]
    for kind in object_types(hint):
        return _SERVERS_CHOICE if kind in _SERVER_MODELS else _NO_PLAIN_VALUES
    return None
