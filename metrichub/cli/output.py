"""The output of commands: results in a format, a page, and progress on a terminal."""

from __future__ import annotations

import json
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metrichub.cli.program import TYPED, plain, wrapped
from metrichub.data.files import check_folder, write_text
from metrichub.data.location import Location
from metrichub.data.values import json_value
from metrichub.errors import printable
from metrichub.report.tables import Table, fit_width

if TYPE_CHECKING:
    from rich.progress import Progress

    from metrichub.report.html.provenance import Provenance
    from metrichub.report.report import Report

FORMATS = ("table", "json", "csv", "markdown", "latex")
_SUFFIXES = {".json": "json", ".csv": "csv", ".md": "markdown", ".tex": "latex"}
_WRITTEN = (*_SUFFIXES, ".txt", "")
_PAGES = (".html", ".htm")
Advance = Callable[[int], object]
Tell = Callable[[str, int, int | None], object]

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    # Before --output, whose suffix counts only without it.
    is_eager=True,
    help="The format of the result.  [default: that of --output's suffix, or table]",
)


def output_file(_: click.Context, __: click.Parameter, path: str | None) -> str | None:
    """The path of a file to write, whose folder exists.

    Raises:
        BadParameter: there is no such folder, or it can't be written to.
    """
    try:
        if path is not None:
            check_folder(path)
    except OSError as error:
        raise click.BadParameter(f"{path}: {error.strerror}") from None
    return path


def report_file(context: click.Context, parameter: click.Parameter, path: str | None) -> str | None:
    """The path of a report to save, whose name ends in .json or .json.gz."""
    if path and not path.lower().endswith((".json", ".json.gz")):
        raise click.BadParameter(
            f"{path}: a report is JSON, so name it {Path(path).stem}.json or .json.gz; --output "
            "writes tables, and --samples the scores of samples"
        )
    return output_file(context, parameter, path)


def _page_file(context: click.Context, parameter: click.Parameter, path: str | None) -> str | None:
    """The path of a page, whose name ends in .html, if it has a suffix."""
    if path and Path(path).suffix.lower() not in (*_PAGES, ""):
        # A path would take one of the slashes of an address.
        better = path.removesuffix(Path(path).suffix)
        raise click.BadParameter(f"{path}: a page is HTML; name it {better}.html")
    return output_file(context, parameter, path)


def samples_file(
    context: click.Context, parameter: click.Parameter, path: str | None
) -> str | None:
    """The path of a file of samples, whose suffix is that of its format."""
    if path and Path(path).suffix.lower() not in (".jsonl", ".csv"):
        raise click.BadParameter(f"{path}: the name has to end in .jsonl or .csv")
    return output_file(context, parameter, path)


def _result_file(
    context: click.Context, parameter: click.Parameter, path: str | None
) -> str | None:
    """The path of a result, whose suffix is that of its format unless --format names one."""
    suffix = Path(path or "").suffix
    if suffix.lower() in _PAGES:
        raise click.BadParameter(f"{path}: for a page, use --report {path}")
    if not context.params.get("form") and suffix.lower() not in _WRITTEN:
        raise click.BadParameter(
            f"{path}: unknown suffix {suffix!r}; use {', '.join(_SUFFIXES)} or .txt, or choose the "
            "format with --format"
        )
    return output_file(context, parameter, path)


output_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=_result_file,
    help="Write the result to FILE; its suffix chooses the format (.json, .csv, .md, .tex, .txt).",
)


def result_format(form: str | None, output: str | None = None) -> str:
    """The chosen format, or else that of the file's suffix, or else a table."""
    return form or _SUFFIXES.get(Path(output or "").suffix.lower(), "table")


def terminal_width(form: str, output: str | None = None) -> int | None:
    """The width of the terminal that a table goes to; None where it goes elsewhere.

    A file, a pipe or a log gets whole lines, whatever their width: nothing in them is folded or
    moved, so that a line can be searched for, and a result compared with that of another run.
    """
    if form != "table" or output or not sys.stdout.isatty():
        return None
    from rich.console import Console

    return Console().width


def emit(
    form: str,
    tables: Callable[[], Sequence[Table]],
    document: Callable[[], Mapping[str, Any] | Sequence[Any]],
    *,
    output: str | None = None,
    top: str = "",
    foot: Sequence[str] = (),
) -> None:
    """Print tables and what stands around them, or the document as JSON, or write it to a file."""
    top, foot = printable(top), [*map(printable, foot)]
    if width := terminal_width(form, output):
        _print(tables(), top, foot, width)
        return
    shown = plain if output is None else str
    written = {"csv": Table.csv, "markdown": Table.markdown, "latex": Table.latex}
    if form == "json":
        text = as_json(document())
    elif form in written:
        text = "\n".join(map(written[form], tables()))
    else:
        table_texts = [table.mapped(shown).text() for table in tables()]
        parts = [top, "\n\n".join(table_texts), "\n".join(foot)]
        text = shown("\n\n".join(filter(None, parts)) + "\n")
    if output is None:
        click.echo(printable(text, lines=True) if sys.stdout.isatty() else text, nl=False)
    else:
        write_text(output, text)


