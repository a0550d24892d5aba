"""`metrichub agreement`: how far metrics agree with the people who rated the same outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from metrichub.agreement.options import (
    CorrelationOptions,
    RatingOptions,
    correlation_options,
    rating_options,
)
from metrichub.catalog.listing import screen_width
from metrichub.cli.measuring import JudgeOptions, judge_options, print_notes, print_usage
from metrichub.cli.output import (
    emit,
    format_option,
    output_file,
    output_option,
    report_option,
    result_format,
    title_option,
    write_page,
)
from metrichub.cli.program import Command, is_verbose, note, say, screened
from metrichub.cli.shared_options import MetricOptions, metric_options
from metrichub.data.files import replacing
from metrichub.errors import did_you_mean

if TYPE_CHECKING:
    from metrichub.agreement.agreement import Agreement
    from metrichub.agreement.agreement_inputs import Place


_WIDEST, _MANY = 100, 10
_NOT_CHOOSING = {
    *("protocol", "level", "coefficient", "cut", "threshold", "draw", "draws", "yes_from"),
    *("data", "all_outputs", "with_ranks", "plot", "fail_under"),
}


@click.command(cls=Command)
@click.argument("file", metavar="FILE")
@metric_options
@judge_options
@rating_options
@correlation_options
@format_option
@output_option
@click.option(
    "--write",
    "data",
    metavar="NAME",
    help="Write the result next to the metrics' cards, with NAME as the name of the data.",
)
@click.option(
    "--all-outputs", is_flag=True, help="Show all outputs, not only the headline outputs."
)
@click.option(
    "--ranks", "with_ranks", is_flag=True, help="Add the metrics' ranks, by permutation tests."
)
@click.option(
    "--cite",
    "with_citations",
    is_flag=True,
    help="Add signatures, and in text and JSON the BibTeX.",
)
@click.option(
    "--plot", metavar="FILE", callback=output_file, help="Draw a forest plot to FILE (.png, .svg)."
)
@report_option
@title_option
@click.option(
    "--fail-under",
    metavar="METRIC=N",
    multiple=True,
    help="Exit with 1 if the agreement is below N.",
)
@click.pass_context
def agreement(
    context: click.Context,
    file: str,
    chosen: MetricOptions,
    judging: JudgeOptions,
    rated: RatingOptions,
    how: CorrelationOptions,
    form: str | None,
    output: str | None,
    data: str | None,
    all_outputs: bool,
    with_ranks: bool,
    with_citations: bool,
    plot: str | None,
    page: str | None,
    title: str | None,
    fail_under: tuple[str, ...],
) -> None:
    """Measure how well metrics agree with people who rated the same outputs.

    Without a metric, every installed one is tried that the columns allow and that needs no model.
    The one that agrees best is measured on items that it wasn't chosen by, beside the length of
    the outputs and shuffled ratings:

    metrichub agreement rated.jsonl --human overall

    With metrics, each has a row. The last rows show how well one rater agrees with the others (the
    human ceiling), and chance. Intervals resample items, systems, or both.

    For ratings, yes/no labels or lists of MQM errors, and for scores in the file:

    metrichub agreement rated.jsonl -m rouge -m chrf --human relevance --protocol g-eval

    metrichub agreement rated.jsonl --score my_score --human relevance

    For files with a row per rater, or a row per error that a rater marked:

    metrichub agreement rated.csv -m chrf --human good --rater annotator

    metrichub agreement mqm.tsv -m chrf --severity severity --category category --rater rater
    --item seg_id

    For preferences: two outputs per row; votes between systems in a separate file with the columns
    item, system_a, system_b and winner; a judge that compares the prediction (a) with the
    reference (b):

    metrichub agreement arena.jsonl -m readability --pair answer_a,answer_b --human winner

    metrichub agreement outputs.jsonl -m chrf --preferences votes.csv

    metrichub agreement pairs.jsonl -m pairwise --human winner
    """
    if rated.choose or not (chosen.metrics or rated.score):
        rated = replace(rated, choose=True)
        for parameter in context.command.params:
            typed = context.get_parameter_source(parameter.name or "")
            if parameter.name in _NOT_CHOOSING and typed is ParameterSource.COMMANDLINE:
                raise click.UsageError(f"{parameter.opts[0]} doesn't apply to choosing a metric")
    elif page and (not chosen.metrics or how.each_reference):
        raise click.UsageError(
            "--report shows samples as metrics score them; add -m METRIC"
            if not chosen.metrics
            else "--report shows each sample once; leave out the protocol, which scores each "
            "reference separately"
        )
    from metrichub.agreement.choice import ChosenOutput
    from metrichub.agreement.from_file import correlated
    from metrichub.agreement.tables import brief_lines, document_of, forest, tables_of

    result, scores = correlated(file, chosen, judging, rated, how, all_outputs=all_outputs)
    bounds = [_bound(text, result) for text in fail_under]
    ranks = _ranks(result) if with_ranks else {}
    signatures = [result.line(), *(result.signatures.values() if with_citations else ())]
    if isinstance(result, ChosenOutput):
        signatures = [" ".join(result.sentences()), " · ".join(result.facts()), *signatures]
    form = result_format(form, output)
    has_more_tables = ranks or with_citations or result.judges or result.cut_into_verdicts
    if form == "table" and not (output or has_more_tables or is_verbose()):
        click.echo(screened("\n".join(brief_lines(result, min(screen_width(), _WIDEST)))))
    else:
        emit(
            form,
            lambda: tables_of(result, ranks, signatures, form),
            lambda: document_of(result, ranks, with_citations),
            output=output,
            foot=result.cite().splitlines() if with_citations else signatures,
        )
    if plot:
        with replacing(plot) as new:
            forest(result).savefig(new, format=Path(plot).suffix[1:] or "png")
    of_pairs = rated.pair or rated.preferences
    label = result.metrics[0].partition(".")[0] if rated.choose else None
    shown = [report for report in scores.reports if label is None or label in report.results]
    reports = {Path(file).name: report for report in shown}
    columns = None if of_pairs or rated.choose else rated.names or None
    write_page(page, reports, human=columns, agreement=result, title=title)
    if data:
        _write_studies(result, chosen.metrics, data, each=how.each_reference)
    if len(result.metrics) > _MANY and not of_pairs:
        note(
            f"the best of {len(result.metrics)} rows is too high, as it was chosen by these "
            "ratings; --choose measures it on items that it wasn't chosen by"
        )
    for text in result.notes:
        note(text)
    for report in shown:
        print_notes({file: report})
        print_usage({file: report})
    failed = [line for metric, least in bounds for line in _failures(result, metric, least)]
    for line in failed:
        say(line, "failed")
    errors = any(report.failed for report in scores.reports)
    context.exit(1 if failed else 4 if errors else 0)


def _ranks(result: Agreement) -> dict[Place, dict[str, int]]:
    """The ranks of the metrics for each dimension, level and coefficient."""
    from metrichub.agreement.agreement import place_of

    places = dict.fromkeys(map(place_of, result.rows))
    return {place: result.ranks(**place._asdict()) for place in places if place.level != "average"}


def _bound(text: str, result: Agreement) -> tuple[str, float]:
    """The metric and the least agreement in "rouge.rouge1=0.2"."""
    name, _, number = text.rpartition("=")
    try:
        least = float(number)
    except ValueError:
        least = nan
    if isnan(least):
        raise click.BadParameter(
            f"{text!r} isn't METRIC=N, for example chrf=0.3", param_hint="--fail-under"
        )
    if name not in result.metrics:
        hint = f"{did_you_mean(name, result.metrics)} (metrics: {', '.join(result.metrics)})"
        raise click.UsageError(f"--fail-under {name}: no such metric{hint}")
    return name, least


def _failures(result: Agreement, metric: str, least: float) -> Iterator[str]:
    """A line for each value of a metric that is below the bound, or isn't there."""
    for row in result.rows:
        if row.metric == metric and not row.value >= least:
            what = f"{row.coefficient} of {row.level} with {row.dimension}"
            yield f"{metric}: {what} is {row.value:.4f}, below {least:g}"


def _write_studies(result: Agreement, specs: Sequence[str], data: str, *, each: bool) -> None:
    """Write a study for every metric, and say where.

    Raises:
        UsageError: no metric was given, or one that isn't installed.
    """
    from metrichub.agreement.measured_studies import EACH, add_study, study_of
    from metrichub.catalog.registry import registry, spec_of

    if not specs:
        raise click.UsageError("--write needs -m METRIC, as columns of scores have no card")
    for text in specs:
        spec = spec_of(text)
        entry = registry().find(spec.metric)
        study = study_of(
            result,
            spec.alias or spec.metric,
            spec=text,
            data={"name": data, "title": data},
            references=EACH if each else "references as the metric takes them",
            date=datetime.now(UTC).date().isoformat(),
        )
        changed = add_study(entry.folder, entry.name, study)
        path = entry.folder / "agreement.json"
        todo = f"; 'metrichub check {entry.name} --update' adds it to the card" if changed else ""
        note(f"{'wrote' if changed else 'unchanged:'} {path}{todo}")
