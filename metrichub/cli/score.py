"""`metrichub score`: files in, a table of scores out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metrichub.cli.judging import judge_options, judged, show_estimate, tell_usage
from metrichub.cli.output import (
    chosen,
    emit,
    format_option,
    output_file,
    output_option,
)
from metrichub.cli.page import report_option, write_page
from metrichub.cli.program import Command
from metrichub.cli.sample_rows import rendered, samples_file
from metrichub.cli.systems import (
    check_distinct,
    chosen_hub,
    label,
    measure,
    metric_options,
    resampling_options,
    tell_notes,
)
from metrichub.cli.thresholds import failures, thresholds
from metrichub.data.files import STDIN, Samples, read_batches, read_columns, write_text
from metrichub.data.reading import Reading
from metrichub.report.tables import Table

if TYPE_CHECKING:
    from metrichub.evaluation.resample import Interval
    from metrichub.report.report import Report

_Intervals = Mapping[str, Mapping[str, "Interval"]]


@click.command(cls=Command, short_help="Score files of samples.")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@metric_options
@judge_options
@click.option("--estimate", is_flag=True, help="Say what judges would be asked; ask nothing.")
@click.option("-p", "--predictions", metavar="FILE", help="Predictions as text, one a line.")
@click.option("-r", "--references", metavar="FILE", multiple=True, help="References; repeatable.")
@click.option("-s", "--sources", metavar="FILE", help="Sources, one a line.")
@click.option("-q", "--questions", metavar="FILE", help="Questions, one a line.")
@format_option
@output_option
@click.option(
    "--samples",
    "samples_out",
    metavar="FILE",
    callback=samples_file,
    help="Write the scores of every sample there (.jsonl or .csv).",
)
@click.option(
    "--save", metavar="FILE", callback=output_file, help="Save the report for compare (JSON)."
)
@report_option
@click.option("--intervals", "with_intervals", is_flag=True, help="Add bootstrap intervals.")
@resampling_options
@click.option("--signature", "with_signatures", is_flag=True, help="Add each metric's signature.")
@click.option(
    "--fail-under", metavar="METRIC=N", multiple=True, help="Exit with 1 if the score is below."
)
@click.option(
    "--fail-over", metavar="METRIC=N", multiple=True, help="Exit with 1 if the score is above."
)
@click.pass_context
def score(
    context: click.Context,
    files: tuple[str, ...],
    predictions: str | None,
    references: tuple[str, ...],
    sources: str | None,
    questions: str | None,
    metrics: tuple[str, ...],
    columns: dict[str, str],
    workers: int,
    reduce: str | None,
    input_format: str | None,
    form: str | None,
    output: Path | None,
    samples_out: Path | None,
    save: Path | None,
    page: Path | None,
    with_intervals: bool,
    level: float,
    resamples: int,
    seed: int,
    with_signatures: bool,
    estimate: bool,
    judging: dict[str, Any],
    fail_under: tuple[str, ...],
    fail_over: tuple[str, ...],
) -> None:
    """Score files of samples (JSONL, JSON, CSV, TSV, Parquet; - is JSONL from stdin).

    Several FILEs are several systems, side by side. Columns are found by their usual names
    (prediction, response, summary; reference, target, gold; source, article; ...).

    metrichub score outputs.jsonl -m bleu -m 'bleu2 = bleu(max_order=2)'

    metrichub score -p predictions.txt -r references.txt -m wer --fail-over wer=0.25
    """
    plain = {"predictions": predictions, "sources": sources, "questions": questions}
    lists = {name: [path] for name, path in plain.items() if path} | (
        {"references": list(references)} if references else {}
    )
    _one_kind(files, lists)
    if save and len(files) > 1:
        raise click.UsageError("--save holds one system's report; give one FILE")
    example = f"metrichub score {' '.join(files) or '-p FILE -r FILE'}"
    hub = chosen_hub(metrics, reduce, example, judging)
    bounds = thresholds(fail_under, fail_over, hub)
    given: dict[str, Iterable[Samples]] = (
        dict(_batches(files, input_format)) if files else {predictions or "": read_columns(lists)}
    )
    if estimate:
        tables = {
            name: Reading(batches, hub.needs(), columns, False) for name, batches in given.items()
        }
        show_estimate(hub, tables, columns, judging["repeats"], form, output)
        return
    systems = measure(
        hub,
        given,
        columns,
        workers=workers,
        samples=bool(with_intervals or samples_out or save or page),
        texts=page is not None,
        keep_ids=bool(samples_out or page),
        judging=judging,
    )
    reports = {name: system.report for name, system in systems.items()}
    intervals = {
        name: report.intervals(level=level, resamples=resamples, seed=seed)
        for name, report in reports.items()
        if with_intervals
    }
    signatures = {name: report.signatures() for name, report in reports.items() if with_signatures}

    documents = {
        name: _document(report, intervals.get(name), signatures.get(name))
        for name, report in reports.items()
    }
    shown_as = chosen(form, output)
    emit(
        shown_as,
        lambda: _table(reports, intervals, signatures if shown_as == "csv" else {}),
        lambda: next(iter(documents.values())) if len(documents) == 1 else {"systems": documents},
        output=output,
        foot=list(dict.fromkeys(s for found in signatures.values() for s in found.values())),
    )
    if samples_out:
        write_text(samples_out, rendered(samples_out, systems))
    if save:
        next(iter(reports.values())).save(save)
    ids = next(iter(systems.values())).ids
    write_page(page, reports, ids, level=level, resamples=resamples, seed=seed)
    tell_notes(reports)
    tell_usage(reports)
    failed = list(failures(bounds, {name: report.scores() for name, report in reports.items()}))
    for line in failed:
        click.echo(f"metrichub: failed: {line}", err=True)
    context.exit(1 if failed else 4 if any(report.failed for report in reports.values()) else 0)


def _one_kind(files: Sequence[str], lists: Mapping[str, Sequence[str]]) -> None:
    if files and lists:
        raise click.UsageError(
            "give either FILEs with columns, or plain text with -p and -r, not both"
        )
    if lists and "predictions" not in lists:
        raise click.UsageError("plain text needs the predictions too: -p FILE")
    if not files and not lists:
        raise click.UsageError("nothing to score; give a FILE, or -p FILE -r FILE, or - for stdin")
    if [path for paths in lists.values() for path in paths].count(STDIN) > 1:
        raise click.UsageError("standard input is given twice")


def _batches(files: Sequence[str], input_format: str | None) -> dict[str, Iterator[Samples]]:
    check_distinct(files)
    return {name: read_batches(name, format=input_format) for name in files}


def _document(
    report: Report, intervals: _Intervals | None, signatures: Mapping[str, str] | None
) -> dict[str, Any]:
    document: dict[str, Any] = {"scores": report.scores(), "samples": report.size}
    if intervals is not None:
        document["intervals"] = intervals
    if signatures is not None:
        document["signatures"] = signatures
    if notes := report.notes():
        document["notes"] = notes
    return document | judged(report)


def _table(
    reports: Mapping[str, Report],
    intervals: Mapping[str, _Intervals],
    signatures: Mapping[str, Mapping[str, str]],
) -> Table:
    """One column a system; the signatures of the first are a last column."""
    named = {label(name): report for name, report in reports.items()}
    table = Table.beside(named, {label(name): found for name, found in intervals.items()})
    for found in list(signatures.values())[:1]:
        rows = [[*row, found[str(row[0])]] for row in table.rows]
        return Table([*table.head, "signature"], rows, table.best)
    return table
