"""Rows: all that is known of each output of each system, which every table and page shows."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from metrichub.errors import ParameterError
from metrichub.evaluation.measurement import MISSING
from metrichub.evaluation.paired_tests import output_label
from metrichub.evaluation.significance import verdict_of
from metrichub.report.tables import Score, decimals_of

if TYPE_CHECKING:
    from metrichub.catalog.frontmatter import Scale
    from metrichub.evaluation.measurement import Measurement
    from metrichub.evaluation.paired_tests import PairedTests
    from metrichub.evaluation.resample import Interval
    from metrichub.evaluation.significance import Comparison, Pair

OutputChoice = Literal["headline", "all"]
"""Which outputs of a metric are shown: those that its card names to be read first, or all."""
_CHOICES = ("headline", "all")
ARROWS = {"higher": " ↑", "lower": " ↓"}
TIE = "≈"
"""Marks a system that isn't significantly worse than the best of the column."""
EQUAL = "\u00a0=\u00a0"
"""Stands between outputs that are equal everywhere and shown as one; no name has such spaces."""

Intervals = Mapping[str, Mapping[str, "Interval"]]
"""Metric -> output -> its interval."""


@dataclass(frozen=True)
class ScoreFormat:
    """Which outputs are shown, and how.

    Attributes:
        outputs: The outputs that each card names to be read first, or all.
        percent: Show outputs from 0 to 1, and error rates, in percent.
        confidence: The confidence of the intervals.
    """

    outputs: OutputChoice = "headline"
    percent: bool = False
    confidence: float = 0.95

    def __post_init__(self) -> None:
        """Raise `ParameterError` for another choice of outputs."""
        if self.outputs not in _CHOICES:
            raise ParameterError(None, "outputs", self.outputs, " or ".join(map(repr, _CHOICES)))

    @property
    def interval(self) -> str:
        """The name of an interval: "95% interval"."""
        return f"{self.confidence * 100:g}% interval"


HEADLINES, EVERY = ScoreFormat("headline"), ScoreFormat("all")


class OutputColumn(NamedTuple):
    """One output: what it is called, which way it is better, and how its numbers are written."""

    metric: str
    output: str
    label: str
    head: str
    better: str
    factor: int
    decimals: int

    def number(self, value: float, sign: str = "") -> str:
        """A number of this output; "–" for `nan`. With a sign, the minus is a true one."""
        if math.isnan(value):
            return "–"
        shown = f"{value * self.factor:{sign}.{self.decimals}f}"
        if not sign:
            return shown
        # What rounds to 0 has no sign of its own.
        return f"±{shown[1:]}" if not float(shown) else shown.replace("-", "−")

    def bounds(self, interval: Interval | None, sign: str = "") -> str:
        """An interval in brackets; "[–]" where there is a reason for none."""
        if interval is None or math.isnan(interval.low):
            return "[–]" if interval and interval.why else ""
        ends = interval.ends
        # An end that excludes 0 but rounds to it has a decimal more.
        excludes_0 = sign != "" and ends[0] * ends[1] > 0
        exact = self._replace(decimals=self.decimals + 1) if excludes_0 else self
        near = [exact if not float(self.number(end)) else self for end in ends]
        return f"[{', '.join(c.number(end, sign) for c, end in zip(near, ends, strict=True))}]"

    def difference(self, test: Comparison) -> Score:
        """The difference of a test with its interval; in parentheses the judge's own."""
        judged = "" if math.isnan(test.judged) else f"({self.number(test.judged, '+')})"
        bounds = self.bounds(test.interval, "+")
        return Score(self.number(test.difference, "+"), interval=bounds, scored=judged)


class Row(NamedTuple):
    """One output of one system.

    `scored` counts the samples with a score, of `size`; `missing` those without one by the reason.
    `leads` tells whether the system ranks first, `test` is the one against the first system, and
    `verdict` what that says of this one: "better", "worse", "different", "no significant
    difference", "no winner" or "not tested".
    """

    system: str
    column: OutputColumn
    score: float
    size: int
    scored: int
    missing: Mapping[str, float]
    interval: Interval | None
    rank: int | None
    leads: bool
    test: Comparison | None
    verdict: str

    def shown(self) -> Score:
        """The score with its interval, and of how many samples it is."""
        scored = f"· {self.scored:,} of {self.size:,}" if self.scored < self.size else ""
        interval = self.column.bounds(self.interval)
        return Score(self.column.number(self.score), "", interval, scored)


