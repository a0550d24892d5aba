"""`metrichub compare`: systems side by side on the same samples, with paired tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, fields, replace
from typing import TYPE_CHECKING, Any

import click

from metrichub.catalog.registry import spec_of
from metrichub.cli.measuring import (
    JudgeOptions,
    chosen_hub,
    judge_options,
    measure,
    print_notes,
    print_unranked,
    print_usage,
    with_logs,
)
from metrichub.cli.output import (
    emit,
    format_option,
    output_option,
    result_format,
    write_page,
)
from metrichub.cli.plain_text import TextFiles, text_options
from metrichub.cli.program import Command, is_verbose, note, say
from metrichub.cli.score_options import (
    CompareOptions,
    GateOptions,
    compare_options,
    gate_options,
)
from metrichub.cli.shared_options import (
    Display,
    MetricOptions,
    ResamplingOptions,
    display_options,
    metric_options,
    named_files,
    recorded_option,
    resampling_options,
)
from metrichub.data.files import as_one, format_of, read_batches, read_samples
from metrichub.data.samples import Samples, check_same_samples
from metrichub.data.tidy import in_order, matched, without_long_texts
from metrichub.errors import ReportError
from metrichub.report.tables import Table

if TYPE_CHECKING:
    from metrichub.evaluation.significance import SignificanceOptions
    from metrichub.hub import Hub
    from metrichub.metric import Metric
    from metrichub.report.ranking import Ranking
    from metrichub.report.report import Report
    from metrichub.report.slices import Slices

MOST_DOUBTS = 3
"""Lines below the table that say what to doubt; more are told with --verbose."""


@click.command(cls=Command)
@click.pass_context
@click.argument("files", nargs=-1, metavar="BASELINE FILE...")
@metric_options
@recorded_option
@judge_options
@text_options
@format_option
@output_option
@resampling_options
@click.option(
    "--trials",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    help="The number of random swaps in the test; McNemar's mid-p needs none.",
)
@compare_options
@gate_options
@display_options
def compare(
    context: click.Context,
    files: tuple[str, ...],
    texts: TextFiles,
    chosen: MetricOptions,
    as_recorded: bool,
    judging: JudgeOptions,
    form: str | None,
    output: str | None,
    resampling: ResamplingOptions,
    trials: int,
    comparing: CompareOptions,
    gates: GateOptions,
    display: Display,
) -> None:
    """Compare systems on the same samples; the first FILE is the baseline.

    It says who scores highest on the first metric and whom the test can't tell from it, and shows
    the scores of every headline output; of two systems the difference too, with its paired
    bootstrap interval. p is that of two-sided approximate randomization, or McNemar's mid-p where
    all samples are 0 or 1, corrected over all pairs of systems and the headline outputs of the
    metric. --verbose adds the tests of all pairs, and --outputs all the uncorrected p. With
    --calibrate, the difference is that of people's labels, and Student's t tests it.

    A FILE holds samples, or a report saved with 'metrichub score --save'; name a system as in
    ours=FILE. It may also be a folder with another tool's logs, of one system or of several.
    Plain text has one prediction per line, and -r its references.

    metrichub compare baseline.jsonl ours.jsonl -m bleu -m rouge

    metrichub compare base.txt ours.txt -r ref.txt -m bleu -m chrf -m ter

    metrichub compare results/ --as-recorded

    metrichub compare all.jsonl --systems model --key doc_id -m chrf
    """
    files = chosen.addresses(files)
    named = named_files(files)
    systems: Mapping[str, str | Samples] = named
    plain = texts.are_beside(files, chosen.input_format)
    if comparing.column:
        if len(files) != 1:
            raise click.UsageError("--systems takes one FILE, a table of all systems")
        systems = comparing.split(_read(files[0], chosen), files[0])
    elif plain:
        read_systems = texts.read(named, chosen.where)
        systems = {name: as_one([*samples]) for name, samples in read_systems.items()}
    else:
        systems, chosen = with_logs(named, chosen, as_recorded=as_recorded)
    _check_number(systems, files)
    comparing.check(gates.max_drop)
    example = f"metrichub compare {' '.join(files)}"
    reports, ids = _reports(systems, chosen, judging, comparing, example, texts if plain else None)
    from metrichub.report.headline import headline
    from metrichub.report.ranking import compare_all

    tests = {**asdict(resampling), "trials": trials}
    ranking = compare_all(reports, **tests, calibrate=comparing.calibrate)
    noted, failed = list[str](), list[str]()
    if any(astuple(gates)):
        from metrichub.cli.gates import gated

        noted, failed = gated(ranking, **asdict(gates))
    for line in failed:
        say(line, "failed")
    slices = _slices(reports, comparing.by, ranking.options)
    shown = result_format(form, output)
    emit(
        shown,
        lambda: [
            *_tables(ranking, display, shown),
            *(of_pair.table(reports) for of_pair in slices),
        ],
        lambda: _document(reports, ranking, display, slices),
        output=output,
        top=str(headline(ranking, display.percent)) if shown == "table" else "",
        foot=_foot(ranking, display) if shown == "table" else (),
    )
    write_page(
        comparing.page,
        reports,
        ids,
        **tests,
        ranking=ranking,
        title=comparing.title,
        by=comparing.by,
    )
    print_notes(reports)
    if shown != "table":  # Its foot has said so.
        print_unranked(ranking.withheld)
    print_usage(reports)
    for text in noted:
        note(text)
    context.exit(1 if failed else 0)


def _check_number(systems: Mapping[str, str | Samples], files: Sequence[str]) -> None:
    """Raise `UsageError` unless there are several systems."""
    if len(systems) >= 2:
        return
    if any(isinstance(samples, Samples) for samples in systems.values()):
        (name,) = systems
        raise click.UsageError(
            f"{files[0]} has one system{'' if name == files[0] else f', {name!r}'}; give another "
            "FILE, the baseline first, or use 'metrichub score'"
        )
    raise click.UsageError(
        "give at least two files, the baseline first, or a folder with logs of several systems; "
        "of one table with all of them, name the column: --systems COLUMN"
    )


def _read(file: str | Samples, chosen: MetricOptions) -> Samples:
    if isinstance(file, Samples):
        return file
    return read_samples(file, where=chosen.where, **chosen.reading())


def _slices(
    reports: Mapping[str, Report], by: str | None, options: SignificanceOptions
) -> list[Slices]:
    """The groups of samples by a column, with tests of every other system against the first."""
    if by is None:
        return []
    from metrichub.report.groupings import groupings_of
    from metrichub.report.slices import slices_of

    baseline, *others = reports
    groupings = [g for g in groupings_of(reports, by=by) if g.key == by]
    return [slices_of(reports, groupings, (other, baseline), options) for other in others]


def _tables(ranking: Ranking[Any], display: Display, form: str) -> Sequence[Table]:
    """The tables of a format."""
    options: dict[str, Any] = {"outputs": display.outputs}
    if form == "csv":
        return [ranking.table(**options)]
    options |= {"intervals": display.with_intervals, "percent": display.percent}
    if form in ("markdown", "latex"):
        return [ranking.captioned(**options)]
    board = ranking.board(**options)
    return [board, ranking.tables(**options)[1]] if is_verbose() else [board]


def _foot(ranking: Ranking[Any], display: Display) -> Sequence[str]:
    lines = [
        *ranking.foot(
            outputs=display.outputs, intervals=display.with_intervals, percent=display.percent
        )
    ]
    if not is_verbose():
        more = len(lines) - 1 - MOST_DOUBTS
        lines = lines[: MOST_DOUBTS + 1]
        if more > 0:
            lines.append(f"{more} more {'note' if more == 1 else 'notes'}: --verbose")
    if display.with_signatures or is_verbose():
        lines += ranking.signatures()
    return lines


def _reports(
    files: Mapping[str, str | Samples],
    chosen: MetricOptions,
    judging: JudgeOptions,
    comparing: CompareOptions,
    example: str,
    texts: TextFiles | None,
) -> tuple[dict[str, Report], Sequence[Any] | None]:
    """The report of every file, and the samples' ids: a saved one is read, samples are measured."""
    saved = _saved(files)
    fresh = {name: file for name, file in files.items() if name not in saved}
    metrics: Sequence[Any] = chosen.metrics
    if saved:
        choosing = {"--common": comparing.matching, "--where": chosen.where or None}
        for option, value in (choosing | {"--max-words": comparing.max_words}).items():
            if value is not None:
                raise click.UsageError(
                    f"{next(iter(saved))} is a saved report, whose samples {option} can't choose; "
                    "give the samples"
                )
        metrics = _metrics(metrics, saved)
        names = [metric.name for metric in metrics]
        saved = {name: _only(name, report, names) for name, report in saved.items()}
    if not fresh:
        return saved, None
    hub = chosen_hub(metrics, chosen, example, judging)
    if texts:
        texts.check(hub.needs())
    if comparing.bucket_key:
        # Large files, read by parts; the buckets tell whether systems were given the same.
        parts = {
            name: [file]
            if isinstance(file, Samples)
            else read_batches(file, where=chosen.where, **chosen.reading())
            for name, file in fresh.items()
        }
        measured = measure(hub, parts, chosen, judging, samples=False, key=comparing.bucket_key)
    else:
        systems = _paired(hub, fresh, chosen, comparing, bool(saved))
        batches = {name: [samples] for name, samples in systems.items()}
        measured = measure(hub, batches, chosen, judging, texts=True)
    ids = next(filter(None, (report.metadata.get("id") for report in measured.values())), None)
    return {name: (saved | measured)[name] for name in files}, ids


