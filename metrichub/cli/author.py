"""`metrichub new` and `check`: writing a metric, and holding it to the laws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from metrichub.catalog.registry import registry, spec_of
from metrichub.cli.output import as_json
from metrichub.cli.program import Command, note
from metrichub.errors import UnknownMetric


@click.command(cls=Command, short_help="Write a new metric or plugin.")
@click.argument("name")
@click.option(
    "--dir",
    "parent",
    type=click.Path(path_type=Path),
    default=Path(),
    help="The folder to write it in: your package of metrics, or where the plugin shall stand.",
)
@click.option("--plugin", is_flag=True, help="Write a whole distribution around the metric.")
@click.option("--dist", metavar="NAME", help="The distribution's name.  [default: metrichub-NAME]")
def new(name: str, parent: Path, plugin: bool, dist: str | None) -> None:
    """Write a new metric: a folder with working code and its card, to change into your own.

    metrichub new answer_length --dir my_metrics

    metrichub new answer_length --plugin
    """
    from metrichub.catalog.scaffold import new_metric, new_plugin

    if dist and not plugin:
        raise click.UsageError("--dist names a plugin's distribution; add --plugin")
    rival = _rival(name)
    made = new_plugin(name, parent, dist) if plugin else new_metric(name, parent)
    click.echo(f"wrote {made.folder}")
    if plugin:
        click.echo(f"install and test it:\n  pip install -e '{made.folder}[test]'")
        click.echo(f"  pytest {made.folder}")
    else:
        click.echo('add this line to [project.entry-points."metrichub.metrics"] in pyproject.toml:')
        click.echo(f"  {made.entry}")
        click.echo(f"then install the project and hold it to the laws: metrichub check {name}")
    if rival:
        note(
            f"{rival} is installed under this name too; "
            "yours may need its qualified form, DISTRIBUTION/NAME"
        )


def _rival(name: str) -> str | None:
    """An installed metric of this name; looked for before anything is written."""
    try:
        return registry().find(name).qualified
    except UnknownMetric:
        return None


@click.command(cls=Command, short_help="Hold metrics to the fifteen laws.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--update", is_flag=True, help="First rewrite the generated blocks of the cards.")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text")
@click.pass_context
def check(context: click.Context, names: tuple[str, ...], update: bool, form: str) -> None:
    """Hold installed metrics to the fifteen laws; exits with 1 if one is broken.

    A spec, such as "bleu(max_order=2)", holds the metric with these parameters to them.
    """
    for name in names:
        registry().find(spec_of(name).metric)
    from metrichub import testing

    findings: dict[str, Any] = {}
    for name in names:
        if update and testing.update_card(name):
            note(f"the card of {name} is rewritten")
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
        verdict = "BROKEN" if finding.problem else "ok"
        click.echo(f"{name}  {finding.law:2}  {verdict:6}  {finding.title}")
        for line in (finding.problem or "").splitlines():
            click.echo(f"{' ' * len(name)}      {line}")
    kept = sum(not finding.problem for finding in ran)
    left = len(found) - len(ran)
    rest = f", {left} were not run, as they need the card" if left else ""
    click.echo(f"{name}: {kept} of {len(found)} laws hold{rest}")
