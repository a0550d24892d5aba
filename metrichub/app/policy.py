"""What clients may choose of a metric: its parameters, but never who judges, nor a file.

Whoever can call the server must not make it read files, ask other servers or spend a key.
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from metrichub.app.settings import Judging
from metrichub.catalog.parameters import Parameter, parameters_of
from metrichub.catalog.registry import Entry, registry
from metrichub.catalog.spec import Spec
from metrichub.errors import InputError, MetrichubError, ParameterError
from metrichub.metric import Metric, load_metric

_THE_SERVERS = ("judge", "embedder", "prompts")
_PLACES = re.compile(
    r"\b(?:files?|folders?|paths?|director(?:y|ies)|zip|urls?|address(?:es)?|servers?|hosts?)\b",
    re.IGNORECASE,
)
_SECRETS = re.compile(r"key|token$|secret|password|credential", re.IGNORECASE)
_NOTHING = type(None)
_PLAIN = (int, float, bool, str, dict, _NOTHING)
_LONGEST_SPEC, _LONGEST_NAME = 4000, 100


class Forbidden(ParameterError):
    """A parameter that only whoever starts the server may set."""

    def __init__(self, metric: str, parameter: str, reason: str) -> None:
        MetrichubError.__init__(self, f"{metric}: {parameter} can't be set from here: {reason}")
        self.metric, self.parameter = metric, parameter


class NoModel(InputError):
    """A metric that asks a model, a judge or an embedder, on a server that has none."""


@dataclass(frozen=True)
class Wanted:
    """A metric as a client asks for it: a name or a spec, more parameters, the key of its scores.

    Attributes:
        metric: A name or a spec.
        parameters: Parameters beside those in the spec.
        name: The key that its scores stand under.
    """

    metric: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    name: str | None = None


def metric_of(wanted: Wanted, judging: Judging) -> Metric:
    """The metric that a client asks for, with the server's judge.

    Raises:
        MetrichubError: it can't be made; `Forbidden` for a parameter that isn't the client's.
    """
    if len(wanted.metric) > _LONGEST_SPEC:
        raise InputError(f"a metric's spec may have {_LONGEST_SPEC} characters")
    spec = Spec.parse(wanted.metric)
    entry = registry().find(spec.metric)
    if problem := unavailable(entry, judging):
        raise NoModel(problem)
    kind = entry.load()
    known = {parameter.name: parameter for parameter in parameters_of(kind)}
    given = {**spec.parameters, **wanted.parameters}
    name = wanted.name or spec.alias or given.pop("name", entry.name)
    for key, value in given.items():
        if key in known and (reason := closed(kind, known[key]) or _unfit(kind, key, value)):
            raise Forbidden(entry.name, key, reason)
    if not isinstance(name, str) or len(name) > _LONGEST_NAME:
        raise ParameterError(
            entry.name, "name", name, f"a text of up to {_LONGEST_NAME} characters"
        )
    servers: dict[str, Any] = {
        key: getattr(judging, key) for key in ("judge", "embedder") if key in known
    }
    everything: dict[str, Any] = {**given, **servers, "name": name}
    metric: Metric = load_metric(entry.qualified, **everything)
    return metric


def unavailable(entry: Entry, judging: Judging) -> str | None:
    """Why a metric whose card can be read isn't offered, or None."""
    if entry.card.judge == "model" and not judging.has_model:
        return (
            f"{entry.name} asks a model, and this server has none; start it with one: "
            "metrichub serve --judge openai"
        )
    for kind in ("judge", "embedder"):
        if getattr(entry.card, kind) and not getattr(judging, kind):
            return (
                f"{entry.name} asks a{'n' * (kind == 'embedder')} {kind}, and this server was "
                f"started without one: metrichub serve --{kind} …"
            )
    return None


def closed(metric: type, parameter: Parameter) -> str | None:
    """Why a parameter isn't the client's to set, or None if it is."""
    if parameter.name in _THE_SERVERS:
        return "whoever starts the server chooses it"
    kinds = kinds_of(metric, parameter.name)
    if not kinds <= {*_PLAIN, Path}:
        return "its values aren't plain text, numbers or choices"
    if Path in kinds:
        # Text may be a path; what else it takes is harmless.
        return None if kinds & {dict, bool, int, float} else "it names a file"
    if str in kinds and _is_place(parameter):
        return "it names a place or a secret of the server's machine"
    return None


def kinds_of(metric: type, name: str) -> set[Any]:
    """The classes of the values that a parameter takes, within unions, tuples and choices."""
    return set(_kinds(get_type_hints(metric, include_extras=True)[name]))


def _is_place(parameter: Parameter) -> bool:
    return bool(_PLACES.search(parameter.meaning) or _SECRETS.search(parameter.name))


def _kinds(hint: Any) -> Iterable[Any]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        yield from _kinds(arguments[0])
    elif origin is Literal:
        yield int
    elif origin in (Union, types.UnionType) or origin in (tuple, list):
        for argument in arguments:
            if argument is not Ellipsis:
                yield from _kinds(argument)
    else:
        yield dict if origin is dict else hint


def _unfit(metric: type, name: str, value: object) -> str | None:
    """Why a value isn't to be given: it is a path, or may be one."""
    texts = [item for item in _each(value) if isinstance(item, str)]
    if texts and Path in kinds_of(metric, name):
        return "a text would be taken for a path; give a JSON object"
    if any(map(_exists, texts)):
        return "the text is the name of a file there"
    return None


def _each(value: object) -> Iterable[object]:
    return value if isinstance(value, (list, tuple)) else (value,)


def _exists(text: str) -> bool:
    try:
        path = Path(text).expanduser()
        return bool(text.strip(". ")) and (path.is_symlink() or path.exists())
    except (OSError, ValueError, RuntimeError):
        return False
