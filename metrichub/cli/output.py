"""What commands print: a table on a terminal, JSON into a pipe, any format on request."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from metrichub.cli.program import broken
from metrichub.data.files import write_text
from metrichub.report.tables import Table, json_safe

FORMATS = ("table", "json", "csv", "markdown", "latex")
_SUFFIXES = {".json": "json", ".csv": "csv", ".md": "markdown", ".tex": "latex"}
_WRITTEN = (*_SUFFIXES, ".txt", "")

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    # Before --output, whose suffix counts only without it.
    is_eager=True,
    help="The format of the result.  [default: table on a terminal, json into a pipe]",
)


def output_file(_: click.Context, parameter: click.Parameter, value: str | None) -> Path | None:
    """The path of a file to write, whose folder has to be there before any work is done."""
    if value is None:
        return None
    path = Path(value)
    if path.is_dir():
        raise click.BadParameter(f"{value} is a folder", param=parameter)
    if not path.parent.is_dir():
        raise click.BadParameter(f"there is no folder {str(path.parent)!r}", param=parameter)
    return path


def report_file(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> Path | None:
    """The path of a report to save, which is JSON by its name, too."""
    path = output_file(context, parameter, value)
    if path and not path.name.lower().endswith((".json", ".json.gz")):
        raise click.BadParameter(
            f"{value}: a report is JSON, so name it {path.stem}.json or .json.gz; --output writes "
            "tables, and --samples the scores of samples",
            param=parameter,
        )
    return path


def _result_file(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> Path | None:
    """The path of a file to write, whose suffix says how if no format does."""
    path = output_file(context, parameter, value)
    if path and not context.params.get("form") and path.suffix.lower() not in _WRITTEN:
        raise click.BadParameter(
            f"{value}: unknown suffix {path.suffix!r}; use {', '.join(_SUFFIXES)} or .txt, or "
            "choose the format with --format",
            param=parameter,
        )
    return path


output_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=_result_file,
    help="Write the result to FILE; its suffix chooses the format (.json, .csv, .md, .tex).",
)


def shown_as(form: str | None, output: Path | None = None) -> str:
    """The format that was asked for, or else the one that fits where the result goes."""
    if form:
        return form
    if output:
        return _SUFFIXES.get(output.suffix.lower(), "table")
    return "table" if sys.stdout.isatty() else "json"


def terminal_width(form: str, output: Path | None = None) -> int | None:
    """How wide a table may be; None where it doesn't go to a terminal."""
    if form != "table" or output or not sys.stdout.isatty():
        return None
    from rich.console import Console

    return Console().width


def emit(
    form: str,
    tables: Callable[[], Table | Sequence[Table]],
    document: Callable[[], Mapping[str, Any] | Sequence[Any]],
    *,
    output: Path | None = None,
    foot: Sequence[str] = (),
) -> None:
    """Print tables with lines at their foot, or the document as JSON, or write it to a file."""
    if terminal_width(form, output):
        _print(_several(tables()), foot)
        return
    text = as_json(document()) if form == "json" else _rendered(form, _several(tables()), foot)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_text(output, text)


def _several(tables: Table | Sequence[Table]) -> Sequence[Table]:
    return [tables] if isinstance(tables, Table) else tables


def _print(tables: Sequence[Table], foot: Sequence[str]) -> None:
    """Show tables on a terminal, and below them lines that are broken between words."""
    from rich.console import Console

    console = Console(highlight=False)
    for i, table in enumerate(tables):
        console.print(*[""] * bool(i), table.rich(), crop=False, sep="\n")
    for i, line in enumerate(foot):
        for text in [""] * (not i) + broken(line, console.width):
            console.print(text, markup=False, emoji=False, crop=False, overflow="ignore")


def as_json(document: object) -> str:
    """A document as indented JSON in ASCII, which any pipe carries; `nan` is null."""
    return f"{json.dumps(json_safe(document), indent=2)}\n"


def _rendered(form: str, tables: Sequence[Table], foot: Sequence[str]) -> str:
    if form == "csv":
        return "\n".join(table.csv() for table in tables)
    if form == "markdown":
        return "\n".join(table.markdown() for table in tables)
    if form == "latex":
        return "\n".join(table.latex() for table in tables)
    text = "\n\n".join(table.text() for table in tables)
    return "".join(f"{line}\n" for line in (text, *[""] * bool(foot), *foot))
