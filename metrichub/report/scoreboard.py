"""Scoreboards: scores as people and programs read them, made of the rows of all systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from metrichub.data.columns import column_of
from metrichub.evaluation.significance import p_text
from metrichub.report.rows import (
    ARROWS,
    EVERY,
    HEADLINES,
    MISSING,
    Intervals,
    Row,
    ScoreFormat,
    output_columns,
    rows_of,
)
from metrichub.report.tables import Cell, Score, Table

if TYPE_CHECKING:
    from metrichub.evaluation.measurement import Measurement
    from metrichub.evaluation.paired_tests import PairedTests
    from metrichub.evaluation.significance import Comparison
    from metrichub.metric import Metric

_MORE_TESTS = ("p uncorrected", "p sacrebleu bootstrap (too small)")


def scoreboard(
    reports: Mapping[str, Measurement],
    tests: PairedTests | None,
    intervals: Mapping[str, Intervals],
    form: ScoreFormat,
) -> Table:
    """Scores as people read them: a row an output of one system, or a row a system of several.

    Several have ranks, and `TIE` for what doesn't differ from the first.
    """
    columns = output_columns(reports, form)
    rows = rows_of(reports, columns, tests, intervals)
    if len(reports) == 1:
        return _by_output(rows, f"score [{form.interval}]" if any(intervals.values()) else "score")
    places = {(row.system, row.column): row for row in rows}
    sizes = len({report.size for report in reports.values()}) > 1
    first = ["system", "samples"] if sizes else ["system"]
    board: list[list[Cell]] = []
    best = set()
    for name, report in reports.items():
        own = [places.get((name, column)) for column in columns]
        best |= {(len(board), k) for k, row in enumerate(own, len(first)) if row and row.leads}
        begin: list[Cell] = [name, report.size] if sizes else [name]
        board.append([*begin, *(row and row.shown() for row in own)])
    return Table([*first, *(column.head for column in columns)], board, frozenset(best))


def _by_output(rows: Iterable[Row], head: str) -> Table:
    """One system: a row an output, and how many samples have no score, where any hasn't."""
    rows = list(rows)
    shown = [reason for reason in MISSING if any(reason in row.missing for row in rows)]
    cells: list[list[Cell]] = [
        [row.column.head, row.shown(), *(int(row.missing.get(reason, 0)) for reason in shown)]
        for row in rows
    ]
    return Table(["metric", head, *shown], cells)


def differences(tests: PairedTests, form: ScoreFormat) -> Table:
    """How every other system differs from the first: a row an output and system, with p."""
    first, *_ = tests.systems
    every = form.outputs == "all"
    head = ["metric", "system", f"difference [{form.interval}]", "p"]
    if tests.options.calibrate:
        head[2] = f"calibrated {head[2]} (judge's own)"
    head += [*(_MORE_TESTS if every else ()), *(("samples", "left out") if tests.left_out else ())]
    rows: list[list[Cell]] = []
    for row in rows_of(tests.reports, output_columns(tests.reports, form), tests):
        if test := row.test:
            more = [Score(p_text(p, "")) for p in _p_values(test, every)]
            counts = (test.samples, test.left_out) if tests.left_out else ()
            difference = row.column.difference(test)
            rows.append([row.column.head, row.system, difference, *more, *counts])
    # Of one metric, as p is corrected over its headline outputs and all pairs.
    several = len(tests.pairs) > 1 or any(len(outputs) > 1 for outputs in tests.ranks.values())
    corrected = "; p is corrected for several tests, the intervals aren't" if several else ""
    return Table(head, rows, caption=f"Difference from {first}{corrected}")


def _p_values(test: Comparison, every: bool) -> tuple[float, ...]:
    return (test.p, test.randomisation_p, test.sacrebleu_bootstrap_p) if every else (test.p,)


def rows_of_scores(
    reports: Mapping[str, Measurement],
    intervals: Mapping[str, Intervals] | None = None,
    form: ScoreFormat = EVERY,
) -> Table:
    """The scores in full precision: a row an output, the systems side by side.

    Where systems are several, their names stand before the columns of each. An output that a
    system lacks has empty cells.
    """
    head, parts = ["metric", "output"], {}
    by_output: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows_of(reports, output_columns(reports, form), None, intervals):
        by_output.setdefault(row.column[:2], {})[row.system] = row
    for name, report in reports.items():
        scores = report.scores().values()
        reasons = [reason for reason in MISSING if any(reason in own for own in scores)]
        ends = ["low", "high"] if (intervals or {}).get(name) else []
        prefix = f"{name} " if len(reports) > 1 else ""
        head += [name if prefix else "score", *(f"{prefix}{part}" for part in (*ends, *reasons))]
        parts[name] = ends, reasons
    rows = [
        [*output, *chain.from_iterable(_digits(own.get(name), *parts[name]) for name in reports)]
        for output, own in by_output.items()
    ]
    return Table(head, rows)


def _digits(row: Row | None, ends: Sequence[str], reasons: Sequence[str]) -> list[Cell]:
    """A score with the ends of its interval and the counts of samples without one."""
    if row is None:
        return [None] * (1 + len(ends) + len(reasons))
    bounds = row.interval[:2] if ends and row.interval else ()
    return [row.score, *bounds, *(row.missing.get(reason, 0) for reason in reasons)]


def rows_of_tests(tests: PairedTests, form: ScoreFormat = HEADLINES) -> Table:
    """One row an output and system, with its rank and test against the first system.

    Of all outputs, rows have the p-values before the correction too, and sacrebleu's of the
    bootstrap. Scores are those of all samples of a system; where samples were left out of a test,
    it says how many, and the difference is that of the others. Calibrated differences have the
    judge's own beside them.
    """
    every = form.outputs == "all"
    head = ["metric", "output", "system", "score", "rank", "difference", "low", "high", "p"]
    head += [*(_MORE_TESTS if every else ()), *(("samples", "left out") if tests.left_out else ())]
    head += ["judge difference"] if tests.options.calibrate else []
    known = rows_of(tests.reports, output_columns(tests.reports, form), tests)
    tested = {row.column for row in known if row.test}
    rows: list[list[Cell]] = []
    best = set()
    for row in (row for row in known if row.column in tested):
        if row.leads:
            best.add((len(rows), 3))
        cells: list[Cell] = [*row.column[:2], row.system, row.score, row.rank]
        if test := row.test:
            cells += [test.difference, *test.interval[:2], *_p_values(test, every)]
            cells += [test.samples, test.left_out] if tests.left_out else []
            cells += [test.judged] if tests.options.calibrate else []
        rows.append([*cells, *[None] * (len(head) - len(cells))])
    return Table(head, rows, best)


def hub_table(metrics: Iterable[Metric]) -> Table:
    """The metrics of a hub: what each reads, gives and is set to."""
    rows = [
        [
            metric.name,
            metric.card.summary,
            ", ".join(dict.fromkeys(map(column_of, metric.inputs()))),
            ", ".join(o + ARROWS.get(metric.card.better(o), "") for o in metric.card.headline),
            metric.label(),
        ]
        for metric in metrics
    ]
    return Table(["metric", "what it measures", "reads", "headline outputs", "as"], rows)
