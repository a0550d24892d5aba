"""`metrichub list`, `card` and `cite`: what is installed, without importing any of it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

import click

from metrichub.catalog.frontmatter import JUDGES
from metrichub.catalog.listing import list_metrics, screen_width
from metrichub.catalog.registry import Entry, registry, spec_of
from metrichub.catalog.search import METRIC, search_index
from metrichub.catalog.studies import Study, best_by_task, boards_of
from metrichub.cli.browse_pages import card_lines, of_task, overview
from metrichub.cli.output import as_json, emit
from metrichub.cli.program import Command, note, screened, styled
from metrichub.errors import did_you_mean, printable
from metrichub.report.tables import Table

_HEAD = (
    *("name", "task", "setting", "output", "coefficient"),
    *("agreement", "low", "high", "human ceiling", "chance"),
)
_OF_CARDS = (
    *("title", "summary", "inputs", "headline", "definition", "tags", "license"),
    *("judge", "embedder", "requires"),
)
_SHOWN, _WIDEST = 5, 100


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
@click.option(
    "--format",
    "form",
    type=click.Choice(("table", "json")),
    default="table",
    help="The format.  [default: table]",
)
@click.option("--all", "every", is_flag=True, help="Show a line for each metric, by task.")
def list_(
    question: tuple[str, ...],
    task: str | None,
    dimension: str | None,
    family: str | None,
    input_: str | None,
    judge: str | None,
    agreement: str | None,
    form: str,
    every: bool,
) -> None:
    """List the tasks with their metrics, or what matches a QUESTION, best match first.

    metrichub list "is my RAG answer grounded?"

    metrichub list --task summarization --agreement relevance
    """
    if question:
        if any((task, dimension, family, input_, judge, agreement)):
            raise click.UsageError(
                "a QUESTION can't be combined with filters; give one or the other"
            )
        _show_pages(" ".join(question), form)
        return
    tags = {"dimension": dimension, "family": family, "input": input_, "judge": judge}
    if agreement:
        # What people rated had a task, whatever the tags of the metric's card.
        _show_agreement(list_metrics(**tags), agreement, task, form)
        return
    entries = list_metrics(task=task, **tags)
    if not entries:
        note(_nothing({"task": task, **tags}))
    width = min(screen_width(), _WIDEST)
    if form == "json":
        named = [(registry().name_of(entry), entry) for entry in entries]
        click.echo(as_json([_facts(*pair) for pair in named]), nl=False)
    elif not (every or task or any(tags.values())):
        click.echo("\n".join(overview(entries, width)))
    elif task and entries:
        click.echo("\n".join(of_task(entries, task, _studies(), width)))
    elif entries:
        click.echo(entries.text(width, lambda task: styled(task, bold=True)))


def _nothing(tags: Mapping[str, str | None]) -> str:
    """Why no metric is listed: the first tag that no metric has, with those that are near it."""
    entries = [entry for entry in registry().entries if not entry.problem]
    for name, tag in tags.items():
        tags_of_cards = sorted({used for entry in entries for used in entry.card.facets[name]})
        if tag and tag not in tags_of_cards and name != "input":
            near = did_you_mean(tag, tags_of_cards) or f" ({name}: {', '.join(tags_of_cards)})"
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
    facts |= {name: getattr(entry.card, name) for name in _OF_CARDS}
    needs = entry.install if entry.lacking else None
    return facts | {"outputs": entry.card.scores, "needs": needs}


def _show_pages(question: str, form: str) -> None:
    """The metrics, guides and metrics of other packages that a question finds."""
    pages = search_index().find(question)[:_SHOWN]
    if not pages:
        note("no metric or guide matches; 'metrichub list' shows all metrics")
    if form == "json":
        facts = [
            {
                "kind": page.kind,
                "name": page.address if page.kind == METRIC else None,
                "title": page.title,
                "summary": page.summary,
            }
            for page in pages
        ]
        click.echo(as_json(facts), nl=False)
        return
    for page in pages:
        name = page.address if page.kind == METRIC else page.kind
        click.echo(f"{styled(name, bold=True)}: {printable(page.title)}")
        filled = textwrap.fill(printable(page.summary), screen_width() - 2)
        click.echo(textwrap.indent(filled, "  "))


def _show_agreement(entries: Iterable[Entry], dimension: str, task: str | None, form: str) -> None:
    """The metrics that were measured, the best of each task first, with what a rater gets.

    `task` is that of the texts that people rated.
    """
    rated = [entry for entry in entries if not entry.problem]
    best_studies = [
        (registry().name_of(entry), name, best)
        for entry in rated
        for name, best in best_by_task(entry.studies, dimension).items()
        if task in (None, name)
    ]
    if not best_studies:
        studies = [s for entry in rated for s in entry.studies if task in (None, s.task)]
        dimensions = {value.dimension for study in studies for value in study.shown_values}
        hint = f"; there are studies of: {', '.join(sorted(dimensions))}" if dimensions else ""
        where = f" for {task}" if task else ""
        if task and not hint:
            tasks = {study.task for entry in rated for study in entry.studies}
            hint = did_you_mean(task, tasks)
            hint = hint or f"; there are studies for: {', '.join(sorted(tasks))}"
        note(f"no metric has a study of agreement with people on {dimension!r}{where}{hint}")
    best_studies.sort(key=lambda row: (row[1], -(row[2].value.value or 0.0)))
    rows = [
        (
            *(name, about, study.spec, value.output, f"{value.coefficient} ({value.level})"),
            *(value.value, value.low, value.high, value.ceiling, value.chance),
        )
        for name, about, (study, value) in best_studies
    ]
    documents = [dict(zip(_HEAD, row, strict=True)) for row in rows]
    emit(form, lambda: [Table(_HEAD, rows)], lambda: documents)
    if rows:
        note(
            "a place to start; choose by your own ratings: metrichub agreement FILE --human COLUMN"
        )


@click.command(cls=Command)
@click.argument("name")
@click.option("--full", is_flag=True, help="Print the whole card, as its file has it.")
def card(name: str, full: bool) -> None:
    """Show a metric's card on one screen: its use and misuse, what it reads, how to call it."""
    entry = registry().find(spec_of(name).metric)
    if full or entry.problem:
        # A broken card is shown too: that is how one finds what is wrong with it.
        text = (entry.folder / "README.md").read_text(encoding="utf-8", errors="backslashreplace")
        click.echo(printable(text, lines=True), nl=False)
    else:
        called, studies = registry().name_of(entry), _studies()
        boards = [boards_of(studies, task)[:1] for task in entry.card.tags.task]
        its_boards = [board for first in boards for board in first if called in board.values]
        needs = entry.install if entry.lacking else ""
        width = min(screen_width(), _WIDEST)
        lines = card_lines(entry.card, called, its_boards, needs, width)
        click.echo(screened("\n".join(lines)))


def _studies() -> dict[str, tuple[Study, ...]]:
    """The studies of all metrics by their names."""
    return {
        registry().name_of(entry): entry.studies
        for entry in registry().entries
        if not entry.problem
    }


@click.command(cls=Command)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def cite(names: tuple[str, ...]) -> None:
    """Print the BibTeX of metrics, each entry once."""
    bibtex: dict[str, None] = {}
    for name in names:
        card = registry().find(spec_of(name).metric).card
        if card.bibtex:
            bibtex[card.bibtex] = None
        else:
            note(f"the card of {name} has no citation")
    if bibtex:
        click.echo(printable("\n\n".join(bibtex), lines=True))
