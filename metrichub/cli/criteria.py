"""`metrichub criteria`: a file with criteria proposed for each row, for people to edit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from metrichub.cli.measuring import JudgeOptions, judge_options, measure, print_notes, print_usage
from metrichub.cli.output import samples_file
from metrichub.cli.program import Command
from metrichub.cli.shared_options import (
    MetricOptions,
    columns_option,
    input_format_option,
    quoting_option,
    where_option,
)
from metrichub.errors import FileError

if TYPE_CHECKING:
    from metrichub.data.quoting import Quoting
    from metrichub.data.samples import Samples
    from metrichub.report.report import Report


@click.command(cls=Command)
@click.argument("file", metavar="FILE")
@click.option(
    "-o",
    "--output",
    "--out",
    metavar="FILE",
    required=True,
    callback=samples_file,
    help="Write the rows with their criteria to FILE, a .jsonl.",
)
@click.option("--force", is_flag=True, help="Overwrite the output file.")
@judge_options
@columns_option
@input_format_option
@quoting_option
@where_option
@click.pass_context
def criteria(
    context: click.Context,
    file: str,
    output: str,
    force: bool,
    judging: JudgeOptions,
    columns: Mapping[str, str],
    input_format: str | None,
    quoting: Quoting | None,
    where: Mapping[str, Sequence[str]],
) -> None:
    """Propose criteria for each row of a file, for you to edit before you score by them.

    A model reads each question, and the reference if there is one, and lists what an answer should
    contain or do. The output has the rows of FILE with a column 'criteria', each criterion with 1
    point. Change the wording and the points, delete what doesn't matter, and add mistakes with
    negative points; then score predictions in the same rows:

    metrichub criteria questions.jsonl --judge "openai(model='…')" -o criteria.jsonl

    metrichub score criteria.jsonl -m criteria --judge "openai(model='…')"
    """
    _check(output, judging, force=force)
    # These load numpy, which --help does without.
    from metrichub.data.columns import present
    from metrichub.data.files import read_batches
    from metrichub.hub import criteria_hub

    chosen = MetricOptions((), columns, where, input_format, quoting)
    batches = list(read_batches(file, where=chosen.where, **chosen.reading()))
    names = [name for batch in batches for name in batch]
    if taken := present("criteria", names, columns):
        raise FileError(file, f"has the column {taken!r}; rename it or leave it out")
    reference = present("references", names, columns)
    inputs = ("question", "reference") if reference else ("question",)
    hub = criteria_hub(inputs, **judging.for_hub())
    filled = [_without_nulls(batch, reference or "") for batch in batches]
    reports = measure(hub, {file: filled}, chosen, judging)
    report = reports[file]
    number = _write(output, batches, report)
    print_notes(reports)
    print_usage(reports)
    click.echo(f"wrote {output}: {number} criteria for {report.size} rows; read and edit them")
    context.exit(4 if report.failed else 0)


def _without_nulls(batch: Samples, name: str) -> Samples:
    """The rows with "" for each missing text of a column, which its metric reads as none."""
    if name not in batch:
        return batch
    texts = ["" if text is None else text for text in batch[name]]
    return replace(batch, columns={**batch, name: texts})


def _check(output: str, judging: JudgeOptions, *, force: bool) -> None:
    """Raise `UsageError` for options without effect, or a file that exists."""
    if not output.lower().endswith(".jsonl"):
        raise click.UsageError(f"{output}: criteria are lists, so the name has to end in .jsonl")
    if Path(output).exists() and not force:
        raise click.UsageError(f"{output} exists; add --force to overwrite it")
    without = {"--vote": judging.vote, "--embedder": judging.embedder}
    if judging.repeats > 1:
        without["--repeats"] = "1"
    if judging.judge[1:]:
        without["a second --judge"] = "1"
    if unused := [option for option, value in without.items() if value]:
        raise click.UsageError(f"{unused[0]} has no effect here; one judge proposes criteria once")


def _write(output: str, batches: Sequence[Samples], report: Report) -> int:
    """Write the rows with their criteria; returns the number of criteria."""
    from metrichub.data.files import replacing
    from metrichub.data.values import json_value

    total = 0
    rows = (
        {name: json_value(value) for name, value in zip(batch, values, strict=True)}
        for batch in batches
        for values in zip(*batch.values(), strict=True)
    )
    with replacing(output) as new, new.open("w", encoding="utf-8") as lines:
        for sample, row in enumerate(rows):
            steps = report.explain("criteria", sample).steps
            proposed = [{"criterion": text, "points": 1} for s in steps for text in s["criteria"]]
            total += len(proposed)
            lines.write(json.dumps({**row, "criteria": proposed}, ensure_ascii=False) + "\n")
    return total
