"""`metrichub doctor`: what is installed, what is missing or broken, where things are kept."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import click

from metrichub.catalog.registry import Entry, Registry, registry
from metrichub.cli.output import as_json
from metrichub.cli.program import Command, version
from metrichub.models.cache import cache_folder

_KEYS = ("OPENAI_API_KEY",)


@click.command(cls=Command, short_help="Check the installation.")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text")
@click.pass_context
def doctor(context: click.Context, form: str) -> None:
    """Check the installation; imports every metric. Exits with 5 if something is broken."""
    dependencies, installed = _dependencies(), registry()
    broken = dict(_broken(installed))
    facts = {
        "metrichub": version(),
        "python": f"{platform.python_version()} ({sys.executable})",
        "platform": platform.platform(),
        "dependencies": dependencies,
        "metrics": dict(Counter(f"{e.distribution} {e.version}" for e in installed.entries)),
        "broken": broken,
        "incomplete": dict(_incomplete(installed)),
        "shadowed": {e.qualified: _rival(installed, e) for e in installed.shadowed()},
        "cache": cache_folder(),
        "keys": {key: "yes" if os.environ.get(key) else "no" for key in _KEYS},
    }
    click.echo(as_json(facts) if form == "json" else _text(facts), nl=False)
    context.exit(5 if broken or None in dependencies.values() else 0)


def _dependencies() -> dict[str, str | None]:
    """The version of everything that metrichub needs; None where it is missing."""
    import importlib_metadata

    try:
        required = importlib_metadata.requires("metrichub") or []
    except importlib_metadata.PackageNotFoundError:
        required = []
    found: dict[str, str | None] = {}
    for text in required:
        name = re.match(r"[\w.-]+", text)
        if name and "extra ==" not in text:
            try:
                found[name[0]] = importlib_metadata.version(name[0])
            except importlib_metadata.PackageNotFoundError:
                found[name[0]] = None
    return found


def _broken(installed: Registry) -> Iterator[tuple[str, str]]:
    """Every metric that can't be used as it is, with the reason."""
    from metrichub.metric import load_metric

    names = Counter(entry.qualified for entry in installed.entries)
    for entry in installed.entries:
        if names[entry.qualified] > 1:
            yield entry.qualified, "registered twice by one distribution"
            continue
        try:
            _ = entry.card
            load_metric(entry.qualified).inputs()
        # A plugin's code may raise anything as it is imported.
        except Exception as error:  # noqa: BLE001
            if entry.problem or not entry.lacking:
                yield entry.qualified, str(error)


def _incomplete(installed: Registry) -> Iterator[tuple[str, str]]:
    """Every metric whose requirements aren't all installed, with the command that installs them."""
    for entry in installed.entries:
        if not entry.problem and entry.lacking:
            yield entry.qualified, entry.install


def _rival(installed: Registry, entry: Entry) -> str:
    others = [e for e in installed.entries if e.name == entry.name and e != entry]
    return f"{entry.name!r} is also in {', '.join(other.distribution for other in others)}"


def _text(facts: Mapping[str, Any]) -> str:
    lines = []
    for name, value in facts.items():
        if not isinstance(value, Mapping):
            lines.append(f"{name}: {value}")
        elif value:
            width = max(map(len, value))
            lines.append(f"{name}:")
            lines += [
                f"  {key.ljust(width)}  {'MISSING' if item is None else item}"
                for key, item in value.items()
            ]
        else:
            lines.append(f"{name}: none")
    return "".join(f"{line}\n" for line in lines)
