"""Scoreboards: scores as people and programs read them, made of the rows of all systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import isnan, nan
from typing import TYPE_CHECKING

from metrichub.data.columns import column_of
from metrichub.evaluation.measurement import MISSING
from metrichub.evaluation.significance import p_text
from metrichub.report.headline import Standing, short_head
from metrichub.report.rows import (
    ARROWS,
    EVERY,
    HEADLINES,
    TIE,
    Intervals,
    OutputColumn,
    Row,
    ScoreFormat,
    merged_columns,
    output_columns,
    rows_of,
    test_of,
)
from metrichub.report.tables import NAME, Cell, Score, Table, without_picture

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
    pictured: Mapping[str, Intervals] | None = None,
) -> Table:
    """Scores as people read them: a row per output of one system, or a row per system of several.

    Systems of the same samples are sorted by the first output, the best first; by tests, the best
    of a column is bold, and `TIE` marks what isn't significantly worse. `pictured` are drawn for
    the first output.
    """
    if len(reports) == 1:
        rows = rows_of(reports, output_columns(reports, form), tests, intervals)
        return _by_output(rows, f"score [{form.interval}]" if any(intervals.values()) else "score")
    columns = merged_columns(reports, form)
    rows = rows_of(reports, columns, tests, intervals)
    places = {(row.system, row.column): row for row in rows}
    sizes = len({report.size for report in reports.values()}) > 1
    # Groups stay behind what they are of.
    order = [*reports] if sizes else _in_order(reports, columns[0], places)
    drawn = _pictures(order, columns[0], pictured or {})
    first = ["system"]
    if sizes:
        first.append("samples")
    if drawn:
        first.append("")
    standings = [Standing(tests, column) for column in columns] if tests else []
    board: list[list[Cell]] = []
    marks: dict[tuple[int, int], str] = {}
    for i, name in enumerate(order):
        begin: list[Cell] = [name]
        if sizes:
            begin.append(reports[name].size)
        if drawn:
            begin.append(drawn.get(name))
        cells = [row and row.shown() for row in (places.get((name, c)) for c in columns)]
        for j, standing in enumerate(standings):
            marks[i, j + len(begin)] = mark = standing.mark(name)
            if mark == "close" and (cell := cells[j]):
                cells[j] = cell._replace(mark=TIE)
        board.append([*begin, *cells])
    heads = [short_head(column) for column in columns]
    picture = len(first) - 1 if drawn else None
    table = Table([*first, *heads], board, picture=picture)
    return table._replace(best=_marked(marks, "best"), worse=_marked(marks, "worse"))


def board_of_two(
    tests: PairedTests, form: ScoreFormat, intervals: Mapping[str, Intervals]
) -> Table:
    """The scores of two systems: a row per output, with the difference, its interval and p."""
    first, second = tests.systems
    columns = merged_columns(tests.reports, form)
    every_row = rows_of(tests.reports, columns, tests, intervals)
    rows = {(row.system, row.column): row for row in every_row}
    # Outputs from 0 to 1 share an axis; each other one has its own.
    reach = {c: _reach(rows.get((second, c))) for c in columns}
    most = max((end for end in reach.values() if end <= 1), default=0.0)
    counts = ["samples", "left out"] if tests.left_out else []
    board: list[list[Cell]] = []
    marks: dict[tuple[int, int], str] = {}
    for i, column in enumerate(columns):
        mine, theirs = rows.get((first, column)), rows.get((second, column))
        standing = Standing(tests, column)
        marks |= {(i, j): standing.mark(name) for j, name in enumerate((first, second), 1)}
        test = theirs and theirs.test
        cells: list[Cell] = [short_head(column), mine and mine.shown(), theirs and theirs.shown()]
        # Where there is no winner, a small p would name one.
        p = p_text(nan if test.withheld else test.p, "") if test else ""
        cells += [column.difference(test), Score(p)] if test else [None, None]
        if counts:
            cells += [test.samples, test.left_out] if test else [None, None]
        turned = -1 if column.better == "lower" else 1
        end = most if reach[column] <= 1 else reach[column]
        ends = (*test.interval.ends, test.difference) if test else (nan,)
        drawn = end and p != "–" and not any(map(isnan, ends))
        board.append([*cells, _picture([turned * v / end for v in ends], WIDTH) if drawn else ""])
    width = WIDTH // 2
    first, second = (n if len(n) <= NAME else f"{n[:11]}…{n[-12:]}" for n in tests.systems)
    arrows = f"{f'← {first}':<{width - 1}} {f'{second} →':>{width}}"
    head = ["", first, second, difference_head(tests, form), "p", *counts, arrows]
    table = Table(head, board, picture=len(head) - 1)
    table = table._replace(best=_marked(marks, "best"), worse=_marked(marks, "worse"))
    return table if any(row[-1] for row in board) else without_picture(table)


def _marked(marks: Mapping[tuple[int, int], str], kind: str) -> frozenset[tuple[int, int]]:
    """The places of a kind of mark."""
    return frozenset(place for place, mark in marks.items() if mark == kind)


def _in_order(
    reports: Mapping[str, Measurement],
    column: OutputColumn,
    rows: Mapping[tuple[str, OutputColumn], Row],
) -> list[str]:
    """The systems by their score, the best first, those without one last."""

    def order(name: str) -> tuple[bool, float]:
        row = rows.get((name, column))
        score = row.score if row else nan
        return isnan(score), score if column.better == "lower" else -score

    return sorted(reports, key=order)


WIDTH, NARROW = 20, 12
"""Signs of the picture of a difference, and of a score."""


def _pictures(
    systems: Sequence[str], column: OutputColumn, intervals: Mapping[str, Intervals]
) -> dict[str, str]:
    """The intervals of an output on one axis, which ends with them; none where one is missing."""
    of_systems = [
        intervals.get(name, {}).get(column.metric, {}).get(column.output) for name in systems
    ]
    drawn = [interval for interval in of_systems if interval and not isnan(interval.low)]
    if len(drawn) < len(systems):
        return {}
    low, high = min(i.low for i in drawn), max(i.high for i in drawn)
    places = [[2 * (v - low) / (high - low or 1) - 1 for v in (*i.ends, i.mean)] for i in drawn]
    return {name: _picture(p, NARROW) for name, p in zip(systems, places, strict=True)}


def _reach(row: Row | None) -> float:
    """How far from 0 the difference of a row and its interval go."""
    test = row and row.test
    ends = (*test.interval.ends, test.difference) if test else ()
    return max((abs(end) for end in ends if not isnan(end)), default=0.0)


def _picture(ends: Iterable[float], width: int) -> str:
    """An interval and what is within it, from -1 to 1, as signs; the middle of wide ones is 0."""
    start, place, end = sorted(round((v + 1) / 2 * (width - 1)) for v in ends)
    signs = [" "] * width
    if width == WIDTH:
        signs[width // 2] = "│"
    for k in range(start, end + 1):
        signs[k] = "┼" if signs[k] == "│" else "─"
    signs[place] = "●"
    return "".join(signs)


def _by_output(rows: Iterable[Row], head: str) -> Table:
    """One system: a row per output, and how many samples have no score, where any hasn't."""
    rows = list(rows)
    shown = [reason for reason in MISSING if any(reason in row.missing for row in rows)]
    cells: list[list[Cell]] = [
        [row.column.head, row.shown(), *(int(row.missing.get(reason, 0)) for reason in shown)]
        for row in rows
    ]
    return Table(["metric", head, *shown], cells)


