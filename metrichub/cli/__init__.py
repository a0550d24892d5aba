"""The command line; each module here holds one group of commands."""

from __future__ import annotations

import click

from metrichub.cli.agreement import agreement
from metrichub.cli.author import check, new
from metrichub.cli.browse import card, cite, list_
from metrichub.cli.compare import compare
from metrichub.cli.doctor import doctor
from metrichub.cli.fetching import fetch
from metrichub.cli.judging import cache
from metrichub.cli.program import EXIT_STATUS, Program, version_option
from metrichub.cli.score import score
from metrichub.cli.serve import serve
from metrichub.cli.site import site

__all__ = ["main"]


@click.group("metrichub", cls=Program, epilog=EXIT_STATUS, invoke_without_command=True)
@version_option
@click.pass_context
def main(context: click.Context) -> None:
    """Score generated text: every metric in one call, each with its card.

    Start with: metrichub score outputs.jsonl -m bleu -m rouge
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(2)


for _command in (
    score,
    compare,
    agreement,
    list_,
    card,
    cite,
    new,
    check,
    doctor,
    fetch,
    cache,
    serve,
    site,
):
    main.add_command(_command)
