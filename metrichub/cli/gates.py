"""Gates of `compare`: what fails a build, and how many samples would show a difference."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from math import ceil, nan, sqrt

import click

from metrichub.cli.program import note
from metrichub.cli.shared_options import ResamplingOptions
from metrichub.errors import MetrichubError
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.power import LEAST_UNITS, needed_units
from metrichub.evaluation.significance import Comparison, p_text
from metrichub.evaluation.thresholds import Threshold
from metrichub.report.ranking import Ranking
from metrichub.report.report import Report
from metrichub.report.rows import ScoreFormat, output_columns, rows_of


def lost(ranking: Ranking, others: Collection[tuple[str, str]]) -> Iterator[str]:
    """The headline outputs on which a system is worse than the baseline, or isn't tested.

    Of `others` a margin decides.
    """
    rows = rows_of(ranking.reports, output_columns(ranking.reports, ScoreFormat()), ranking)
    for system in ranking.systems:
        for row in rows:
            lost = row.system == system and row.verdict in ("worse", "no winner", "not tested")
            if row.column[:2] in others:
                continue
            if lost and row.test and row.column.better != "neither":
                yield str(row.test.sentence)


def named_difference(option: str, text: str, reports: Mapping[str, Measurement]) -> Threshold:
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


def dropped(ranking: Ranking, drop: Threshold) -> Iterator[str]:
    """A line for each system that scores worse than the baseline by more than allowed."""
    baseline, *others = ranking.systems
    metric, output = drop[:2]
    card = ranking.reports[baseline].results[metric].metric.card
    before = ranking.scores[baseline][metric][output]
    for name in others:
        score = ranking.scores[name][metric][output]
        lost = score - before if card.better(output) == "lower" else before - score
        if not lost <= drop.value + 1e-12:
            yield (
                f"{name} is worse than {baseline} by {lost:.4g} on {drop.shown} ({before:.4g} to "
                f"{score:.4g}), more than {drop.value:g}"
            )


def not_shown(ranking: Ranking, margin: Threshold) -> Iterator[str]:
    """A line for each system that isn't shown to be within the margin; a note for the others."""
    baseline, *others = ranking.systems
    level = ranking.options.level
    for name in others:
        shown = ranking.not_worse(name, margin.name, margin.value, level=level)
        text = f"than {baseline} by more than {margin.value:g} on {margin.shown}"
        if shown.shown:
            note(f"{name} is not worse {text} ({p_text(shown.p)})")
            continue
        if shown.why:
            yield f"{name} can't be shown not to be worse {text}: {shown.why}"
            continue
        test = ranking.against(baseline)[name][margin.metric][margin.output]
        yield (
            f"{name} may be worse {text} (difference {shown.difference:+.4g}, with "
            f"{100 * shown.level:g}% confidence no less than {shown.low:+.4g}); "
            f"{_units(ranking, test, shown.needed)} would show it of a system that is as good"
        )


def samples_for(ranking: Ranking, difference: Threshold) -> str:
    """How many samples a true difference takes, for the pair with the baseline that takes most."""
    baseline, *_ = ranking.systems
    tests = [
        own[difference.metric][difference.output] for own in ranking.against(baseline).values()
    ]
    if not all(test.se > 0 and test.units >= LEAST_UNITS for test in tests):
        return f"{difference.shown}: these samples don't tell how its differences vary"
    level = ranking.options.level
    needed = max(test.needed(difference.value, level=level) for test in tests)
    return (
        f"{difference.shown}: a true difference of {difference.value:g} would be significant in "
        f"about 4 of 5 cases with {_units(ranking, tests[0], needed)} like these"
    )


def pilot(report: Report, difference: Threshold, resampling: ResamplingOptions) -> str:
    """How many samples a true difference from another system takes at most.

    Of two systems that have nothing in common, so that their errors add up; of the same samples,
    most systems have much in common.
    """
    metric, output = difference.metric, difference.output
    drawn = report.intervals(metrics=metric, **asdict(resampling))[metric][output]
    units = report.units(report.results[metric], resampling.cluster).number
    if not drawn.std > 0 or units < LEAST_UNITS:
        return f"{difference.shown}: these samples don't tell how its scores vary"
    error = drawn.std * sqrt(2 * units / (units - 1))
    needed = needed_units(error, units, difference.value, resampling.level)
    kind = f"clusters by {resampling.cluster}" if resampling.cluster else "samples"
    return (
        f"{difference.shown}: a true difference of {difference.value:g} from another system would "
        f"be significant in about 4 of 5 cases with at most {needed:,} {kind} like these, as many "
        "as systems need that have nothing in common"
    )


def _units(ranking: Ranking, test: Comparison, needed: int | None) -> str:
    """So many units in words; buckets as the samples that they would hold."""
    cluster, number = ranking.options.cluster, needed or 0
    if cluster is None:
        number = ceil(number * test.samples / test.units)
    about = "about" if test.units >= (30 if cluster else 100) else "at least"
    return f"{about} {number:,} {f'clusters by {cluster}' if cluster else 'samples'}"
