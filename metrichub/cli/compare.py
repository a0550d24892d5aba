"""`metrichub compare`: systems side by side on the same samples, with paired tests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metrichub.catalog.spec import Spec
from metrichub.cli.judging import JudgeOptions, judge_options, tell_usage
from metrichub.cli.output import emit, format_option, output_option, shown_as
from metrichub.cli.page import report_option, write_page
from metrichub.cli.program import Command
from metrichub.cli.systems import (
    MetricOptions,
    ResamplingOptions,
    check_distinct,
    chosen_hub,
    label,
    measure,
    metric_options,
    resampling_options,
    tell_notes,
    tell_unranked,
)
from metrichub.data import columns as names
from metrichub.data.files import STDIN, Samples, read
from metrichub.errors import MissingColumn, ReportError
from metrichub.report.tables import Table

if TYPE_CHECKING:
    from metrichub.hub import Hub
    from metrichub.metric import Metric
    from metrichub.report.ranking import Ranking
    from metrichub.report.report import Report


@click.command(cls=Command, short_help="Test systems against a baseline.")
@click.argument("files", nargs=-1, metavar="BASELINE FILE...")
@metric_options
@judge_options
@format_option
@output_option
@resampling_options
@click.option(
    "--trials",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    help="How many times outputs are swapped at random.",
)
@report_option
@click.option(
    "--all-outputs", is_flag=True, help="Show every output, and p-values before the correction."
)
@click.option("--signature", "with_signatures", is_flag=True, help="Add each metric's signature.")
def compare(
    files: tuple[str, ...],
    chosen: MetricOptions,
    judging: JudgeOptions,
    form: str | None,
    output: Path | None,
    resampling: ResamplingOptions,
    trials: int,
    page: Path | None,
    all_outputs: bool,
    with_signatures: bool,
) -> None:
    """Compare systems on the same samples; the first FILE is the baseline.

    For every headline output: the scores, ranks, the difference from the baseline with its paired
    bootstrap interval, and p of two-sided approximate randomisation, after Holm's correction over
    all pairs of systems and the headline outputs of the metric. Systems of one rank aren't
    distinguished. A FILE holds samples, or a report of 'metrichub score --save'.

    metrichub compare baseline.jsonl ours.jsonl -m bleu -m rouge
    """
    if len(files) < 2:
        raise click.UsageError("give two files or more, the baseline first")
    files = chosen.addresses(files)
    reports, ids = _reports(files, chosen, judging)
    baseline, *_ = files
    from metrichub.report.ranking import compare_all

    how = asdict(resampling) | {"trials": trials}
    ranking = compare_all({label(name): report for name, report in reports.items()}, **how)
    signatures = reports[baseline].signatures()
    emit(
        shown_as(form, output),
        lambda: Table.compared(ranking, all_outputs=all_outputs),
        lambda: (
            _document(reports, ranking) | ({"signatures": signatures} if with_signatures else {})
        ),
        output=output,
        foot=[*_foot(ranking), *(signatures.values() if with_signatures else ())],
    )
    write_page(page, reports, ids, **how)
    tell_notes(reports)
    tell_unranked(ranking.withheld)
    tell_usage(reports)


def _reports(
    files: Sequence[str], chosen: MetricOptions, judging: JudgeOptions
) -> tuple[dict[str, Report], Sequence[Any] | None]:
    """The report of every file, and the samples' ids: a saved one is read, samples are measured."""
    saved = _saved(files)
    fresh = [name for name in files if name not in saved]
    check_distinct(files)
    metrics: Sequence[Any] = chosen.metrics
    if saved:
        metrics = _metrics(metrics, saved)
        wanted = [metric.name for metric in metrics]
        saved = {name: _only(name, report, wanted) for name, report in saved.items()}
    if not fresh:
        return saved, None
    example = f"metrichub compare {' '.join(files)}"
    hub = chosen_hub(metrics, chosen.reduce, example, judging)
    systems = {name: read(name, format=chosen.input_format) for name in fresh}
    _same_samples(systems, hub, chosen.columns)
    batches = {name: [samples] for name, samples in systems.items()}
    measured = measure(hub, batches, chosen, judging, texts=True)
    reports = saved | {name: system.report for name, system in measured.items()}
    ids = next((system.ids for system in measured.values() if system.ids), None)
    return {name: reports[name] for name in files}, ids


