"""Captions: what is said below tables of scores of how they were made and what marks mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isnan, nan
from typing import TYPE_CHECKING

from metrichub.errors import listed
from metrichub.evaluation.power import roughly, units_in_words
from metrichub.evaluation.resample import EXTENDED
from metrichub.evaluation.significance import (
    HEADLINES_ONLY,
    MID_P,
    RANDOMIZATION,
    SignificanceOptions,
    is_significant,
    p_text,
)
from metrichub.report.headline import headline, short_label
from metrichub.report.rows import (
    HEADLINES,
    TIE,
    Intervals,
    OutputColumn,
    ScoreFormat,
    merged_columns,
    output_columns,
    test_of,
)
from metrichub.report.scoreboard import scoreboard
from metrichub.report.tables import Cell, Score, Table

if TYPE_CHECKING:
    from metrichub.evaluation.measurement import Measurement
    from metrichub.evaluation.paired_tests import PairedTests
    from metrichub.evaluation.significance import Comparison, Pair

_USUAL = SignificanceOptions()
_BOLD = "the best of the column", "what is significantly better"
"""Of several systems, and of two."""


def captioned(
    reports: Mapping[str, Measurement],
    tests: PairedTests | None,
    intervals: Mapping[str, Intervals],
    form: ScoreFormat,
    options: SignificanceOptions = _USUAL,
) -> Table:
    """A scoreboard with a sentence as its caption; samples, intervals, tests and signatures below.

    Of two systems, the cells of the second have p in place of ranks. `options` are those of the
    intervals.
    """
    board = scoreboard(reports, tests, intervals, form)
    if tests and len(reports) == 2:
        board = _with_p(board, tests, merged_columns(reports, form))
    size = next(iter(reports.values())).size
    about = about_intervals(reports, intervals, form, options)
    method = [f"{size:,} {'sample' if size == 1 else 'samples'}.", about, about_tests(board, tests)]
    caption = str(headline(tests, form.percent)) if tests else method.pop(0)
    if marks := legend(board, tests):
        caption += f" {marks}."
    below = " ".join(filter(None, method))
    return board._replace(caption=caption, method=below, signatures=signatures_of(reports))


def _with_p(board: Table, tests: PairedTests, columns: Sequence[OutputColumn]) -> Table:
    """The scoreboard of two systems without ranks; p follows the scores of the second."""
    first, *_ = tests.systems
    rows: list[list[Cell]] = []
    for row in board.rows:
        cells: list[Cell] = [*row[: -len(columns)]]
        for column, cell in zip(columns, row[-len(columns) :], strict=True):
            test = test_of(tests, (str(row[0]), first), column)
            p = f"({p_text(test.p)})" if test and not isnan(test.p) else ""
            if isinstance(cell, Score):
                beside = f"{cell.interval} {p}".strip()
                cell = cell._replace(mark="", interval=beside)
            cells.append(cell)
        rows.append(cells)
    return board._replace(rows=rows)


def signatures_of(reports: Mapping[str, Measurement]) -> list[str]:
    """The signatures of the metrics; several for a metric in which the systems differ."""
    signatures = (text for report in reports.values() for text in report.signatures().values())
    return list(dict.fromkeys(signatures))


def legend(table: Table, tests: PairedTests | None) -> str:
    """The meaning of a scoreboard's marks; "" without any."""
    if not tests or not any(isinstance(c, Score) and c.mark for row in table.rows for c in row):
        return ""
    by = " by people's labels" if tests.options.calibrate is not None else ""
    p = tests.options.threshold
    return f"{TIE} not significantly worse than the best of the column{by} (p > {p})"


def about_intervals(
    reports: Mapping[str, Measurement],
    intervals: Mapping[str, Intervals],
    form: ScoreFormat,
    options: SignificanceOptions = _USUAL,
) -> str:
    """How the intervals in brackets were made, and why scores have none."""
    columns, systems = output_columns(reports, form), intervals.values()
    _, cluster = next(iter(reports.values())).clustered(options.cluster)
    methods = {i[c.metric][c.output].method for i in systems for c in columns if c.metric in i}
    drawn = "resamples" if cluster is None else f"resamples that draw each {cluster} whole"
    number = f" ({options.resamples:,} {drawn})"
    how = []
    if any(name.startswith("bootstrap") for name in methods):
        how.append(f"by the bootstrap{number}")
    if mixed := "Wilson, bootstrap standard error" in methods:
        draws = "" if how else number
        how.append(f"by Wilson's method with the bootstrap's standard error{draws}")
    if "Wilson" in methods:
        how.append("by Wilson's method alone" if mixed else "by Wilson's method")
    sentences = (
        [f"In brackets: {options.confidence * 100:g}% intervals {listed(how)}."] if how else []
    )
    lacking = without_intervals(columns, intervals)
    return " ".join([*sentences, *(f"{line[0].upper()}{line[1:]}." for line in lacking)])


