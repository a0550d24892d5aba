"""What `doctor` says of judges: what the environment chooses, and what waits for a choice."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from metrichub.catalog.registry import Entry, Registry
from metrichub.errors import MetrichubError
from metrichub.models.resolve import EMBEDDERS, JUDGES, VARIABLES, about, embedder_of, judge_of
from metrichub.models.secrets import without_password

_OPENAI = "https://api.openai.com/v1"
_SECONDS = 10.0


def endpoints(ask: bool) -> dict[str, str]:
    """What each variable of the environment says, and whether the server answers, if it is asked.

    No key, password or query of an address is in it.
    """
    address, key = os.environ.get("OPENAI_BASE_URL"), os.environ.get("OPENAI_API_KEY")
    found = {
        VARIABLES["judge"]: _chosen("judge", judge_of),
        VARIABLES["embedder"]: _chosen("embedder", embedder_of),
        "OPENAI_BASE_URL": without_password(address) if address else f"not set ({_OPENAI})",
        "OPENAI_API_KEY": "set" if (key or "").strip() else "not set",
    }
    for name in ("METRICHUB_CACHE", "METRICHUB_NO_CACHE"):
        if value := os.environ.get(name):
            found[name] = value
    found["endpoint"] = _answer() if ask else "not contacted; doctor --ask lists its models"
    return found


def installed_judges() -> dict[str, str]:
    """The names of the installed judges and embedders."""
    return {
        kind: ", ".join(entry.name for entry in Registry.installed(group, kind).entries)
        for kind, group in (("judges", JUDGES), ("embedders", EMBEDDERS))
    }


def waiting(entries: Iterable[Entry]) -> dict[str, list[str]]:
    """The metrics that need what this machine doesn't say: what is needed -> their names."""
    judge, embedder = (_asked(kind) for kind in ("judge", "embedder"))
    found: dict[str, list[str]] = {}
    for entry in entries:
        if entry.problem:
            continue
        card = entry.card
        if card.judge and judge is None:
            found.setdefault("a judge: --judge or METRICHUB_JUDGE", []).append(entry.name)
        elif card.judge == "model" and not about(judge).is_model:
            found.setdefault("a model as judge", []).append(entry.name)
        if card.embedder and embedder is None:
            found.setdefault("an embedder: --embedder or METRICHUB_EMBEDDER", []).append(entry.name)
    return found


def told(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The lists of names as texts, for reading."""
    return {
        what: f"{len(names)}: {', '.join(names)}" if isinstance(names, list) else names
        for what, names in values.items()
    }


def _asked(kind: str) -> Any:
    """The judge or the embedder that the environment chooses; None if it chooses none."""
    spec = os.environ.get(VARIABLES[kind])
    try:
        return (judge_of if kind == "judge" else embedder_of)(spec) if spec else None
    except MetrichubError:
        return None


def _chosen(kind: str, resolve: Any) -> str:
    spec = os.environ.get(VARIABLES[kind])
    if not spec:
        return "not set"
    try:
        made = resolve(spec)
    except MetrichubError as error:
        return f"wrong: {error}"
    return str(getattr(made, "label", spec))


def _answer() -> str:
    """Whether the server of the chosen judge, or the one that a model would have, answers."""
    from metrichub.models.client import Connection
    from metrichub.models.served import served_models

    try:
        judge = _asked("judge") or judge_of("openai")
        if not isinstance(judge, Connection):
            return f"none: {getattr(judge, 'label', judge)} has no server of its own"
        models = served_models(replace(judge, timeout=_SECONDS, max_retries=0))
    except MetrichubError as error:
        return f"doesn't answer: {error}"
    known = "" if judge.model in models else f", but {judge.model} isn't among them"
    return f"answers with {len(models)} model{'s' * (len(models) != 1)}{known}"
