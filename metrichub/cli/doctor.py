"""`metrichub doctor`: the installed parts, those that are missing or broken, and the caches."""

from __future__ import annotations

import os
import platform
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import click

from metrichub.catalog.listing import screen_width
from metrichub.catalog.registry import Entry, Registry, registry
from metrichub.catalog.requirements import lacking_of_extras, required_by
from metrichub.cli.output import as_json
from metrichub.cli.program import (
    Command,
    is_verbose,
    plain,
    printed_aside,
    screened,
    styled,
    version,
)
from metrichub.errors import MetrichubError
from metrichub.models.resolve import EMBEDDERS, JUDGES, RESOLVERS, VARIABLES, about, judge_of
from metrichub.models.secrets import without_password
from metrichub.models.store import cache_folder, store_state

_OPENAI = "https://api.openai.com/v1"
_SECONDS = 10.0

_DEVELOPMENT = "test|bench"
"""Extras for those who work on a package."""

OPTIONAL_USES = {
    "datasets": "data sets by hf:// or of save_to_disk",
    "evaluate": "evaluate:NAME metrics",
}
"""Dependencies of one part alone, which requirements/light.txt leaves out."""


@click.command(cls=Command)
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text")
@click.option("--ask", is_flag=True, help="Ask the judge's server which models it has.")
@click.pass_context
def doctor(context: click.Context, form: str, ask: bool) -> None:
    """Check the installation; imports every metric. Exits with 5 if something is broken.

    It shows what is broken or missing, and the judge set in the environment; --verbose shows all
    that was looked at. It never shows keys, and contacts a server only with --ask.
    """
    dependencies, installed = _dependencies(), registry()
    broken = dict(_broken(installed))
    facts = {
        "metrichub": version(),
        "python": f"{platform.python_version()} ({sys.executable})",
        "platform": platform.platform(),
        "cache": cache_folder(),
        "call store": store_state(),
        "dependencies": dependencies,
        "dependencies of plugins": _of_plugins(installed, dependencies),
        "machine": _told_by_plugins(),
        "metrics": dict(Counter(f"{e.distribution} {e.version}" for e in installed.entries)),
        "broken": broken,
        "shadowed": {e.qualified: _rival(installed, e) for e in installed.shadowed()},
        "extras": _extras(installed),
        "incomplete": {
            entry.qualified: entry.install
            for entry in installed.entries
            if not entry.problem and entry.lacking
        },
        "judges": _services(ask),
        "models": _downloaded_models(),
        "waiting": _waiting(installed.entries),
    }
    if form == "json":
        click.echo(as_json(facts), nl=False)
    else:
        text = _text(facts) if is_verbose() else _brief(facts)
        click.echo(screened(text), nl=False)
    context.exit(5 if broken or None in dependencies.values() else 0)


def _extras(installed: Registry) -> dict[str, str]:
    """The packages that each extra for users lacks, and the metrics that need the extra."""
    states = {}
    for distribution in dict.fromkeys(["metrichub", *(e.distribution for e in installed.entries)]):
        for extra, lacking in lacking_of_extras(distribution).items():
            if re.match(_DEVELOPMENT, extra):
                continue
            name = f"{distribution}[{extra}]"
            uses = [e.name for e in installed.entries if not e.problem and name in e.install]
            state = f"missing: {', '.join(lacking)}" if lacking else "installed"
            states[name] = f"{state} (for {', '.join(uses)})" if uses else state
    return states


def _dependencies() -> dict[str, str | None]:
    """The version of each dependency; None where one is missing that scoring needs."""
    import importlib_metadata

    versions: dict[str, str | None] = {}
    for name in required_by("metrichub"):
        try:
            versions[name] = importlib_metadata.version(name)
        except importlib_metadata.PackageNotFoundError:
            users = OPTIONAL_USES.get(name)
            versions[name] = f"not installed; only {users} need it" if users else None
    return versions


