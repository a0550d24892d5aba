"""Gates of `compare`: what fails a build, and how many samples would show a difference."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from math import isnan, nan, sqrt
from typing import Any

import click

from metrichub.cli.shared_options import ResamplingOptions
from metrichub.errors import MetrichubError, listed
from metrichub.evaluation.margins import needed_in_words
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.power import LEAST_UNITS, needed_units, units_in_words
from metrichub.evaluation.thresholds import Threshold
from metrichub.report.headline import short_label
from metrichub.report.ranking import Ranking
from metrichub.report.report import Report
from metrichub.report.rows import ScoreFormat, merged_columns, output_columns, rows_of


def gated(
    ranking: Ranking[Any],
    *,
    fail_if_worse: bool,
    max_drop: Sequence[str],
    margin: Sequence[str],
    detect: Sequence[str],
) -> tuple[list[str], list[str]]:
    """The lines to print and the failures, by the differences that options name.

    With `fail_if_worse`, no system may be significantly worse than the baseline; on outputs that
    have a margin, that decides.

    Raises:
        UsageError: as `_named`.
    """
    # The margin of all outputs leaves those that have one of their own.
    ordered = sorted(margin, key=lambda text: "=" in text)
    margins = {bound[:2]: bound for text in ordered for bound in _margins(text, ranking.reports)}
    noted: list[str] = []
    failed = _lost(ranking, margins) if fail_if_worse else []
    confidence = ranking.options.confidence
    for bound in margins.values():
        for name in ranking.systems[1:]:
            verdict = ranking.not_worse(name, bound.name, bound.value, confidence=confidence)
            (noted if verdict.shown else failed).append(verdict.sentence)
    for text in max_drop:
        failed += _dropped(ranking, _named("--max-drop", text, ranking.reports))
    noted += [_samples_for(ranking, _named("--detect", text, ranking.reports)) for text in detect]
    return noted, failed


def _lost(ranking: Ranking[Any], others: Collection[tuple[str, str]]) -> list[str]:
    """On which headline outputs, but others, a system is worse than the baseline, or untested."""
    columns = merged_columns(ranking.reports, ScoreFormat())
    columns = [c for c in columns if c.better != "neither" and c[:2] not in others]
    rows = rows_of(ranking.reports, columns, ranking)
    baseline, *tested = ranking.systems
    failed = []
    for name in tested:
        tests = [row for row in rows if row.system == name and row.test]
        if worse := [short_label(row.column) for row in tests if row.verdict == "worse"]:
            failed.append(f"{name} is worse than {baseline} on {listed(worse)}")
        untested = [row.test for row in tests if row.verdict in ("no winner", "not tested")]
        failed += [str(test.sentence) for test in untested if test]
    return failed


def _margins(text: str, reports: Mapping[str, Measurement]) -> list[Threshold]:
    """The margin of one output, or of all headline outputs of which more or less is better."""
    columns = output_columns(reports, ScoreFormat()) if "=" not in text else ()
    columns = [c for c in columns if c.better != "neither"] or columns[:1]
    names = [f"{c.metric}.{c.output}={text}" for c in columns]
    return [_named("--margin", name, reports) for name in names or [text]]


def _named(option: str, text: str, reports: Mapping[str, Measurement]) -> Threshold:
    """The output and the size of a difference, as an option has them.

    Raises:
        UsageError: it isn't a difference of an output that was scored.
    """
    metrics = {n: r.metric for n, r in next(iter(reports.values())).results.items()}
    try:
        difference = Threshold.parse(text, ">=")
        difference._replace(value=nan).check(metrics)
    except MetrichubError as error:
        raise click.UsageError(f"{option}: {error}") from error
    if difference.sign != ">=" or difference.value <= 0:
        raise click.UsageError(f"{option} {text!r} isn't a difference; write METRIC=N, N above 0")
    if metrics[difference.metric].card.better(difference.output) == "neither":
        raise click.UsageError(f"{option}: neither more nor less is better for {difference.shown}")
    return difference


def _dropped(ranking: Ranking[Any], drop: Threshold) -> Iterator[str]:
    """A line for each system that scores worse than the baseline by more than allowed."""
    baseline, *others = ranking.systems
    metric, output = drop[:2]
    card = ranking.reports[baseline].results[metric].metric.card
    scores = ranking.scores()
    before = scores[baseline][metric][output]
    for name in others:
        score = scores[name].get(metric, {}).get(output, nan)
        lost = score - before if card.better(output) == "lower" else before - score
        if isnan(lost):
            yield f"{name} can't be compared with {baseline} on {drop.shown}: a score is missing"
        elif not lost <= drop.value + 1e-12:
            yield (
                f"{name} is worse than {baseline} by {lost:.4g} on {drop.shown} ({before:.4g} to "
                f"{score:.4g}), more than {drop.value:g}"
            )


def _samples_for(ranking: Ranking[Any], difference: Threshold) -> str:
    """How many samples a true difference takes, for the pair with the baseline that takes most."""
    baseline, *_ = ranking.systems
    tests = [
        of_system[difference.metric][difference.output]
        for of_system in ranking.against(baseline).values()
        if difference.metric in of_system
    ]
    if not tests or not all(test.se > 0 and test.units >= LEAST_UNITS for test in tests):
        return f"{difference.shown}: these samples don't tell how its differences vary"
    confidence = ranking.options.confidence
    needed = max(test.needed(difference.value, confidence=confidence) for test in tests)
    units = needed_in_words(needed, tests[0], ranking.options.cluster)
    return (
        f"{difference.shown}: a true difference of {difference.value:g} would be significant in "
        f"about 4 of 5 cases with {units} like these"
    )


def pilot(report: Report, text: str, resampling: ResamplingOptions) -> str:
    """How many samples a true difference from another system takes at most.

    Of two systems that have nothing in common, so that their errors add up; of the same samples,
    most systems have much in common.
    """
    difference = _named("--detect", text, {"": report})
    metric, output = difference[:2]
    drawn = report.intervals(metrics=metric, **asdict(resampling))[metric][output]
    measurement, cluster = report.clustered(resampling.cluster)
    units = measurement.units(report.results[metric], cluster).number
    if not drawn.std > 0 or units < LEAST_UNITS:
        return f"{difference.shown}: these samples don't tell how its scores vary"
    error = drawn.std * sqrt(2 * units / (units - 1))
    needed = needed_units(error, units, difference.value, resampling.confidence)
    units_needed = units_in_words(needed, cluster)
    return (
        f"{difference.shown}: a true difference of {difference.value:g} from another system would "
        f"be significant in about 4 of 5 cases with at most {units_needed} like these, as many "
        "as systems need that have nothing in common"
    )
