"""The answer: which system is better on what, in words, in a chart and in a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from metrichub.catalog.frontmatter import Scale
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.resample import Interval
from metrichub.evaluation.significance import SignificanceOptions
from metrichub.report.captions import (
    captioned,
    legend,
    without_differences,
    without_intervals,
)
from metrichub.report.ranking import Ranking
from metrichub.report.scoreboard import (
    OutputColumn,
    ScoreFormat,
    first_of,
    output_columns,
)
from metrichub.report.tables import Score, Table

WIDTH = 240
"""How wide the chart of an output is drawn, in units of its own."""
_EDGE = 6

Intervals = Mapping[str, Mapping[str, Mapping[str, Interval]]]


class ScoreRange(NamedTuple):
    """A system's score with its interval, as text and as places in the chart; None without one."""

    system: str
    score: Score
    best: bool
    low: float | None
    at: float | None
    high: float | None


class RangeChart(NamedTuple):
    """The scores of the systems by one output, between the ends of their common scale."""

    label: str
    start: str
    end: str
    ranges: Sequence[ScoreRange]


class PageAnswer(NamedTuple):
    """What the page begins with; of one system, a table only if samples have no score.

    `paper` is the table with its caption and signatures, as one copies it.
    """

    sentences: Sequence[str]
    charts: Sequence[RangeChart]
    board: Table | None
    marks: str
    paper: Table


def answer_of(
    systems: Mapping[str, Measurement],
    ranking: Ranking | None,
    intervals: Intervals,
    options: SignificanceOptions,
) -> PageAnswer:
    """The answer for these systems; of one alone, its scores."""
    form = ScoreFormat(level=options.level)
    columns = output_columns(systems, form)
    charts = [chart for column in columns if (chart := _chart(column, systems, ranking, intervals))]
    paper = captioned(systems, ranking, intervals, form, options)
    board = paper._replace(caption="", signatures=())
    if ranking is None:
        shown = board if len(board.head) > 2 else None
        marks = "; ".join(without_intervals(columns, intervals))
        return PageAnswer((), charts, shown, marks, paper)
    lacking = [*without_intervals(columns, intervals), *without_differences(ranking, form)]
    marks = "; ".join(filter(None, [legend(board, ranking), *lacking]))
    return PageAnswer(ranking.sentences, charts, board, marks, paper)


def _chart(
    column: OutputColumn,
    systems: Mapping[str, Measurement],
    ranking: Ranking | None,
    intervals: Intervals,
) -> RangeChart | None:
    """The chart of an output; None where no system has a finite score."""
    scores = {}
    for name, report in systems.items():
        result = report.results.get(column.metric)
        value = result.scores().get(column.output, math.nan) if result else math.nan
        scores[name] = value, intervals[name].get(column.metric, {}).get(column.output)
    ends = [
        end
        for value, interval in scores.values()
        for end in (value, *(interval[:2] if interval else ()))
        if math.isfinite(end)
    ]
    if not ends:
        return None
    low, high = min(ends), max(ends)
    if len(systems) == 1:
        low, high = _bounds(column, systems, low, high)
    ranks = ranking.ranks.get(column.metric, {}).get(column.output, {}) if ranking else {}
    first = first_of(ranks)

    def place(value: float) -> float | None:
        if not math.isfinite(value):
            return None
        share = (value - low) / (high - low) if high > low else 0.5
        return round(_EDGE + share * (WIDTH - 2 * _EDGE), 1)

    rows = []
    for name, (value, interval) in scores.items():
        score = column.score(systems[name], interval) or Score(column.number(value))
        ends_of = [place(end) for end in interval[:2]] if interval else [None, None]
        rows.append(ScoreRange(name, score, name in first, ends_of[0], place(value), ends_of[1]))
    return RangeChart(column.head, column.number(low), column.number(high), rows)


def _bounds(
    column: OutputColumn, systems: Mapping[str, Measurement], low: float, high: float
) -> tuple[float, float]:
    """The scale of one system's score: its range as far as the card knows it."""
    scales = (r.results[column.metric].metric.card.scale(column.output) for r in systems.values())
    scale = next(scales) or Scale()
    return (
        low if scale.low is None else min(scale.low, low),
        high if scale.high is None else max(scale.high, high),
    )
