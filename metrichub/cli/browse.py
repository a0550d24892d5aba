"""`metrichub list`, `card` and `cite`: what is installed, without importing any of it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from metrichub.catalog.frontmatter import JUDGES
from metrichub.catalog.listing import list_metrics, screen_width
from metrichub.catalog.registry import registry, spec_of
from metrichub.cli.output import as_json, shown_as
from metrichub.cli.program import Command, note
from metrichub.errors import did_you_mean

if TYPE_CHECKING:
    from metrichub.catalog.registry import Entry


@click.command("list", cls=Command)
@click.argument("question", nargs=-1)
@click.option("--task", help="Show metrics for this task, for example summarization.")
@click.option("--dimension", help="Show metrics of this dimension of quality, for example novelty.")
@click.option("--family", help="Show metrics of this family, for example overlap.")
@click.option("--input", "input_", help="Show metrics that read this column, for example sources.")
@click.option(
    "--judge",
    type=click.Choice(list(JUDGES)),
    help="Show metrics that need no judge, any judge, or a model as judge.",
)
@click.option(
    "--agreement",
    metavar="DIMENSION",
    help="Show metrics whose agreement with people's ratings of this dimension is known, "
    "for example relevance; best first.",
)
@click.option("--format", "form", type=click.Choice(("table", "json")), help="The format.")
def list_(
    question: tuple[str, ...],
    task: str | None,
    dimension: str | None,
    family: str | None,
    input_: str | None,
    judge: str | None,
    agreement: str | None,
    form: str | None,
) -> None:
    """List the installed metrics, or those that match a QUESTION, best match first.

    metrichub list "is my RAG answer grounded?"

    metrichub list --task summarization --agreement relevance
    """
    if question:
        from metrichub.cli.find import show_found

        if any((task, dimension, family, input_, judge, agreement)):
            raise click.UsageError(
                "a QUESTION can't be combined with filters; give one or the other"
            )
        show_found(" ".join(question), form)
        return
    tags = {"dimension": dimension, "family": family, "input": input_, "judge": judge}
    if agreement:
        from metrichub.cli.list_agreement import show_agreement

        # What people rated had a task, whatever the tags of the metric's card.
        show_agreement(list_metrics(**tags), agreement, task, form)
        return
    entries = list_metrics(task=task, **tags)
    if not entries:
        note(_nothing({"task": task, **tags}))
    if shown_as(form) == "json":
        named = [(registry().name_of(entry), entry) for entry in entries]
        click.echo(as_json([_facts(*pair) for pair in named]), nl=False)
    elif entries:
        click.echo(entries.text(screen_width(), lambda task: click.style(task, bold=True)))


def _nothing(tags: Mapping[str, str | None]) -> str:
    """Why no metric is listed: the first tag that no metric has, with those that are near it."""
    entries = [entry for entry in registry().entries if not entry.problem]
    for name, tag in tags.items():
        known = sorted({known for entry in entries for known in entry.card.facets[name]})
        if tag and tag not in known and name != "input":
            near = did_you_mean(tag, known) or f" ({name}: {', '.join(known)})"
            return f"no metric has the {name} {tag!r}{near}"
    return "no metric has all these tags" if any(tags.values()) else "no metric is installed"


def _facts(name: str, entry: Entry) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "name": name,
        "distribution": entry.distribution,
        "version": entry.version,
        "problem": entry.problem,
    }
    if entry.problem:
        return facts
    card = entry.card
    return facts | {
        "title": card.title,
        "summary": card.summary,
        "inputs": card.inputs,
        "outputs": card.scores,
        "headline": card.headline,
        "definition": card.definition,
        "tags": card.tags,
        "license": card.license,
        "judge": card.judge,
        "embedder": card.embedder,
        "requires": card.requires,
        "needs": entry.install if entry.lacking else None,
    }


@click.command(cls=Command)
@click.argument("name")
@click.option("--raw", is_flag=True, help="Print the file unformatted, on a terminal too.")
def card(name: str, raw: bool) -> None:
    """Show a metric's card: what it rewards, what it misses, when not to use it."""
    entry = registry().find(spec_of(name).metric)
    if raw or not sys.stdout.isatty():
        # A broken card is shown too: that is how one finds what is wrong with it.
        text = (entry.folder / "README.md").read_text(encoding="utf-8", errors="backslashreplace")
        click.echo(text, nl=False)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    from metrichub.cli.formulas import with_formulas

    Console().print(Markdown(with_formulas(_with_facts(entry))))


def _with_facts(entry: Entry) -> str:
    """The card's body with its front matter as a list below the title."""
    card = entry.card
    outputs = "; ".join(
        f"{name} in {scale.interval}, {scale.better} is better"
        if scale.better != "neither"
        else f"{name} in {scale.interval}"
        for name, scale in card.scores.items()
    )
    facts = {
        "inputs": ", ".join(card.inputs),
        "outputs": outputs,
        "task": ", ".join(card.tags.task),
        "dimension": ", ".join(card.tags.dimension),
        "family": card.tags.family,
        "language": ", ".join(card.tags.language),
        "judge": JUDGES[card.judge] if card.judge else "",
        "embedder": "any embedder" if card.embedder else "",
        "license": card.license,
        "needs": entry.install,
    }
    listed = "\n".join(f"- {name}: {text}" for name, text in facts.items() if text)
    head, blank, rest = card.body.lstrip().partition("\n")
    return f"{head}\n\n*{card.summary}*\n\n{listed}\n{blank}{rest}"


@click.command(cls=Command)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def cite(names: tuple[str, ...]) -> None:
    """Print the BibTeX of metrics, each entry once."""
    found: dict[str, None] = {}
    for name in names:
        card = registry().find(spec_of(name).metric).card
        if card.bibtex:
            found[card.bibtex] = None
        else:
            note(f"the card of {name} has no citation")
    if found:
        click.echo("\n\n".join(found))
