"""`metrichub new` and `check`: writing a metric, and running the contract tests on it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from metrichub.catalog.registry import registry, spec_of
from metrichub.catalog.scaffold import Scaffold, new_metric, new_plugin
from metrichub.cli.output import as_json
from metrichub.cli.program import Command, note
from metrichub.errors import UnknownMetric


@click.command(cls=Command)
@click.argument("name")
@click.option(
    "--dir",
    "parent",
    type=click.Path(path_type=Path),
    default=Path(),
    help="The folder to write to: your package of metrics, or the parent of the plugin.",
)
@click.option("--plugin", is_flag=True, help="Write an installable distribution with the metric.")
@click.option("--dist", metavar="NAME", help="The distribution's name.  [default: metrichub-NAME]")
def new(name: str, parent: Path, plugin: bool, dist: str | None) -> None:
    """Write a new metric: a folder with working code and a card, for you to adapt.

    metrichub new word_overlap --dir my_metrics

    metrichub new word_overlap --plugin
    """
    if dist and not plugin:
        raise click.UsageError("--dist is the name of a plugin's distribution; add --plugin")
    rival = _rival(name)
    made = new_plugin(name, parent, dist) if plugin else new_metric(name, parent)
    click.echo(f"wrote {made.folder}")
    click.echo(_next_steps(name, made, plugin), nl=False)
    if rival:
        note(
            f"{rival} has the same name; "
            "you may have to call yours by its qualified name, DISTRIBUTION/NAME"
        )


def _next_steps(name: str, made: Scaffold, plugin: bool) -> str:
    """What to do with the files that were written, where they were written."""
    if plugin:
        steps = f"pip install -e '{made.folder}[test]'\n  pytest {made.folder}"
        return f"install and test it:\n  {steps}\n"
    if made.project is None:
        return (
            "use it in Python:\n  from metrichub import Hub\n"
            f"  from {made.module} import {made.class_name}\n"
            f"  Hub([{made.class_name}()])\n"
            "to load it by its name, register it in a project's pyproject.toml; "
            f"`metrichub new {name} --plugin` writes a project\n"
        )
    home = os.path.relpath(made.project)
    return (
        f"add this line to {os.path.normpath(os.path.join(home, 'pyproject.toml'))}, "
        f'under [project.entry-points."metrichub.metrics"]:\n  {made.entry}\n'
        f"then register it and test it:\n  pip install -e {home} --no-deps\n"
        f"  metrichub check {name}\n"
    )


def _rival(name: str) -> str | None:
    """An installed metric of this name; looked for before anything is written."""
    try:
        return registry().find(name).qualified
    except UnknownMetric:
        return None


@click.command(cls=Command)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--update", is_flag=True, help="Update the generated blocks of the cards first.")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text")
@click.pass_context
def check(context: click.Context, names: tuple[str, ...], update: bool, form: str) -> None:
    """Run the contract tests on installed metrics; exits with 1 if one fails.

    A NAME may have parameters: "bleu(max_order=2)".
    """
    for name in names:
        registry().find(spec_of(name).metric)
    from metrichub import testing

    findings: dict[str, Any] = {}
    for name in names:
        if update and testing.update_card(name):
            note(f"updated the card of {name}")
        findings[name] = testing.check(name)
        if form == "text":
            _show(name, findings[name])
    if form == "json":
        click.echo(as_json(findings), nl=False)
    broken = any(finding.problem for found in findings.values() for finding in found)
    context.exit(1 if broken else 0)


def _show(name: str, found: list[Any]) -> None:
    ran = [finding for finding in found if finding.ran]
    for finding in ran:
        verdict = "FAILED" if finding.problem else "ok"
        click.echo(f"{name}  {finding.law:2}  {verdict:6}  {finding.title}")
        for line in (finding.problem or "").splitlines():
            click.echo(f"{' ' * len(name)}      {line}")
    kept = sum(not finding.problem for finding in ran)
    left = len(found) - len(ran)
    rest = f", {left} not run, as they need the card" if left else ""
    click.echo(f"{name}: {kept} of {len(found)} contract tests pass{rest}")