def difference_head(tests: PairedTests, form: ScoreFormat) -> str:
    """The head of a column of differences."""
    head = f"difference [{form.interval}]"
    return f"calibrated {head} (judge's own)" if tests.options.calibrate else head


def differences(tests: PairedTests, form: ScoreFormat) -> Table:
    """How the systems of every pair differ: a row per output and pair, with p."""
    every = form.outputs == "all"
    head = ["metric", "systems", difference_head(tests, form), "p"]
    head += [*(_MORE_TESTS if every else ()), *(("samples", "left out") if tests.left_out else ())]
    rows: list[list[Cell]] = []
    for column in output_columns(tests.reports, form):
        for pair in tests.pairs:
            if test := test_of(tests, pair, column):
                more = [Score(p_text(p, "")) for p in _p_values(test, every)]
                counts = (test.samples, test.left_out) if tests.left_out else ()
                named = f"{pair[0]} − {pair[1]}"
                rows.append([column.head, named, column.difference(test), *more, *counts])
    # Of one metric, as p is corrected over its headline outputs and all pairs.
    several = len(tests.pairs) > 1 or any(len(outputs) > 1 for outputs in tests.ranks.values())
    corrected = "; p is corrected for several tests, the intervals aren't" if several else ""
    return Table(head, rows, caption=f"Differences{corrected}")


