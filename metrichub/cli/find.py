"""`metrichub list "is my RAG answer grounded?"`: what answers a question, the best first."""

from __future__ import annotations

import textwrap

import click

from metrichub.catalog.listing import screen_width
from metrichub.catalog.pages import METRIC, search_index
from metrichub.catalog.search import SearchPage
from metrichub.cli.output import as_json, shown_as
from metrichub.cli.program import note

_SHOWN = 5


def show_found(question: str, form: str | None) -> None:
    """The metrics, guides and metrics of other packages that a question finds."""
    found = search_index().find(question)[:_SHOWN]
    if not found:
        note("no metric or guide matches; 'metrichub list' shows all metrics")
    if shown_as(form) == "json":
        click.echo(as_json([_facts(page) for page in found]), nl=False)
        return
    for page in found:
        name, rest = (page.address, page.title) if page.kind == METRIC else (page.kind, page.title)
        click.echo(f"{click.style(name, bold=True)}: {rest}")
        click.echo(textwrap.fill(page.summary, screen_width(), initial_indent="  ",
                                 subsequent_indent="  "))  # fmt: skip


def _facts(page: SearchPage) -> dict[str, str | None]:
    return {
        "kind": page.kind,
        "name": page.address if page.kind == METRIC else None,
        "title": page.title,
        "summary": page.summary,
    }
