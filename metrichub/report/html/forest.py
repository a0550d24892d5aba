"""Forest plots: scores or differences with their intervals, a row each, on a common scale."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.significance import Comparison, Pair, p_text, verdict_of
from metrichub.report.groupings import FEWEST
from metrichub.report.html.charts import Tick, ticks
from metrichub.report.rows import OutputColumn
from metrichub.report.slices import Slice, Slices

WIDTH = 260
"""How wide a row is drawn, in units of its own."""
_EDGE = 14


class ForestRow(NamedTuple):
    """A score or a difference with its interval, as text and as places in the plot."""

    label: str
    metric: str
    cells: Sequence[str]
    kind: str
    low: float | None
    at: float | None
    high: float | None


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


class Axis(NamedTuple):
    """A scale between two ends."""

    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Axis:
        """The scale from the lowest to the highest; with room around a single value."""
        known = [value for value in values if math.isfinite(value)] or [0.0]
        low, high = min(known), max(known)
        return cls(low, high) if high > low else cls(low - 0.5, high + 0.5)

    def place(self, value: float) -> float | None:
        """Where a value is drawn; None if it isn't finite."""
        if not math.isfinite(value):
            return None
        share = (value - self.low) / (self.high - self.low)
        return round(_EDGE + share * (WIDTH - 2 * _EDGE), 1)

    def ticks(self) -> list[Tick]:
        """Round numbers between the ends."""
        return ticks(self.low, self.high, lambda value: self.place(value) or 0.0)


def slice_tables(
    slices: Slices,
    systems: Mapping[str, Measurement],
    columns: Sequence[OutputColumn],
    level: float,
) -> list[SliceTable]:
    """A table an output; of two systems or more, slices and groupings by the largest gap."""
    return [table for column in columns if (table := _slice_table(column, slices, systems, level))]


def largest_gap(tables: Sequence[SliceTable], pair: Pair | None) -> str:
    """Where the first of the pair loses and wins most: of the first output with such slices.

    Without any it tells the largest difference by the first output; it is "" without a pair.
    """
    if not tables or not pair:
        return ""
    for table in tables:
        every = [(name, one) for name, _, rows in table.groups for one in rows]
        ends = {}
        for kind, verb in (("worse", "loses"), ("better", "wins")):
            if own := [one for one in every if one[1].row.kind == kind]:
                ends[verb] = max(own, key=lambda one: _gap(table, one[1]))
        if ends:
            told = [
                f"{verb} most against {pair[1]} {_where(table, *one)}" for verb, one in ends.items()
            ]
            return f"{pair[0]} {' and '.join(told)}"
    name, _, (row, *_) = tables[0].groups[0]
    if row.size < FEWEST:
        return ""
    return f"no significant difference; the largest {_where(tables[0], name, row)}"


def _gap(table: SliceTable, one: SliceRow) -> float:
    return abs((one.row.at or 0.0) - (table.zero or 0.0))


def _where(table: SliceTable, name: str, one: SliceRow) -> str:
    """A slice in words, with its difference: "where kind is other (chrf -0.083)"."""
    value, difference = one.row.label, one.row.cells[-2].split()[0]
    text = name.removeprefix("words of ")
    where = f"{name} is {value}" if text == name else f"{text} has {value} words"
    return f"where {where} ({table.title.rstrip(' ↑↓')} {difference})"


def _slice_table(
    column: OutputColumn, slices: Slices, systems: Mapping[str, Measurement], level: float
) -> SliceTable | None:
    pair = slices.pair

    def kind_of(test: Comparison) -> str:
        return verdict_of(test, column.better, level).split()[0]

    found = [(one, _slice_row(one, column, pair, kind_of)) for one in slices.slices]
    if not found:
        return None
    axis = Axis.of([0.0] * bool(pair) + [end for _, (_, _, ends) in found for end in ends])
    groups: dict[str, list[tuple[float, SliceRow]]] = {}
    about = {}
    for one, (cells, kind, ends) in found:
        row = ForestRow(one.value, column.metric, cells, kind, *map(axis.place, ends))
        select = json.dumps({"group": one.grouping.key, "value": one.value})
        tested = bool(pair) and math.isfinite(ends[1]) and one.size >= FEWEST
        gap = abs(ends[1]) if tested else -1.0
        name = one.grouping.name
        groups.setdefault(name, []).append((gap, SliceRow(select, one.size, row)))
        about[name] = one.grouping.about
    if pair:
        for rows in groups.values():
            rows.sort(key=lambda row: -row[0])
        groups = dict(sorted(groups.items(), key=lambda group: -group[1][0][0]))
    interval = f"{100 * level:g}% interval"
    differs = f"{' − '.join(pair)} [{interval}]" if pair else ""
    head = [
        *(systems if len(systems) > 1 else ["score"]),
        *([differs, "p"] if pair else [interval]),
    ]
    return SliceTable(
        column.metric,
        column.output,
        column.head,
        ["slice", "samples", *head],
        [(name, about[name], [row for _, row in rows]) for name, rows in groups.items()],
        axis.ticks(),
        axis.place(0.0) if pair else None,
    )


def _slice_row(
    one: Slice,
    column: OutputColumn,
    pair: tuple[str, str] | None,
    kind_of: Callable[[Comparison], str],
) -> tuple[list[str], str, list[float]]:
    """The cells of a slice, its kind, and the ends and the middle of its interval."""
    key, output = column.metric, column.output
    scores = {name: own.get(key, {}).get(output, math.nan) for name, own in one.scores.items()}
    cells = [column.number(score) for score in scores.values()]
    if not pair:
        interval = one.intervals.get(key, {}).get(output)
        (score,) = scores.values()
        low, high = interval[:2] if interval else (math.nan, math.nan)
        cells.append(column.bounds(interval) or "–" if interval else "–")
        return cells, "alone", [low, score, high]
    test = one.tests.get(key, {}).get(output)
    if test is None:
        difference = scores[pair[0]] - scores[pair[1]]
        why = f"fewer than {FEWEST}" if one.size < FEWEST else "–"
        cells += [column.number(difference, "+"), why]
        return cells, "not", [math.nan, difference, math.nan]
    cells += [str(column.difference(test)), p_text(test.p)]
    return cells, kind_of(test), [test.interval.low, test.difference, test.interval.high]