def _p_values(test: Comparison, every: bool) -> tuple[float, ...]:
    return (test.p, test.randomization_p, test.sacrebleu_bootstrap_p) if every else (test.p,)


def scores_in_full(
    reports: Mapping[str, Measurement],
    intervals: Mapping[str, Intervals] | None = None,
    form: ScoreFormat = EVERY,
) -> Table:
    """The scores in full precision: a row per output, the systems side by side.

    Where systems are several, their names stand before the columns of each. An output that a
    system lacks has empty cells.
    """
    head, parts = ["metric", "output"], {}
    by_output: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows_of(reports, output_columns(reports, form), None, intervals):
        by_output.setdefault(row.column[:2], {})[row.system] = row
    for name, report in reports.items():
        counts = report.counts().values()
        reasons = [reason for reason in MISSING if any(reason in of_output for of_output in counts)]
        ends = ["low", "high"] if (intervals or {}).get(name) else []
        prefix = f"{name} " if len(reports) > 1 else ""
        head += [name if prefix else "score", *(f"{prefix}{part}" for part in (*ends, *reasons))]
        parts[name] = ends, reasons
    rows = [
        [
            *output,
            *chain.from_iterable(_digits(of_output.get(name), *parts[name]) for name in reports),
        ]
        for output, of_output in by_output.items()
    ]
    return Table(head, rows)


def _digits(row: Row | None, ends: Sequence[str], reasons: Sequence[str]) -> list[Cell]:
    """A score with the ends of its interval and the counts of samples without one."""
    if row is None:
        return [None] * (1 + len(ends) + len(reasons))
    bounds = row.interval.ends if ends and row.interval else ()
    return [row.score, *bounds, *(row.missing.get(reason, 0) for reason in reasons)]


def long_tests(tests: PairedTests, form: ScoreFormat = HEADLINES) -> Table:
    """One row per output and system, with its rank and test against the first system.

    Of all outputs, rows have the p-values before the correction too, and sacrebleu's of the
    bootstrap. Scores are those of all samples of a system; where samples were left out of a test,
    it says how many, and the difference is that of the others. Calibrated differences have the
    judge's own beside them.
    """
    every = form.outputs == "all"
    head = ["metric", "output", "system", "score", "rank", "difference", "low", "high", "p"]
    head += [*(_MORE_TESTS if every else ()), *(("samples", "left out") if tests.left_out else ())]
    head += ["judge difference"] if tests.options.calibrate else []
    every_row = rows_of(tests.reports, output_columns(tests.reports, form), tests)
    tested = {row.column for row in every_row if row.test}
    rows: list[list[Cell]] = []
    best = set()
    for row in (row for row in every_row if row.column in tested):
        if row.leads:
            best.add((len(rows), 3))
        cells: list[Cell] = [*row.column[:2], row.system, row.score, row.rank]
        if test := row.test:
            cells += [test.difference, *test.interval.ends, *_p_values(test, every)]
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
