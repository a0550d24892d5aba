"""Scoreboards: scores as people read them, a row a system and a column an output."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple

from metrichub.data.columns import column_of
from metrichub.errors import ParameterError
from metrichub.evaluation.paired_tests import output_label
from metrichub.report.tables import Cell, Score, Table

if TYPE_CHECKING:
    from metrichub.catalog.frontmatter import Scale
    from metrichub.evaluation.measurement import Measurement
    from metrichub.evaluation.paired_tests import PairedTests
    from metrichub.evaluation.resample import Interval
    from metrichub.evaluation.significance import Comparison
    from metrichub.metric import Metric

OutputChoice = Literal["headline", "all"]
"""Which outputs of a metric are shown: those that its card names to be read first, or all."""
_CHOICES = ("headline", "all")
ARROWS = {"higher": " ↑", "lower": " ↓"}
_COUNTS = ("unscored", "unanswered", "errors", "pending")
TIE = "≈"
"""Marks a system without a significant difference from the first one."""

Intervals = Mapping[str, Mapping[str, "Interval"]]


@dataclass(frozen=True)
class ScoreFormat:
    """What of the scores is shown, and how.

    Attributes:
        outputs: The outputs that each card names to be read first, or all.
        percent: Show outputs from 0 to 1, and error rates, in percent.
        level: The level of the intervals.
    """

    outputs: OutputChoice = "headline"
    percent: bool = False
    level: float = 0.95

    def __post_init__(self) -> None:
        """Raise `ParameterError` for another choice of outputs."""
        if self.outputs not in _CHOICES:
            raise ParameterError(None, "outputs", self.outputs, " or ".join(map(repr, _CHOICES)))


class OutputColumn(NamedTuple):
    """One output: what it is called, and how its numbers are written."""

    metric: str
    output: str
    label: str
    head: str
    factor: int
    decimals: int

    def number(self, value: float, sign: str = "") -> str:
        """A number of this output; "–" for `nan`."""
        if math.isnan(value):
            return "–"
        return f"{value * self.factor:{sign}.{self.decimals}f}"

    def score(
        self,
        report: Measurement,
        interval: Interval | None,
        rank: int | None = None,
        mark: str = "",
    ) -> Score | None:
        """A report's score with what stands beside it; None where it lacks the output."""
        result = report.results.get(self.metric)
        value = result.scores().get(self.output) if result else None
        if result is None or value is None:
            return None
        bounds = self.bounds(interval) if interval else ""
        scored = f"· {result.count:,} of {report.size:,}" if result.unscored else ""
        return Score(self.number(value), f"({rank})" if rank else "", mark, bounds, scored)

    def bounds(self, interval: Interval, sign: str = "") -> str:
        """An interval in brackets; "[–]" where there is a reason for none."""
        if math.isnan(interval.low):
            return "[–]" if interval.why else ""
        return f"[{self.number(interval.low, sign)}, {self.number(interval.high, sign)}]"


def chosen_outputs(report: Measurement, outputs: OutputChoice) -> Collection[tuple[str, str]]:
    """The metrics and outputs that are shown, in their order."""
    return dict.fromkeys(
        (name, output)
        for name, result in report.results.items()
        for output in (result.metric.headline() if outputs == "headline" else result.scores())
    )


def scoreboard(
    reports: Mapping[str, Measurement],
    tests: PairedTests | None,
    intervals: Mapping[str, Intervals],
    form: ScoreFormat,
) -> Table:
    """Scores as people read them: a row an output of one system, or a row a system of several.

    Several have ranks, and `TIE` for what doesn't differ from the first.
    """
    if len(reports) == 1:
        ((name, report),) = reports.items()
        return _rows_by_output(report, intervals.get(name, {}), form)
    columns = output_columns(reports, form)
    rows: list[list[Cell]] = []
    best = set()
    sizes = len({report.size for report in reports.values()}) > 1
    for name, report in reports.items():
        row: list[Cell] = [name, report.size] if sizes else [name]
        for column in columns:
            ranks = ranks_of(tests, column)
            if name in first_of(ranks):
                best.add((len(rows), len(row)))
            interval = intervals.get(name, {}).get(column.metric, {}).get(column.output)
            tie = _is_tie(_test(tests, name, column), tests)
            row.append(column.score(report, interval, ranks.get(name), TIE if tie else ""))
        rows.append(row)
    head = ["system", "samples"] if sizes else ["system"]
    return Table([*head, *(column.head for column in columns)], rows, frozenset(best))


