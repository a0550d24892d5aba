"""The option --report of `score` and `compare`: the result as one HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metrichub.cli.output import output_file

if TYPE_CHECKING:
    from metrichub.report.report import Report


report_option = click.option(
    "--report",
    "page",
    metavar="FILE",
    callback=output_file,
    help="Write an HTML page with the scores, tests, plots and all samples.",
)


def write_page(
    path: Path | None,
    reports: Mapping[str, Report],
    ids: Sequence[Any] | None = None,
    **options: Any,
) -> None:
    """Write the page if one was asked for; intervals and tests are made as `options` says."""
    if path is None:
        return
    from metrichub.cli.progress import page_progress
    from metrichub.report.html import write

    # A page may be passed on: a file's folders are nobody's business.
    names = [Path(name).name or name for name in reports] if len(reports) == 1 else [*reports]
    systems = dict(zip(names, reports.values(), strict=True))
    with page_progress() as tell:
        write(path, systems, ids=ids, progress=tell, **options)