def _saved(files: Sequence[str]) -> dict[str, Report]:
    from metrichub.report.report import Report

    return {name: Report.load(name) for name in files if _is_report(name)}


def _is_report(name: str) -> bool:
    if name == STDIN or Path(name).suffix.lower() != ".json" or not Path(name).is_file():
        return False
    try:
        content = json.loads(Path(name).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and str(content.get("format")).startswith("metrichub-report")


def _metrics(specs: Sequence[str], saved: Mapping[str, Report]) -> Sequence[Metric]:
    """The metrics of the specs, or else all of the first saved report.

    Those that the report has are taken from it, with its judge: nothing of it is judged anew.
    """
    from metrichub.metric import load_metric

    file, first = next(iter(saved.items()))
    kept = {name: result.metric for name, result in first.results.items()}
    found = []
    for spec in specs:
        asked = load_metric(spec)
        own = kept.get(asked.name, asked)
        named = Spec.parse(spec).parameters if "(" in spec else {}
        if not _fits(own, asked, named):
            raise ReportError(f"{file} has {own.label()}, and not {asked.label()}")
        if own in found:
            raise click.UsageError(f"{own.name} is chosen twice")
        found.append(own)
    return found or list(kept.values())


def _fits(own: Metric, asked: Metric, named: Iterable[str]) -> bool:
    """Whether a saved metric has the parameters that are named of the one that is asked for."""
    if type(own) is not type(asked):
        return False
    # A judge may be named in several ways, and 0 is 0.0.
    tried = (replace(own, **{name: getattr(asked, name)}) for name in named)
    return all(one == own or one.label() == own.label() for one in tried)


def _only(name: str, report: Report, metrics: Sequence[str]) -> Report:
    """A saved report reduced to the metrics that were asked for."""
    for metric in metrics:
        if metric not in report.results:
            raise ReportError(f"{name} has no {metric}; it has: {', '.join(report.results)}")
    return replace(report, results={metric: report.results[metric] for metric in metrics})


def _same_samples(systems: Mapping[str, Samples], hub: Hub, columns: Mapping[str, str]) -> None:
    """Raise `FileError` at the first row that isn't about the baseline's sample.

    Compared are ids, and every column that the metrics read but the predictions.
    """
    if len(systems) < 2:
        return
    first, *others = systems.values()
    needed = {column: metric for column, metric in hub.needs().items() if column != "predictions"}
    for other in others:
        pairs = [("id", "id")] if "id" in first and "id" in other else []
        try:
            mine = names.resolve(needed, first, columns)
            theirs = names.resolve(needed, other, columns)
        except MissingColumn:
            return  # Measuring says it, with the file.
        pairs += [(mine[column], theirs[column]) for column in needed]
        for name, other_name in pairs:
            _same_column(first, other, name, other_name)
        if first.size != other.size:
            raise other.error(
                f"{other.size} samples, but {first.path} has {first.size}; a comparison needs the "
                "same samples in the same order"
            )


def _same_column(first: Samples, other: Samples, name: str, other_name: str) -> None:
    rows = enumerate(zip_longest(first[name], other[other_name]))
    for i, (expected, found) in rows:
        if i >= min(first.size, other.size) or expected == found:
            continue
        order = name == "id" and set(map(str, first[name])) == set(map(str, other[other_name]))
        advice = "sort both files by id" if order else "give the same samples in the same order"
        raise other.error(
            f"{other_name!r} of sample {i} isn't {first.path}'s: "
            f"{_short(found)} and {_short(expected)}; {advice}",
            i,
        )


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


def _foot(ranking: Ranking) -> list[str]:
    """What is said below the table."""
    about = "differences and p are those of the samples that both systems have scores of"
    return [line for line in (ranking.sentence, about if ranking.left_out else "") if line]


def _document(reports: Mapping[str, Report], ranking: Ranking) -> dict[str, Any]:
    baseline, *_ = ranking.systems
    document: dict[str, Any] = {
        "baseline": baseline,
        "samples": next(iter(reports.values())).size,
        "scores": {label(name): report.scores() for name, report in reports.items()},
        "sentence": ranking.sentence,
        "ranks": ranking.ranks,
        "comparisons": ranking.against(baseline),
        "pairs": [
            {"system": system, "other": other, "comparisons": found}
            for (system, other), found in ranking.pairs.items()
            if other != baseline
        ],
    }
    notes = {label(name): found for name, report in reports.items() if (found := report.notes())}
    return document | ({"notes": notes} if notes else {})