def _rows_by_output(report: Measurement, intervals: Intervals, form: ScoreFormat) -> Table:
    """One system: a row an output, and how many samples have no score, where any hasn't."""
    columns, counts = output_columns({"": report}, form), report.scores()
    shown = [name for name in _COUNTS if any(name in scores for scores in counts.values())]
    head = [f"score [{_level(form)} interval]" if intervals else "score", *shown]
    rows: list[list[Cell]] = []
    for column in columns:
        interval = intervals.get(column.metric, {}).get(column.output)
        missing = [int(counts[column.metric].get(name, 0)) for name in shown]
        rows.append([column.head, column.score(report, interval), *missing])
    return Table(["metric", *head], rows)


def p_cell(p: float) -> Score:
    """A p-value without its name, with four decimals."""
    if math.isnan(p):
        return Score("–")
    return Score("< .0001" if p < 1e-4 else f"{p:.4f}".removeprefix("0"))  # as p_text


def differences(
    tests: PairedTests, form: ScoreFormat, shown_p: Callable[[float], Score] = p_cell
) -> Table:
    """How every other system differs from the first: a row an output and system, with p."""
    first, *others = tests.systems
    head = ["metric", "system", f"difference [{_level(form)} interval]", "p"]
    head += ["p uncorrected", "p sacrebleu bootstrap (too small)"] if form.outputs == "all" else []
    head += ["samples", "left out"] if tests.left_out else []
    rows: list[list[Cell]] = []
    for column in output_columns(tests.reports, form):
        for name in others:
            test = _test(tests, name, column)
            if test is None:
                continue
            row: list[Cell] = [column.head, name, _difference(test, column), shown_p(test.p)]
            if form.outputs == "all":
                row += [shown_p(test.randomisation_p), shown_p(test.sacrebleu_bootstrap_p)]
            rows.append([*row, *((test.samples, test.left_out) if tests.left_out else ())])
    # Of one metric, as p is corrected over its headline outputs and all pairs.
    several = len(tests.pairs) > 1 or any(len(outputs) > 1 for outputs in tests.ranks.values())
    corrected = "; p is corrected for several tests, the intervals aren't" if several else ""
    return Table(head, rows, caption=f"Difference from {first}{corrected}")


def rows_of_scores(
    reports: Mapping[str, Measurement],
    intervals: Mapping[str, Intervals] | None = None,
    ranks: Mapping[str, Mapping[str, Mapping[str, int]]] | None = None,
) -> Table:
    """The scores in full precision: a row an output, the systems side by side.

    The best by their ranks are marked. An output that a system lacks has empty cells.
    """
    tables = {
        name: _rows_of_one(report, (intervals or {}).get(name)) for name, report in reports.items()
    }
    if len(tables) == 1:
        return next(iter(tables.values()))
    head, columns = ["metric", "output"], []
    for name, table in tables.items():
        columns.append(len(head))
        head += [name, *(f"{name} {part}" for part in table.head[3:])]
    by_output = [{row[:2]: row[2:] for row in map(tuple, table.rows)} for table in tables.values()]
    empty = [(None,) * (len(table.head) - 2) for table in tables.values()]
    rows: list[tuple[Cell, ...]] = []
    for key in dict.fromkeys(chain.from_iterable(by_output)):
        parts = [part.get(key, none) for part, none in zip(by_output, empty, strict=True)]
        rows.append((*key, *chain.from_iterable(parts)))
    places = dict(zip(tables, columns, strict=True))
    best = {
        (i, places[name])
        for i, (metric, output, *_) in enumerate(rows)
        for name in first_of((ranks or {}).get(str(metric), {}).get(str(output), {}))
    }
    return Table(head, rows, best)