def _paired(
    hub: Hub,
    files: Mapping[str, str | Samples],
    chosen: MetricOptions,
    comparing: CompareOptions,
    beside_saved: bool,
) -> Mapping[str, Samples]:
    """The samples of every file in one order, matched where an option says so."""
    matching = comparing.matching
    systems: Mapping[str, Samples] = {name: _read(file, chosen) for name, file in files.items()}
    if chosen.tries or hub.reads_tries():
        systems = {
            name: hub.by_task(samples, chosen.tries, chosen.columns)
            for name, samples in systems.items()
        }
    if matching is not None:
        systems = matched(systems, matching, comparing.common, chosen.columns.values())
    elif not beside_saved:
        systems = in_order(systems)
    shown = check_same_samples(systems, hub.needs(), chosen.columns, hub.system_columns())
    if not shown and matching is None:
        note(
            "samples are paired by their position: the files have no ids, nor a column that the "
            "metrics read and the systems share"
        )
    if comparing.max_words:
        systems = without_long_texts(systems, comparing.max_words, hub.needs(), chosen.columns)
    return systems


def _saved(files: Mapping[str, str | Samples]) -> dict[str, Report]:
    """The saved reports among the files."""
    from metrichub.report.report import Report
    from metrichub.report.saved import load_if_report

    loaded = {
        name: load_if_report(file)
        for name, file in files.items()
        if isinstance(file, str) and format_of(file) == "json"
    }
    return {name: Report.of(report) for name, report in loaded.items() if report}


