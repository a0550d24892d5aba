"""`metrichub score`: files in, a table of scores out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from metrichub.catalog.requirements import CALIBRATION, optional_package
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
from metrichub.cli.output import emit, format_option, output_option, result_format, terminal_width
from metrichub.cli.plain_text import TextFiles, text_options
from metrichub.cli.program import Command, note, say
from metrichub.cli.score_options import (
    Results,
    ThresholdOptions,
    failures,
    result_options,
    threshold_options,
)
from metrichub.cli.shared_options import (
    Display,
    MetricOptions,
    ResamplingOptions,
    detect_option,
    display_options,
    metric_options,
    named_files,
    recorded_option,
    resampling_options,
)
from metrichub.data.files import Samples, as_one, read_batches
from metrichub.data.huggingface import read_splits
from metrichub.data.location import Location
from metrichub.data.samples import Reading, samples_where
from metrichub.data.tidy import without_long_texts
from metrichub.errors import InputError
from metrichub.report.tables import Table

if TYPE_CHECKING:
    from metrichub.hub import Hub
    from metrichub.models.usage import Usage
    from metrichub.report.report import Report


@click.command(cls=Command)
@click.argument("files", nargs=-1, metavar="[FILE]...")
@metric_options
@recorded_option
@judge_options
@click.option(
    "--estimate", is_flag=True, help="Count the calls to judges and their tokens; makes none."
)
@click.option(
    "-p", "--predictions", metavar="FILE", help="Predictions as plain text, one per line."
)
@text_options
@format_option
@output_option
@display_options
@result_options
@resampling_options
@threshold_options
@detect_option
@click.pass_context
def score(
    context: click.Context,
    files: tuple[str, ...],
    predictions: str | None,
    texts: TextFiles,
    chosen: MetricOptions,
    as_recorded: bool,
    judging: JudgeOptions,
    estimate: bool,
    form: str | None,
    output: str | None,
    display: Display,
    results: Results,
    resampling: ResamplingOptions,
    bounds: ThresholdOptions,
    detect: tuple[str, ...],
) -> None:
    """Score files of samples (JSONL, JSON, CSV, TSV, Parquet) in a table.

    - is JSONL from stdin. Files may be compressed (.gz, .zst), and at addresses such as s3:// or
    https://. Logs of lm-evaluation-harness, inspect, HELM, lighteval, promptfoo, ragas and deepeval
    can be scored as they are, also a folder of them; --as-recorded reports the numbers in them. A
    FILE may also be a folder of Parquet files, or hf://NAME for a data set on the Hugging Face Hub
    or on disk. Several FILEs are several systems, shown side by side and named after their files,
    or by you as in ours=FILE; so are the splits of a data set, unless you choose one. Columns are
    recognized by their usual names (prediction, response, summary; reference, target, gold; source,
    article; ...).

    metrichub score outputs.jsonl -m bleu -m 'bleu2 = bleu(max_order=2)'

    metrichub score predictions.txt -r references.txt -m wer --fail-over wer=0.25
    """
    if files and predictions:
        raise click.UsageError("give the predictions as FILEs or by -p, not both")
    files = (predictions,) if predictions else chosen.addresses(files)
    if not files:
        raise click.UsageError("nothing to score; give a FILE, or FILE -r FILE, or - for stdin")
    plain = texts.are_beside(files, chosen.input_format) or predictions is not None
    example = f"metrichub score {' '.join(files)}"
    named = named_files(files)
    unread: Mapping[str, str | Samples] = named
    unread, chosen = with_logs(named, chosen, as_recorded=as_recorded)
    # Without -m, the name of a metric looks like a file.
    systems = texts.read(named, chosen.where) if plain else _unread_systems(unread, chosen)
    results.check(len(systems))
    if number := results.label_samples:
        labels = optional_package(CALIBRATION, "--sample-for-labels")
        labels.show_for_labels(systems, number, resampling.seed, output)
        return
    hub = chosen_hub(chosen.metrics, chosen, example, judging)
    if plain:
        texts.check(hub.needs())
    thresholds = bounds.of(hub)
    if results.max_words:
        alike = len(systems) == len(unread)  # Splits have samples of their own.
        systems = _short(systems, results.max_words, hub, chosen, alike)
    shown = result_format(form, output)
    by, number = results.worst_of(hub, shown)
    several = len(systems) > 1
    if detect and several:
        raise click.UsageError("--detect plans with one system; 'metrichub compare' with several")
    if resampling.cluster != "auto" and not (display.with_intervals or results.page or several):
        raise click.UsageError(
            "--cluster has an effect only with --intervals or --report; add one of them"
        )
    if estimate:
        _show_estimate(hub, systems, chosen.columns, judging.repeats, form, output)
        return
    # Samples have fingerprints, which tell whether systems were given the same.
    resampled = display.with_intervals or results.need_samples or bool(detect) or several
    reports = measure(
        hub,
        systems,
        chosen,
        judging,
        samples=resampled and not results.key,
        texts=results.need_texts,
        key=results.key,
    )
    if len(systems) == len(unread):  # Splits have samples of their own.
        _same_size(reports)
    if not resampled:  # So that no note is about intervals and tests.
        reports = {name: report.pool() for name, report in reports.items()}
    listed = reports if results.by is None else _grouped(reports, results.by)
    intervals = {
        name: report.intervals(**asdict(resampling))
        for name, report in listed.items()
        if display.with_intervals
    }
    from metrichub.cli.score_results import (
        ScoreTables,
        calibrated_document,
        calibrated_of,
        with_calibrated,
        worst_of,
        write_files,
    )
    from metrichub.evaluation.merge import unranked

    score_tables = ScoreTables(listed, intervals, display, resampling)
    calibrated = calibrated_of(reports, results.calibrate, resampling.confidence)
    narrow = terminal_width(shown, output) is not None
    worst, rows = worst_of(reports, by, number, display.percent, narrow)
    emit(
        shown,
        lambda: [*with_calibrated(score_tables.tables(shown), calibrated, shown), *worst],
        lambda: {**score_tables.document(), **calibrated_document(calibrated), **rows},
        output=output,
        top=score_tables.top() if shown == "table" else "",
        foot=score_tables.foot() if shown == "table" else (),
    )
    write_files(reports, results, resampling)
    print_notes(reports)
    print_unranked(unranked(reports))
    print_usage(reports)
    for text in detect:
        from metrichub.cli.gates import pilot

        (report,) = reports.values()
        note(pilot(report, text, resampling))
    failed = list(failures(thresholds, {name: report.scores() for name, report in reports.items()}))
    for line in failed:
        say(line, "failed")
    context.exit(1 if failed else 4 if any(report.failed for report in reports.values()) else 0)


def _unread_systems(
    files: Mapping[str, str | Samples], chosen: MetricOptions
) -> dict[str, Iterable[Samples]]:
    """The samples of every system, unread."""
    systems: dict[str, Iterable[Samples]] = {}
    for name, file in files.items():
        if isinstance(file, Samples):
            systems[name] = [file]
            continue
        if Location.of(file).kind != "data set":
            systems[name] = read_batches(file, where=chosen.where, **chosen.reading())
            continue
        splits = {n: samples_where(rows, chosen.where) for n, rows in read_splits(file).items()}
        systems |= {name: next(iter(splits.values()))} if len(splits) == 1 else splits
    return systems


def _short(
    systems: Mapping[str, Iterable[Samples]],
    max_words: int,
    hub: Hub,
    chosen: MetricOptions,
    alike: bool,
) -> dict[str, Iterable[Samples]]:
    """The systems without their long samples; those of all systems if they have them `alike`."""
    read = {name: as_one([*batches]) for name, batches in systems.items()}
    short: dict[str, Samples] = {}
    # Files of other lengths don't have the same samples.
    alike = alike and len({samples.size for samples in read.values()}) == 1
    for group in [read] if alike else [{name: samples} for name, samples in read.items()]:
        short |= without_long_texts(group, max_words, hub.needs(), chosen.columns)
    return {name: [samples] for name, samples in short.items()}


def _show_estimate(
    hub: Hub,
    systems: Mapping[str, Iterable[Samples]],
    columns: Mapping[str, str],
    repeats: int,
    form: str | None,
    output: str | None,
) -> None:
    """Print the calls and tokens that scoring these files would take."""
    # Loads numpy, which --help does without.
    from metrichub.report.export import usage_counts

    usages: dict[str, Usage] = {}
    for name, batches in systems.items():
        reading = Reading(batches, hub.needs(), columns)
        try:
            usages[name] = hub.estimate(iter(reading), columns=columns, repeats=repeats)
        except InputError as error:
            raise reading.located(error) from error
    rows = [
        (
            name,
            f"{usage.calls:,}",
            f"{usage.cached:,}",
            f"{usage.prompt_tokens:,}",
            f"{usage.completion_tokens:,}",
            "no prices given" if usage.money is None else f"{usage.money:,.4f}",
        )
        for name, usage in usages.items()
    ]
    head = ("file", "calls", "reused", "prompt tokens", "completion tokens", "money")
    emit(
        result_format(form, output),
        lambda: [Table(head, rows)],
        lambda: {
            "estimate": {name: usage_counts(usage, seconds=False) for name, usage in usages.items()}
        },
        output=output,
    )
    if any(usage.calls for usage in usages.values()):
        note(
            "a rough estimate, correct to an order of magnitude, which counts four bytes as a "
            "token and a sentence as a claim; retries come on top"
        )


def _grouped(reports: Mapping[str, Report], by: str) -> dict[str, Report]:
    """The reports, each followed by those of its groups."""
    listed: dict[str, Report] = {}
    for name, report in reports.items():
        listed[name] = report
        groups = report.by(by)
        shown = {value: "" if value is None else str(value) for value in groups}
        others = {text for value, text in shown.items() if not isinstance(value, str)}
        for value, group in groups.items():
            # Quotes distinguish the text "1" from the number 1, and "" from no value.
            label = f"{by}={repr(value) if value in others else shown[value]}"
            listed[f"{name}, {label}" if len(reports) > 1 else label] = group
    return listed


def _same_size(reports: Mapping[str, Report]) -> None:
    """Raise `InputError` if the systems can't have been given the same samples."""
    (first, report), *others = reports.items()
    for name, other in others:
        if other.size != report.size:
            raise InputError(
                f"{first} has {report.size} samples, but {name} {other.size}; systems "
                "side by side need the same samples, so score files of different samples one by one"
            )