def rows_of_tests(tests: PairedTests, *, all_outputs: bool = False) -> Table:
    """One row an output and system, with its rank and test against the first system.

    Rows of headline outputs alone, or of all outputs with the p-values before the correction,
    and sacrebleu's of the bootstrap. Scores are those of all samples of a system; where samples
    were left out of a test, it says how many, and the difference is that of the others.
    """
    baseline, *_ = tests.systems
    compared = tests.against(baseline)
    head = ["metric", "output", "system", "score", "rank", "difference", "low", "high", "p"]
    head += ["p uncorrected", "p sacrebleu bootstrap (too small)"] if all_outputs else []
    head += ["samples", "left out"] if tests.left_out else []
    rows: list[list[Cell]] = []
    best = set()
    keys = ((m, o) for c in compared.values() for m, outputs in c.items() for o in outputs)
    for metric, output in dict.fromkeys(keys):
        of_output = {name: c[metric][output] for name, c in compared.items() if metric in c}
        if not all_outputs and output not in tests.ranks.get(metric, {}):
            continue
        ranks = tests.ranks.get(metric, {}).get(output, {})
        winners = first_of(ranks)
        for name, test in {baseline: None, **of_output}.items():
            if name in winners:
                best.add((len(rows), 3))
            score = tests.scores[name][metric][output]
            rows.append([metric, output, name, score, ranks.get(name)])
            if not test:
                rows[-1] += [None] * (len(head) - 5)
                continue
            rows[-1] += [test.difference, *test.interval[:2], test.p]
            if all_outputs:
                rows[-1] += [test.randomisation_p, test.sacrebleu_bootstrap_p]
            if head[-1] == "left out":
                rows[-1] += [test.samples, test.left_out]
    return Table(head, rows, best)


def _rows_of_one(report: Measurement, intervals: Intervals | None) -> Table:
    """The scores of one system, with intervals, and counts of samples without a score."""
    nested = report.scores()
    counts = [name for name in _COUNTS if any(name in scores for scores in nested.values())]
    head = ["metric", "output", "score", *(["low", "high"] if intervals else []), *counts]
    rows: list[list[Cell]] = []
    for metric, result in report.results.items():
        for output, value in result.scores().items():
            row: list[Cell] = [metric, output, value]
            if intervals:
                row += intervals[metric][output][:2]
            rows.append([*row, *(nested[metric].get(name, 0) for name in counts)])
    return Table(head, rows)


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


def first_of(ranks: Mapping[str, int]) -> set[str]:
    """The systems of the first rank; none if all are."""
    first = {name for name, rank in ranks.items() if rank == 1}
    return first if len(first) < len(ranks) else set()


def output_columns(reports: Mapping[str, Measurement], form: ScoreFormat) -> list[OutputColumn]:
    """The outputs that are shown of these reports, in their order."""
    keys = dict.fromkeys(k for r in reports.values() for k in chosen_outputs(r, form.outputs))
    columns = []
    for metric, output in keys:
        results = [r.results[metric] for r in reports.values() if metric in r.results]
        values = [scores[output] for r in results if output in (scores := r.scores())]
        card = results[0].metric.card
        scale = card.scale(output)
        percent = form.percent and scale is not None and scale.in_percent
        label = output_label(metric, card.name, output)
        head = f"{label}{' %' * percent}{ARROWS.get(card.better(output), '')}"
        decimals = 1 if percent else _decimals(values, scale, output)
        columns.append(OutputColumn(metric, output, label, head, 100 if percent else 1, decimals))
    return columns


def _decimals(values: Sequence[float], scale: Scale | None, output: str) -> int:
    """How many decimals a column has: none for counts, three for fractions, fewer for more."""
    known = [abs(value) for value in values if math.isfinite(value)]
    largest = max(known, default=0)
    whole = all(float(value).is_integer() for value in known)
    open_ended = scale is not None and scale.low == 0 and scale.high is None
    if known and whole and (largest >= 10 or (open_ended and output != "score")):
        return 0
    return decimals_of(largest)


def decimals_of(value: float) -> int:
    """Three decimals for fractions, fewer for larger numbers."""
    return 3 if abs(value) < 10 else 2 if abs(value) < 100 else 1


def ranks_of(tests: PairedTests | None, column: OutputColumn) -> Mapping[str, int]:
    """The rank of every system by an output; none without tests or a direction."""
    return tests.ranks.get(column.metric, {}).get(column.output, {}) if tests else {}


def _test(tests: PairedTests | None, name: str, column: OutputColumn) -> Comparison | None:
    """The test of a system against the first one."""
    comparisons = tests.pairs.get((name, tests.systems[0]), {}) if tests else {}
    return comparisons.get(column.metric, {}).get(column.output)


def _is_tie(test: Comparison | None, tests: PairedTests | None) -> bool:
    return bool(test and tests and test.p > 1 - tests.options.level + 1e-12)


def _difference(test: Comparison, column: OutputColumn) -> Score:
    return Score(column.number(test.difference, "+"), interval=column.bounds(test.interval, "+"))


def _level(form: ScoreFormat) -> str:
    return f"{form.level * 100:g}%"