def _metrics(specs: Sequence[str], saved: Mapping[str, Report]) -> Sequence[Metric]:
    """The metrics of the specs, or else all of the first saved report.

    Those that the report has are taken from it, with its judge: nothing of it is judged anew.
    """
    from metrichub.metric import load_metric

    file, first = next(iter(saved.items()))
    saved_metrics = {name: result.metric for name, result in first.results.items()}
    metrics = []
    for spec in specs:
        requested = load_metric(spec)
        metric = saved_metrics.get(requested.name, requested)
        if not _fits(metric, requested, spec_of(spec).parameters):
            raise ReportError(
                f"{file} has {metric.label()}, not {requested.label()}; score its samples again, "
                "or leave -m out"
            )
        if metric is not requested and _label(metric) != _label(requested):
            note(f"all systems are scored as in {file}: {_label(metric)}")
        if metric in metrics:
            raise click.UsageError(f"{metric.name} is chosen twice; leave one -m out")
        metrics.append(metric)
    return metrics or list(saved_metrics.values())


def _fits(saved: Metric, requested: Metric, named: Iterable[str]) -> bool:
    """Whether a saved metric has the parameters that are named of the one that is asked for."""
    if type(saved) is not type(requested):
        return False
    # A judge may be named in several ways, and 0 is 0.0.
    candidates = (replace(saved, **{name: getattr(requested, name)}) for name in named)
    return all(candidate == saved or candidate.label() == saved.label() for candidate in candidates)


def _label(metric: Metric) -> str:
    """The metric's label without its judge and embedder, which a saved report decides on."""
    services = {"judge", "embedder"} & {field.name for field in fields(metric)}
    none: dict[str, Any] = dict.fromkeys(services)
    return replace(metric, **none).label()


def _only(name: str, report: Report, metrics: Sequence[str]) -> Report:
    """A saved report reduced to the metrics that were asked for."""
    for metric in metrics:
        if metric not in report.results:
            raise ReportError(f"{name} has no {metric}; it has: {', '.join(report.results)}")
    return replace(report, results={metric: report.results[metric] for metric in metrics})


def _document(
    reports: Mapping[str, Report],
    ranking: Ranking[Any],
    display: Display,
    slices: Sequence[Slices],
) -> dict[str, Any]:
    """The ranking for JSON, with what else was asked for or is to be known."""
    from metrichub.report.notes import notes_of

    document = ranking.to_dict()
    if display.with_intervals:
        document["intervals"] = ranking.intervals()
    notes = {name: notes_of(report) for name, report in reports.items()}
    if any(notes.values()):
        document["notes"] = {name: texts for name, texts in notes.items() if texts}
    if display.with_signatures:
        document["signatures"] = next(iter(reports.values())).signatures()
    if slices:
        document["slices"] = [row for of_pair in slices for row in of_pair.rows()]
    return document
