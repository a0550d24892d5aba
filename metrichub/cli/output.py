"""What commands print and write: results in a format, a page, and progress on a terminal."""

from __future__ import annotations

import json
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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


def output_file(_: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """The file to write, which has to be possible as far as one knows before any work is done."""
    if value is not None:
        try:
            check_folder(value)
        except OSError as error:
            raise click.BadParameter(f"{value}: {error.strerror}", param=parameter) from None
    return value


def report_file(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> str | None:
    """The path of a report to save, which is JSON by its name, too."""
    path = output_file(context, parameter, value)
    if path and not path.lower().endswith((".json", ".json.gz")):
        raise click.BadParameter(
            f"{value}: a report is JSON, so name it {Path(path).stem}.json or .json.gz; --output "
            "writes tables, and --samples the scores of samples",
            param=parameter,
        )
    return path


def _page_file(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """The path of a page, which is HTML by its name, too."""
    path = output_file(context, parameter, value)
    if path and Path(path).suffix.lower() not in (*_PAGES, ""):
        better = Path(path).with_suffix(".html")
        raise click.BadParameter(f"{value}: a page is HTML; name it {better}", param=parameter)
    return path


def samples_file(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> str | None:
    """The path of a file to write, whose suffix says how."""
    path = output_file(context, parameter, value)
    if path and Path(path).suffix.lower() not in (".jsonl", ".csv"):
        raise click.BadParameter(f"{value}: the name has to end in .jsonl or .csv", param=parameter)
    return path


def _result_file(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> str | None:
    """The path of a file to write, whose suffix says how if no format does."""
    path = output_file(context, parameter, value)
    suffix = Path(path or "").suffix
    if suffix.lower() in _PAGES:
        raise click.BadParameter(f"{value}: for a page, use --report {value}", param=parameter)
    if not context.params.get("form") and suffix.lower() not in _WRITTEN:
        raise click.BadParameter(
            f"{value}: unknown suffix {suffix!r}; use {', '.join(_SUFFIXES)} or .txt, or "
            "choose the format with --format",
            param=parameter,
        )
    return path


output_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=_result_file,
    help="Write the result to FILE; its suffix chooses the format (.json, .csv, .md, .tex, .txt).",
)


def result_format(form: str | None, output: str | None = None) -> str:
    """The format that was asked for, or else that of the file's suffix; a table without any."""
    return form or _SUFFIXES.get(Path(output or "").suffix.lower(), "table")


def terminal_width(form: str, output: str | None = None) -> int | None:
    """How wide a table may be; None where it doesn't go to a terminal.

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
    text = as_json(document()) if form == "json" else _rendered(form, tables(), top, foot, shown)
    if output is None:
        click.echo(printable(text, lines=True) if sys.stdout.isatty() else text, nl=False)
    else:
        write_text(output, text)


def _print(tables: Sequence[Table], top: str, foot: Sequence[str], width: int) -> None:
    """Show tables on a terminal, and around them lines that are broken between words."""
    from rich.console import Console

    console = Console(highlight=False, width=width)

    def say(lines: Iterable[str], style: str = "") -> None:
        for line in (part for text in lines for part in wrapped(plain(text), width)):
            console.print(line, style=style, markup=False, emoji=False, crop=False, soft_wrap=True)

    say([top] * bool(top))
    for table in tables:
        fitted, hidden = fit_width(table.mapped(plain), width)
        if top or table is not tables[0]:
            console.print()
        console.print(fitted.rich(), crop=False)
        say([f"{hidden} column{'s' * (hidden > 1)} hidden, widen the window"] * (hidden > 0))
    if foot:
        console.print()
    say(foot, "dim")


def as_json(document: object) -> str:
    """A document as indented JSON in ASCII, which any pipe carries; `nan` is null."""
    return f"{json.dumps(json_value(document), indent=2)}\n"


def _rendered(
    form: str,
    tables: Sequence[Table],
    top: str,
    foot: Sequence[str],
    shown: Callable[[str], str],
) -> str:
    written = {"csv": Table.csv, "markdown": Table.markdown, "latex": Table.latex}
    if form in written:
        return "\n".join(map(written[form], tables))
    text = "\n\n".join(table.mapped(shown).text() for table in tables)
    lines = (*[top, ""] * bool(top), text, *[""] * bool(foot), *foot)
    return "".join(f"{shown(line)}\n" for line in lines)


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
    """The command that runs, as it was typed but for secrets and folders, and what it read."""
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
    whole = Path(argument).exists() or argument.startswith("/")
    name, equals, path = ("", "", argument) if whole else argument.partition("=")
    if not equals:
        path, name = argument, ""
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
    """What to call with the amount of work done; None where stderr isn't a terminal.

    `total` says how much there is to do, as far as one knows by now, or None. The bar appears
    with the first call later than `after` seconds, and goes at the end.
    """
    done = 0
    with _display(after, clock) as tell:

        def advance(amount: int) -> None:
            nonlocal done
            done += amount
            tell("scoring", done, total)

        yield advance if sys.stderr.isatty() else None


@contextmanager
def page_progress(
    *, after: float = 1.0, clock: Callable[[], float] = time.monotonic
) -> Iterator[Tell | None]:
    """What to tell of a page's making: what is done now, how much of it, and of how much.

    None where stderr isn't a terminal; the display is that of `progress`.
    """
    with _display(after, clock) as tell:

        def tell_samples(doing: str, done: int, total: int | None) -> None:
            count = "" if total is None else f" {done:,} of {total:,} samples"
            tell(f"report: {doing}{count}", done, lambda: total)

        yield tell_samples if sys.stderr.isatty() else None


@contextmanager
def _display(
    after: float, clock: Callable[[], float]
) -> Iterator[Callable[[str, int, Callable[[], float | None]], None]]:
    """What shows the bar from the first call that is late enough."""
    started = clock()
    shown: Callable[[str, int, float | None], None] | None = None
    with ExitStack() as stack:

        def tell(text: str, done: int, total: Callable[[], float | None]) -> None:
            nonlocal shown
            if shown is None and clock() - started >= after:
                shown = stack.enter_context(_bar())
            if shown is not None:
                shown(text, done, total())

        yield tell


@contextmanager
def _bar() -> Iterator[Callable[[str, int, float | None], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        # Names of metrics aren't markup.
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:.0f}%"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda text, done, total: bar.update(
            task, description=text, completed=done, total=total
        )
