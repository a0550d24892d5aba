"""`metrichub check`: the contract tests, run on installed metrics."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout

import click

from metrichub.authoring import Command, note
from metrichub.catalog.registry import registry, spec_of
from metrichub.testing.contract import Finding, update_card
from metrichub.testing.contract import check as findings_of


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
    findings: dict[str, list[Finding]] = {}
    for name in names:
        if update and update_card(name):
            note(f"updated the card of {name}")
        # What a metric prints must not stand between the findings.
        with redirect_stdout(sys.stderr):
            findings[name] = findings_of(name)
        if form == "text":
            _show(name, findings[name])
    if form == "json":
        documents = {name: [finding._asdict() for finding in ran] for name, ran in findings.items()}
        click.echo(json.dumps(documents, indent=2))
    broken = any(finding.problem for results in findings.values() for finding in results)
    context.exit(1 if broken else 0)


def _show(name: str, findings: list[Finding]) -> None:
    ran = [finding for finding in findings if finding.ran]
    for finding in ran:
        verdict = "FAILED" if finding.problem else "ok"
        click.echo(f"{name}  {finding.law:2}  {verdict:6}  {finding.title}")
        for line in (finding.problem or "").splitlines():
            click.echo(f"{' ' * len(name)}      {line}")
    passed = sum(not finding.problem for finding in ran)
    skipped = len(findings) - len(ran)
    note_of_skipped = f", {skipped} not run, as they need the card" if skipped else ""
    click.echo(f"{name}: {passed} of {len(findings)} contract tests pass{note_of_skipped}")