def without_intervals(
    columns: Sequence[OutputColumn], intervals: Mapping[str, Intervals], of: str = ""
) -> list[str]:
    """Which of the shown outputs have no interval and why, a line a reason."""
    reasons: dict[str, list[str]] = {}
    for column in columns:
        of_column = {
            name: by_metric[column.metric][column.output]
            for name, by_metric in intervals.items()
            if column.output in by_metric.get(column.metric, {})
        }
        for why in dict.fromkeys(interval.why for interval in of_column.values()):
            names = [name for name, interval in of_column.items() if interval.why == why]
            if why:
                some = f" of {listed(names)}" if len(names) < len(of_column) else ""
                reasons.setdefault(why, []).append(f"{column.label}{some}")
    return [f"no interval for {of}{listed(labels)}: {why}" for why, labels in reasons.items()]


def without_differences(tests: PairedTests, form: ScoreFormat) -> list[str]:
    """Which of the shown differences from the first system have no interval, or no p, and why."""
    intervals: dict[str, Intervals] = {
        name: {
            metric: {output: test.interval for output, test in outputs.items()}
            for metric, outputs in compared.items()
        }
        for name, compared in tests.against(tests.systems[0]).items()
    }
    columns = output_columns(tests.reports, form)
    lacking = without_intervals(columns, intervals, "the difference in ")
    if len(columns) > len(output_columns(tests.reports, HEADLINES)):
        lacking.append(HEADLINES_ONLY)
    return lacking


def power_line(tests: PairedTests, form: ScoreFormat) -> str:
    """The true differences that these samples would show, where nothing differs; "" without any.

    They are of headline outputs. Of several systems it is the largest that a pair with the best
    would need.
    """
    shown: list[str] = []
    cluster = tests.options.cluster
    units = about = ""
    for column in merged_columns(tests.reports, ScoreFormat(percent=form.percent)):
        compared = {pair: t for pair in tests.pairs if (t := test_of(tests, pair, column))}
        if any(is_significant(test.p, tests.options.confidence) for test in compared.values()):
            continue
        with_best = _with_best(compared, column)
        smallest = max((test.shows for test in with_best), default=nan)
        reports = (report.results.get(column.metric) for report in tests.reports.values())
        scale = next(filter(None, reports)).scale(column.output)
        low, high = (scale.low, scale.high) if scale else (None, None)
        width = inf if low is None or high is None else high - low
        if smallest <= width and not any(isnan(test.shows) for test in with_best):
            test = with_best[0]
            units = units_in_words(test.units if cluster else test.samples, cluster)
            if tests.options.calibrate:
                units = f"{test.units:,} labeled samples"
            about = roughly(test.units, cluster)
            shown.append(f"{column.number(smallest)} in {short_label(column)}")
    if not shown:
        return ""
    more = [f"{len(shown) - 3} more"] if len(shown) > 3 else []
    return (
        f"with {units}, a true difference of {about} {listed([*shown[:3], *more])} would be "
        "significant in about 4 of 5 cases"
    )


def _with_best(compared: Mapping[Pair, Comparison], column: OutputColumn) -> list[Comparison]:
    """The tests of the system with the best score; all where neither more nor less is better."""
    if column.better == "neither":
        return [*compared.values()]
    sides = {name: test.score for (name, _), test in compared.items()}
    sides |= {name: test.other for (_, name), test in compared.items()}
    choose = min if column.better == "lower" else max
    best = choose(sides, key=sides.__getitem__, default="")
    return [test for pair, test in compared.items() if best in pair]


def extended_line(tests: PairedTests, form: ScoreFormat) -> str:
    """Which of the shown differences have intervals that were extended to 0; "" without any."""
    baseline, *others = tests.systems
    labels = [
        column.label
        for column in output_columns(tests.reports, form)
        if any(
            test.interval.method.endswith(EXTENDED)
            for name in others
            if (test := test_of(tests, (name, baseline), column))
        )
    ]
    if not labels:
        return ""
    intervals = "intervals" if len(labels) > 1 else "interval"
    return f"extended to 0, as the test isn't significant: the {intervals} of {listed(labels)}"


def about_tests(table: Table, tests: PairedTests | None) -> str:
    """How the best of a scoreboard is shown, and how systems were tested."""
    if not tests:
        return ""
    options = tests.options
    drawn = options.resamples and not options.calibrate
    how = " by a step-down over the resamples" if drawn else " by Holm's method"
    sentences = [
        f"Bold: {_BOLD[len(tests.systems) == 2]}." if table.best else "",
        f"Tests: two-sided paired {listed(_kinds(tests))}, corrected over all pairs of systems and "
        f"the headline outputs of a metric{how}; significant at p ≤ {options.threshold}.",
    ]
    return " ".join(filter(None, sentences))


def _kinds(tests: PairedTests) -> list[str]:
    """The tests that were made of headline outputs, as a caption calls them."""
    of_pairs = (outputs for comparisons in tests.pairs.values() for outputs in comparisons.values())
    kinds = {t.test for outputs in of_pairs for t in outputs.values() if not isnan(t.p)}
    options = tests.options
    together = f", each {options.cluster} swapped whole" if options.cluster else ""
    swaps = f"{RANDOMIZATION} ({options.trials:,} trials{together})"
    every = {MID_P: f"{MID_P} (samples that are 0 or 1)", RANDOMIZATION: swaps}
    return [text for kind, text in every.items() if kind in kinds] or [*kinds] or [swaps]