def rows_of(
    reports: Mapping[str, Measurement],
    columns: Iterable[OutputColumn],
    tests: PairedTests | None = None,
    intervals: Mapping[str, Intervals] | None = None,
) -> list[Row]:
    """The rows of these systems, output by output; an output that a system lacks has none.

    `tests` are those of all systems, `intervals` those of each.
    """
    scores = {name: report.scores() for name, report in reports.items()}
    counts = {name: report.counts() for name, report in reports.items()}
    rows = []
    for column in columns:
        ranks = ranks_of(tests, column)
        first = first_of(ranks)
        for name, report in reports.items():
            of_metric = scores[name].get(column.metric, {})
            if column.output not in of_metric:
                continue
            test = test_of(tests, (name, next(iter(reports))), column)
            row = Row(
                name,
                column,
                of_metric[column.output],
                report.size,
                report.results[column.metric].count,
                {why: n for why, n in counts[name][column.metric].items() if why in MISSING},
                (intervals or {}).get(name, {}).get(column.metric, {}).get(column.output),
                ranks.get(name),
                name in first,
                test,
                verdict_of(test, column.better, tests.options.confidence) if tests else "",
            )
            rows.append(row)
    return rows


def output_columns(reports: Mapping[str, Measurement], form: ScoreFormat) -> list[OutputColumn]:
    """The outputs that are shown of these reports, in their order."""
    keys = dict.fromkeys(k for r in reports.values() for k in chosen_outputs(r, form.outputs))
    scores = [report.scores() for report in reports.values()]
    cards = {n: r.metric.card for report in reports.values() for n, r in report.results.items()}
    columns = []
    for metric, output in keys:
        values = [
            of_report[metric][output] for of_report in scores if output in of_report.get(metric, {})
        ]
        card = cards[metric]
        scale, better = card.scale(output), card.better(output)
        percent = form.percent and scale is not None and scale.in_percent
        label = output_label(metric, card.name, output)
        head = f"{label}{' %' if percent else ''}{ARROWS.get(better, '')}"
        decimals = 1 if percent else _decimals(values, scale, output)
        factor = 100 if percent else 1
        columns.append(OutputColumn(metric, output, label, head, better, factor, decimals))
    return columns


def chosen_outputs(report: Measurement, outputs: OutputChoice) -> Collection[tuple[str, str]]:
    """The metrics and outputs that are shown, in their order."""
    return dict.fromkeys(
        (name, output)
        for name, result in report.results.items()
        for output in (result.metric.headline() if outputs == "headline" else result.scores())
    )


def _decimals(values: Sequence[float], scale: Scale | None, output: str) -> int:
    """How many decimals a column has: none for counts, three for fractions, fewer for more."""
    sizes = [abs(value) for value in values if math.isfinite(value)]
    largest = max(sizes, default=0)
    integral = all(float(value).is_integer() for value in sizes)
    open_ended = scale is not None and scale.low == 0 and scale.high is None
    if sizes and integral and (largest >= 10 or (open_ended and output != "score")):
        return 0
    return decimals_of(largest)


def merged_columns(systems: Mapping[str, Measurement], form: ScoreFormat) -> list[OutputColumn]:
    """The headline outputs, those of one metric that are equal in every system and sample as one.

    If all outputs were asked for, they all come.
    """
    columns = output_columns(systems, form)
    if form.outputs == "all":
        return columns
    merged: list[OutputColumn] = []
    for column in columns:
        metric, output, *_ = column
        for k, first in enumerate(merged):
            if first.metric == metric and are_equal(systems, metric, output, first.output):
                begin = f"{first.label}{EQUAL}"
                label, head = f"{begin}{column.label}", f"{begin}{column.head}"
                merged[k] = first._replace(label=label, head=head)
                break
        else:
            merged.append(column)
    return merged


def are_equal(systems: Mapping[str, Measurement], metric: str, one: str, other: str) -> bool:
    """Whether two outputs of a metric are equal in every system and sample."""
    for report in systems.values():
        result = report.results.get(metric)
        if result is None:
            continue
        for values in (result.scores(), {} if result.pooled else result.samples()):
            a, b = (np.asarray(values.get(name, np.nan)) for name in (one, other))
            if not np.array_equal(a, b, equal_nan=True):
                return False
    return True


def first_of(ranks: Mapping[str, int]) -> set[str]:
    """The systems of the first rank; none if all are."""
    first = {name for name, rank in ranks.items() if rank == 1}
    return first if len(first) < len(ranks) else set()


def ranks_of(tests: PairedTests | None, column: OutputColumn) -> Mapping[str, int]:
    """The rank of every system by an output; none without tests or a direction."""
    return tests.ranks.get(column.metric, {}).get(column.output, {}) if tests else {}


def test_of(tests: PairedTests | None, pair: Pair, column: OutputColumn) -> Comparison | None:
    """The test of two systems by an output; None without one."""
    return tests.pairs.get(pair, {}).get(column.metric, {}).get(column.output) if tests else None