def _print(tables: Sequence[Table], top: str, foot: Sequence[str], width: int) -> None:
    """Print tables on a terminal, between lines that are broken between words."""
    from rich.console import Console

    console = Console(highlight=False, width=width)

    def say(text: str, style: str = "") -> None:
        for line in wrapped(plain(text), width):
            console.print(line, style=style, markup=False, emoji=False, crop=False, soft_wrap=True)

    if top:
        say(top)
    for table in tables:
        fitted, hidden = fit_width(table.mapped(plain), width)
        if top or table is not tables[0]:
            console.print()
        console.print(fitted.rich(), crop=False)
        if hidden:
            columns = "1 column" if hidden == 1 else f"{hidden} columns"
            say(f"{columns} hidden, widen the window")
    if foot:
        console.print()
    for text in foot:
        say(text, "dim")


def as_json(document: object) -> str:
    """A document as indented JSON in ASCII, which any pipe carries; `nan` is null."""
    return f"{json.dumps(json_value(document), indent=2)}\n"


report_option = click.option(
    "--report",
    "page",
    metavar="FILE",
    callback=_page_file,
    help="Write an HTML page of scores, tests and all samples.",
)
title_option = click.option(
    "--title", metavar="TEXT", help="The title of the page.  [default: its result]"
)
_OF_FILES = ("files", "file", "predictions", "references", "sources", "questions")
_SECRET = re.compile(
    r"(\w*(?:key|password|secret|token)\s*=\s*)('[^']*'|\"[^\"]*\"|[^,()\s]+)", re.I
)


def write_page(
    path: str | None,
    reports: Mapping[str, Report],
    ids: Sequence[Any] | None = None,
    **options: Any,
) -> None:
    """Write the page if one was asked for; intervals and tests are made as `options` says."""
    if path is None:
        if options.get("title"):
            raise click.UsageError("--title has an effect only with --report; add it")
        return
    from metrichub.report.html import write

    # A page may be passed on: a file's folders are nobody's business.
    names = [Path(name).name or name for name in reports] if len(reports) == 1 else [*reports]
    systems = dict(zip(names, reports.values(), strict=True))
    with page_progress() as tell:
        write(path, systems, ids=ids, progress=tell, provenance=_provenance(), **options)


def _provenance() -> Provenance:
    """The command line without secrets and folders, and the files that it reads."""
    from metrichub.report.html.provenance import Provenance

    context = click.get_current_context()
    typed = map(_without_folder, context.meta.get(TYPED, ()))
    files = []
    for name in _OF_FILES:
        value = context.params.get(name) or ()
        for text in [value] if isinstance(value, str) else value:
            path = text if Path(text).exists() else text.partition("=")[2] or text
            files.append((_without_folder(path), path))
    return Provenance.of(files, shlex.join(["metrichub", *typed]))


def _without_folder(argument: str) -> str:
    """An argument without the folder of a file, the password of an address, or a secret."""
    argument = _SECRET.sub(r"\1…", argument)
    name, equals, path = argument.partition("=")
    if not equals or argument.startswith("/") or Path(argument).exists():
        name, equals, path = "", "", argument
    location = Location.of(path)
    if location.kind == "remote":
        path = location.shown
    elif Path(path).is_absolute() or Path(path).exists():
        path = Path(path).name or path
    return f"{name}{equals}{path}"


@contextmanager
def progress(
    total: Callable[[], float | None],
    *,
    after: float = 1.0,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Advance | None]:
    """A function to call with the amount of work done; None where stderr isn't a terminal.

    `total` returns the amount of all work, or None while it isn't known. The bar appears with the
    first call later than `after` seconds, and goes at the end.
    """
    done = 0
    with _display(after, clock) as show:

        def advance(amount: int) -> None:
            nonlocal done
            done += amount
            show("scoring", done, total)

        yield advance if sys.stderr.isatty() else None


@contextmanager
def page_progress(
    *, after: float = 1.0, clock: Callable[[], float] = time.monotonic
) -> Iterator[Tell | None]:
    """A function to call with each step of making a page, the amount done, and that of all.

    None where stderr isn't a terminal; the display is that of `progress`.
    """
    with _display(after, clock) as show:

        def tell(doing: str, done: int, total: int | None) -> None:
            count = "" if total is None else f" {done:,} of {total:,} samples"
            show(f"report: {doing}{count}", done, lambda: total)

        yield tell if sys.stderr.isatty() else None


@contextmanager
def _display(
    after: float, clock: Callable[[], float]
) -> Iterator[Callable[[str, int, Callable[[], float | None]], None]]:
    """A function that shows a bar, from the first call that is late enough."""
    started = clock()
    bar: Progress | None = None
    with ExitStack() as stack:

        def show(text: str, done: int, total: Callable[[], float | None]) -> None:
            nonlocal bar
            if bar is None and clock() - started >= after:
                bar = stack.enter_context(_bar())
            if bar is not None:
                bar.update(bar.task_ids[0], description=text, completed=done, total=total())

        yield show


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        # Names of metrics aren't markup.
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:.0f}%"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bar.add_task("", total=None)
    return bar
