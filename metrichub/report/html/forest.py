"""Forest plots: scores or differences with their intervals, a row each, on a common scale."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.significance import p_text, verdict_of
from metrichub.report.groupings import FEWEST, Grouping
from metrichub.report.html.charts import Tick, ticks
from metrichub.report.rows import OutputColumn
from metrichub.report.slices import MOST_SAMPLES, Slice, Slices

WIDTH = 260
"""The width of a row's drawing, in its own units."""
_EDGE = 14


Places = tuple[float | None, float | None, float | None]
"""Where the low end, the value and the high end are drawn."""


class ForestRow(NamedTuple):
    """A score or a difference with its interval, as text and as places in the plot.

    `brief` are a short label, the scores, the difference without its interval, and p; `picture` are
    the places of its interval where the right side is better, around no difference in the middle.
    """

    label: str
    metric: str
    cells: Sequence[str]
    kind: str
    brief: Sequence[str]
    low: float | None
    at: float | None
    high: float | None
    picture: Places | None = None

    def pictured(self) -> ForestRow:
        """The row with its picture in place of its plot."""
        if self.picture is None:
            return self
        low, at, high = self.picture
        return self._replace(low=low, at=at, high=high)


class Forest(NamedTuple):
    """Rows that share a scale; `zero` is the place of no difference."""

    title: str
    head: Sequence[str]
    rows: Sequence[ForestRow]
    ticks: Sequence[Tick]
    zero: float | None


class SliceRow(NamedTuple):
    """A slice: what a click selects, its size, and its row of the forest plot."""

    select: str
    size: int
    row: ForestRow


class SliceTable(NamedTuple):
    """The slices by one output: the groupings with what they mean, each with its rows."""

    metric: str
    output: str
    title: str
    head: Sequence[str]
    groups: Sequence[tuple[str, str, Sequence[SliceRow]]]
    ticks: Sequence[Tick]
    zero: float | None


class SlicesPart(NamedTuple):
    """The slices by each output, what was found in them, and how."""

    tables: Sequence[SliceTable]
    sentence: str
    method: str
    groupings: Sequence[str]


class Axis(NamedTuple):
    """A scale between two ends."""

    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Axis:
        """The scale from the lowest to the highest; with room around a single value."""
        finite = [value for value in values if math.isfinite(value)] or [0.0]
        low, high = min(finite), max(finite)
        return cls(low, high) if high > low else cls(low - 0.5, high + 0.5)

    def place(self, value: float) -> float | None:
        """Where a value is drawn; None if it isn't finite."""
        if not math.isfinite(value):
            return None
        share = (value - self.low) / (self.high - self.low)
        return round(_EDGE + share * (WIDTH - 2 * _EDGE), 1)

    def places(self, low: float, at: float, high: float) -> Places:
        """Where an interval and its value are drawn."""
        return self.place(low), self.place(at), self.place(high)

    def ticks(self) -> list[Tick]:
        """Round numbers between the ends."""
        return ticks(self.low, self.high, lambda value: self.place(value) or 0.0)


def slices_part(
    columns: Sequence[OutputColumn],
    slices: Slices,
    groupings: Sequence[Grouping],
    systems: Mapping[str, Measurement],
    confidence: float,
) -> SlicesPart:
    """The section of the slices; without tables if there are none."""
    shown = columns if slices.slices else ()
    tables = [slice_table(column, slices, systems, confidence) for column in shown]
    method = _about_slices(slices, next(iter(systems.values())).size)
    return SlicesPart(tables, slices.sentence, method, [g.about for g in groupings if g.about])


def _about_slices(slices: Slices, size: int) -> str:
    """How the slices' tests were made, or why there are none."""
    choose = "A click on a slice shows its samples."
    if size > MOST_SAMPLES:
        return f"{choose} Of more than {MOST_SAMPLES:,} samples, slices aren't tested here."
    if not slices.pair:
        return choose
    if not slices.trials:
        return f"{choose} No slice has the {FEWEST} samples that a test takes."
    other, baseline = slices.pair
    return (
        f"{choose} Tested is {other} against {baseline}: paired approximate randomization "
        f"({slices.trials:,} trials), p corrected by Holm's method over all slices and headline "
        f"outputs of the metric. Slices of fewer than {FEWEST} samples aren't tested and don't "
        "count; nor are metrics tested whose statistics don't add up."
    )


def slice_table(
    column: OutputColumn, slices: Slices, systems: Mapping[str, Measurement], confidence: float
) -> SliceTable:
    """The slices by one output, in the order of their groupings."""
    pair = slices.pair
    rows_of_slices = [(s, _slice_row(s, column, pair, confidence)) for s in slices.slices]
    ends = [end for _, (_, _, of_slice) in rows_of_slices for end in of_slice]
    axis = Axis.of([0.0, *ends] if pair else ends)
    groups: dict[tuple[str, str], list[SliceRow]] = {}
    for part, (cells, kind, (low, middle, high)) in rows_of_slices:
        left, at, right = axis.places(low, middle, high)
        row = ForestRow(part.value, column.metric, cells, kind, (), left, at, right)
        select = json.dumps({"group": part.grouping.key, "value": part.value})
        group = part.grouping.name, part.grouping.about
        groups.setdefault(group, []).append(SliceRow(select, part.size, row))
    interval = f"{100 * confidence:g}% interval"
    scores = [*systems] if len(systems) > 1 else ["score"]
    head = [*scores, f"{' − '.join(pair)} [{interval}]", "p"] if pair else [*scores, interval]
    return SliceTable(
        column.metric,
        column.output,
        column.head,
        ["slice", "samples", *head],
        [(*group, rows) for group, rows in groups.items()],
        axis.ticks(),
        axis.place(0.0) if pair else None,
    )


def _slice_row(
    part: Slice, column: OutputColumn, pair: tuple[str, str] | None, confidence: float
) -> tuple[list[str], str, list[float]]:
    """The cells of a slice, its kind, and the ends and the middle of its interval."""
    key, output = column.metric, column.output
    scores = {name: own.get(key, {}).get(output, math.nan) for name, own in part.scores.items()}
    cells = [column.number(score) for score in scores.values()]
    if not pair:
        interval = part.intervals.get(key, {}).get(output)
        (score,) = scores.values()
        low, high = interval.ends if interval else (math.nan, math.nan)
        cells.append(column.bounds(interval) or "–" if interval else "–")
        return cells, "alone", [low, score, high]
    test = part.tests.get(key, {}).get(output)
    if test is None:
        difference = scores[pair[0]] - scores[pair[1]]
        why = f"fewer than {FEWEST}" if part.size < FEWEST else "–"
        cells += [column.number(difference, "+"), why]
        return cells, "not", [math.nan, difference, math.nan]
    cells += [str(column.difference(test)), p_text(test.p)]
    kind, *_ = verdict_of(test, column.better, confidence).split()
    return cells, kind, [test.interval.low, test.difference, test.interval.high]