def _of_plugins(installed: Registry, core: Collection[str]) -> dict[str, str]:
    """The version of each other package that plugins and their extras need, if it is installed."""
    import importlib_metadata

    versions: dict[str, str] = {}
    for distribution in {entry.distribution for entry in installed.entries} - {"metrichub"}:
        for name in {*required_by(distribution, extras=True)} - {"metrichub", *core}:
            with suppress(importlib_metadata.PackageNotFoundError):
                versions[name] = importlib_metadata.version(name)
    return dict(sorted(versions.items()))


def _told_by_plugins() -> dict[str, str]:
    """Facts of this machine from plugins: functions by the entry points `metrichub.doctor`."""
    import importlib_metadata

    told = {}
    for point in importlib_metadata.entry_points(group="metrichub.doctor"):
        try:
            with printed_aside():
                told[point.name] = str(point.load()())
        # A plugin's code may raise anything.
        except Exception as error:  # noqa: BLE001
            told[point.name] = str(error)
    return told


def _broken(installed: Registry) -> Iterator[tuple[str, str]]:
    """Every metric that can't be used as it is, with the reason."""
    from metrichub.metric import load_metric

    names = Counter(entry.qualified for entry in installed.entries)
    for entry in installed.entries:
        if names[entry.qualified] > 1:
            yield entry.qualified, "one distribution registers it twice"
            continue
        try:
            _ = entry.card
            with printed_aside():
                load_metric(entry.qualified).inputs()
        # A plugin's code may raise anything as it is imported.
        except Exception as error:  # noqa: BLE001
            if entry.problem or not entry.lacking:
                yield entry.qualified, str(error)


def _rival(installed: Registry, entry: Entry) -> str:
    others = [e for e in installed.entries if e.name == entry.name and e != entry]
    return f"{entry.name!r} is also in {', '.join(other.distribution for other in others)}"


def _brief(facts: Mapping[str, Any]) -> str:
    """A sentence, what was chosen, and what is wrong."""
    broken, judges, extras = facts["broken"], facts["judges"], facts["extras"]
    python, metrics = facts["python"].split()[0], sum(facts["metrics"].values())
    state = f"{len(broken)} broken" if broken else "none broken"
    waiting = [f"{len(names)} metrics need {need}" for need, names in facts["waiting"].items()]
    rows = {
        kind: "; ".join([judges[VARIABLES[kind]], *(text for text in waiting if kind in text)])
        for kind in VARIABLES
    }
    if not judges["endpoint"].startswith("not "):
        rows["server"] = judges["endpoint"]
    rows["cache"] = f"{facts['cache']}, {facts['call store']}"
    rows["models"] = ", ".join(facts["models"]) or "none"
    rows |= {name: text for name, text in facts["machine"].items() if name not in rows}
    lacking = [f"{name} {s}" for name, s in extras.items() if not s.startswith("installed")]
    rows["extras"] = "; ".join(lacking) or "complete"
    versions = facts["dependencies"]
    missing = {name: "MISSING" for name, version in versions.items() if version is None}
    rows |= facts["shadowed"] | facts["incomplete"] | missing | broken
    lines = [f"metrichub {facts['metrichub']}, Python {python}: {metrics} metrics, {state}.", ""]
    for name, text in rows.items():
        lines += _hanging(f"{name:<10} ", plain(text), screen_width())
    lines += ["", styled("all that was looked at: metrichub doctor --verbose", dim=True)]
    return "".join(f"{line}\n" for line in lines)


def _text(facts: Mapping[str, Any]) -> str:
    """All facts, a line each."""
    lines: list[str] = []
    for name, values in facts.items():
        if not isinstance(values, Mapping):
            lines.append(f"{name}: {values}")
            continue
        lines.append(f"{name}:" if values else f"{name}: none")
        width = max(map(len, values), default=0)
        for key, value in values.items():
            text = f"{len(value)}: {', '.join(value)}" if isinstance(value, list) else str(value)
            text = "MISSING" if value is None else text
            lines += _hanging(f"  {key.ljust(width)}  ", text, screen_width())
    return "".join(f"{line}\n" for line in lines)


