"""What `score` and `compare` share: choosing metrics, reading systems' files, measuring them."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from metrichub import columns as names
from metrichub.cli.program import note
from metrichub.cli.progress import Advance, progress
from metrichub.errors import FileError, InputError, MissingColumn
from metrichub.files import FORMATS, STDIN, Samples, read

if TYPE_CHECKING:
    from metrichub.hub import Hub
    from metrichub.report import Report

_log = logging.getLogger("metrichub")
_Function = TypeVar("_Function", bound=Callable[..., Any])


def metric_options(function: _Function) -> _Function:
    """-m, --columns, --reduce and --input-format."""
    for option in (
        click.option(
            "--input-format",
            type=click.Choice(FORMATS),
            help="What the files are, if not what their suffixes say; stdin is jsonl.",
        ),
        click.option(
            "--reduce",
            metavar="HOW",
            help="Which of a sample's candidates counts: best, worst, mean, max, min or first.  "
            "[default: best, or mean where nothing is better]",
        ),
        click.option(
            "--columns",
            metavar="COLUMN=NAME",
            multiple=True,
            callback=_column_names,
            help="Which column of the file to read: predictions=answer,references=gold",
        ),
        click.option(
            "-m",
            "--metric",
            "metrics",
            metavar="SPEC",
            multiple=True,
            help="A metric: bleu, 'bleu(max_order=2)' or 'bleu2 = bleu(max_order=2)'; repeatable.",
        ),
    ):
        function = option(function)
    return function


def resampling_options(function: _Function) -> _Function:
    """--level, --resamples and --seed."""
    for option in (
        click.option("--seed", type=int, default=12345, show_default=True),
        click.option(
            "--resamples",
            type=click.IntRange(1),
            default=1000,
            show_default=True,
            help="How many times the samples are drawn for an interval.",
        ),
        click.option(
            "--level",
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
            default=0.95,
            show_default=True,
            help="The share of the resamples that an interval holds.",
        ),
    ):
        function = option(function)
    return function


def _column_names(
    _: click.Context, parameter: click.Parameter, given: Sequence[str]
) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for pair in (pair for text in given for pair in re.split(r",(?=\w+=)", text)):
        column, equals, name = pair.partition("=")
        if not equals or not column or not name:
            raise click.BadParameter(
                f"{pair!r} is no pair; write for example references=gold", param=parameter
            )
        chosen[names.column_of_alias(column)] = name
    return chosen


def hub_of(metrics: Sequence[Any], reduce: str | None, example: str) -> Hub:
    """The hub of the chosen metrics; without any the error says how to choose."""
    if not metrics:
        raise click.UsageError(
            f"no metric is chosen; add -m NAME, for example: {example} -m abstractness "
            "('metrichub list' shows what is installed)"
        )
    from metrichub.hub import Hub

    return Hub(metrics, reduce_fn=reduce)  # type: ignore[arg-type]  # Hub checks the word


def read_systems(files: Sequence[str], input_format: str | None) -> dict[str, Samples]:
    """The samples of every file, by the name that was given for it."""
    if twice := [name for name in files if files.count(name) > 1]:
        what = "standard input" if twice[0] == STDIN else twice[0]
        raise click.UsageError(f"{what} is given twice")
    return {name: _read(name, input_format) for name in files}


def _read(name: str, input_format: str | None) -> Samples:
    samples = read(name, format=input_format)
    _log.info("%s: %d samples, columns %s", samples.path, samples.size, ", ".join(samples))
    return samples


def measure(
    hub: Hub, systems: Mapping[str, Samples], columns: Mapping[str, str]
) -> dict[str, Report]:
    """The report of every system, under a progress bar."""
    total = sum(samples.size for samples in systems.values()) * len(hub.metrics)
    with progress(total) as advance:
        return {
            name: _measured(hub, samples, columns, advance) for name, samples in systems.items()
        }


def _measured(
    hub: Hub, samples: Samples, columns: Mapping[str, str], advance: Advance | None
) -> Report:
    try:
        report = hub.evaluate(samples, columns=columns, progress=advance)
    except MissingColumn as error:
        raise samples.error(str(error)) from error
    except InputError as error:
        raise _located(error, hub, samples, columns) from error
    _log.info("%s: measured with %s", samples.path, ", ".join(report.results))
    return report


def _located(
    error: InputError, hub: Hub, samples: Samples, columns: Mapping[str, str]
) -> FileError:
    """The error with the line of the first sample that can't be scored."""
    from metrichub.batch import Batch

    try:
        chosen = names.resolve(hub.needs(), samples, columns)
    except InputError:
        return samples.error(str(error))
    for column, name in chosen.items():
        for sample, value in enumerate(samples[name]):
            try:
                Batch.of(**{column: [value]})
            except InputError:
                message = str(error)
                if value is None:
                    message = (
                        f"{name!r} is missing or null in sample {sample}; "
                        "give it text ('' is valid) or leave the sample out"
                    )
                return samples.error(message, sample)
    return samples.error(str(error))


def tell_notes(reports: Mapping[str, Report]) -> None:
    """Print the notes of every report on stderr."""
    for name, report in reports.items():
        where = f"{name}: " if len(reports) > 1 else ""
        for metric, notes in report.notes().items():
            for text in notes:
                note(f"{where}{metric}: {text}")


def label(path: str | Path) -> str:
    """How a file is called in a table."""
    return "stdin" if str(path) == STDIN else str(path)