def _hanging(start: str, text: str, width: int) -> list[str]:
    """A text behind its name, or below it where there is little room."""
    head = [] if len(start) < width // 3 else [start.rstrip()]
    indent = " " * (6 if head else len(start))
    lines = textwrap.wrap(text, max(width - len(indent), 20), break_on_hyphens=False) or [""]
    shown = [f"{indent}{line}" for line in lines]
    return [*head, *shown] if head else [f"{start}{lines[0]}", *shown[1:]]


def _downloaded_models() -> dict[str, str]:
    """The sizes of the models in the Hugging Face cache that have weights and a configuration."""
    try:
        from huggingface_hub import scan_cache_dir
        from huggingface_hub.errors import CacheNotFound
    except ImportError:
        return {}
    try:
        repos = scan_cache_dir().repos
    except CacheNotFound:
        return {}
    sizes = {}
    for repo in sorted(repos, key=lambda repo: repo.repo_id):
        revisions = [{file.file_name for file in revision.files} for revision in repo.revisions]
        if repo.repo_type == "model" and any(map(_has_weights, revisions)):
            sizes[repo.repo_id] = f"{repo.size_on_disk / 1e6:.0f} MB"
    return sizes


def _has_weights(files: Collection[str]) -> bool:
    weights = (".safetensors", ".onnx", ".gguf")
    return "config.json" in files and any(file.endswith(weights) for file in files)


def _services(ask: bool) -> dict[str, str]:
    """The installed judges and embedders, those of the environment, and the server's answer.

    No key, password or query of an address is in it.
    """
    address, key = os.environ.get("OPENAI_BASE_URL"), os.environ.get("OPENAI_API_KEY")
    facts = {
        kind: ", ".join(entry.name for entry in Registry.installed(group, kind).entries)
        for kind, group in (("judges", JUDGES), ("embedders", EMBEDDERS))
    }
    facts |= {VARIABLES[kind]: _service(kind)[1] for kind in VARIABLES}
    facts["OPENAI_BASE_URL"] = without_password(address) if address else f"not set ({_OPENAI})"
    facts["OPENAI_API_KEY"] = "set" if (key or "").strip() else "not set"
    for name in ("METRICHUB_CACHE", "METRICHUB_NO_CACHE"):
        if value := os.environ.get(name):
            facts[name] = value
    facts["endpoint"] = _answer() if ask else "not contacted; doctor --ask lists its models"
    return facts


def _waiting(entries: Iterable[Entry]) -> dict[str, list[str]]:
    """The metrics that need a judge or an embedder that isn't set, by what they need."""
    (judge, _), (embedder, _) = _service("judge"), _service("embedder")
    names: dict[str, list[str]] = {}
    for entry in entries:
        if entry.problem:
            continue
        card = entry.card
        if card.judge and judge is None:
            names.setdefault("a judge: --judge or METRICHUB_JUDGE", []).append(entry.name)
        elif card.judge == "model" and not about(judge).is_model:
            names.setdefault("a model as judge", []).append(entry.name)
        if card.embedder and embedder is None:
            names.setdefault("an embedder: --embedder or METRICHUB_EMBEDDER", []).append(entry.name)
    return names


def _service(kind: str) -> tuple[Any, str]:
    """The judge or the embedder of the environment, if there is one, and the text for it."""
    spec = os.environ.get(VARIABLES[kind])
    if not spec:
        return None, "not set"
    try:
        service = RESOLVERS[kind](spec)
    except MetrichubError as error:
        return None, f"wrong: {error}"
    return service, str(getattr(service, "label", spec))


def _answer() -> str:
    """Whether the server of the chosen judge, or the one that a model would have, answers."""
    from metrichub.models.client import Connection, served_models

    try:
        judge = _service("judge")[0] or judge_of("openai")
        if not isinstance(judge, Connection):
            return f"none: {getattr(judge, 'label', judge)} has no server"
        models = served_models(replace(judge, timeout=_SECONDS, max_retries=0))
    except MetrichubError as error:
        return f"doesn't answer: {error}"
    missing = "" if judge.model in models else f", but {judge.model} isn't among them"
    return f"answers with {len(models)} model{'' if len(models) == 1 else 's'}{missing}"
