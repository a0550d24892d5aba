"""The answer: which system is better on what, as a title, a leaderboard and a forest plot."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from metrichub.errors import listed
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.resample import Interval
from metrichub.evaluation.significance import Comparison, Pair, SignificanceOptions
from metrichub.report.captions import captioned, without_differences, without_intervals
from metrichub.report.html.forest import Axis, Forest, ForestRow, better_of, p_of, verdict_of
from metrichub.report.html.records import are_equal
from metrichub.report.ranking import Ranking
from metrichub.report.scoreboard import (
    OutputColumn,
    ScoreFormat,
    first_of,
    output_columns,
    ranks_of,
)
from metrichub.report.tables import Table

_MOST_NAMES = 3
_MOST_SCORES = 4
_LINKS = {
    "better": "better than",
    "worse": "worse than",
    "different": "different from",
    "no significant difference": "not significantly different from",
    "no winner": "no winner against",
    "not tested": "not tested against",
}
_OUTCOMES = {"better": "win", "worse": "loss", "no significant difference": "tie"}

Intervals = Mapping[str, Mapping[str, Mapping[str, Interval]]]


class LeaderboardRow(NamedTuple):
    """A system with its rank by the first output, and its score and letters by each."""

    rank: int | None
    system: str
    cells: Sequence[tuple[str, str, bool]]
    against: Sequence[tuple[str, str, str]]


class PageAnswer(NamedTuple):
    """What the page begins with.

    `board` is the leaderboard of three systems or more, each of its rows with wins, ties and
    losses against the others by `ranked`, the first output that ranks. `paper` is the table with
    its caption and signatures, as one copies it.
    """

    title: str
    columns: Sequence[OutputColumn]
    board: Sequence[LeaderboardRow]
    forests: Sequence[Forest]
    lacking: Sequence[str]
    paper: Table
    pair: Pair | None
    ranked: OutputColumn | None = None


def answer_of(
    systems: Mapping[str, Measurement],
    ranking: Ranking | None,
    intervals: Intervals,
    options: SignificanceOptions,
) -> PageAnswer:
    """The answer for these systems; of one alone, its scores."""
    form = ScoreFormat(level=options.level)
    columns = merged_columns(systems, output_columns(systems, form))
    paper = captioned(systems, ranking, intervals, form, options)
    lacking = without_intervals(columns, intervals)
    if ranking is None:
        ((name, report),) = systems.items()
        forests = [*_scores(columns, report, intervals[name], options)]
        title = _title_of_one(name, report, columns)
        return PageAnswer(title, columns, (), forests, lacking, paper, None)
    tests = _Tests(ranking, columns)
    pair = tests.shown_pair()
    forests = [*(tests.forest_of_two() if len(systems) == 2 else tests.forests_of_several())]
    title = tests.title_of_two() if len(systems) == 2 else tests.title_of_several()
    board = tests.leaderboard() if len(systems) > 2 else ()
    # Why there is no winner, or what p is worth where few clusters are swapped.
    why = [s for s in ranking.sentences if s.startswith(("no winner", "p is rough"))]
    lacking = [*why, *lacking, *without_differences(ranking, form)]
    return PageAnswer(title, columns, board, forests, lacking, paper, pair, tests.ranked())


def merged_columns(
    systems: Mapping[str, Measurement], columns: Sequence[OutputColumn]
) -> list[OutputColumn]:
    """The columns, those of one metric that are equal in every system and sample as one."""
    merged: list[OutputColumn] = []
    for column in columns:
        twin = next((k for k, other in enumerate(merged) if _twins(systems, column, other)), None)
        if twin is None:
            merged.append(column)
            continue
        first = merged[twin]
        label, head = f"{first.label}, {column.label}", f"{first.label}, {column.head}"
        merged[twin] = first._replace(label=label, head=head)
    return merged


def _twins(systems: Mapping[str, Measurement], one: OutputColumn, other: OutputColumn) -> bool:
    return one.metric == other.metric and are_equal(systems, one.metric, one.output, other.output)


def without_common_start(names: Sequence[str]) -> dict[str, str]:
    """The names without what all begin with, up to a sign between words."""
    first, last = min(names), max(names)
    common = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    start = re.match(r".*[\W_]", first[:common])
    cut = len(start[0]) if start and len(start[0]) > 2 else 0
    return {name: name[cut:] for name in names}


def _title_of_one(name: str, report: Measurement, columns: Sequence[OutputColumn]) -> str:
    scores = [
        f"{column.label} {column.number(_value(report, column))}"
        for column in columns[:_MOST_SCORES]
    ]
    more = len(columns) - _MOST_SCORES
    text = ", ".join(scores) + (f" and {more} more" if more > 0 else "")
    return f"{name}: {text}" if name else text


def _value(report: Measurement, column: OutputColumn) -> float:
    result = report.results.get(column.metric)
    return result.scores().get(column.output, math.nan) if result else math.nan


class _Tests(NamedTuple):
    """The tests of all pairs, by the columns that are shown."""

    ranking: Ranking
    columns: Sequence[OutputColumn]

    def test(self, pair: Pair, column: OutputColumn) -> Comparison | None:
        return self.ranking.pairs.get(pair, {}).get(column.metric, {}).get(column.output)

    def verdict(self, test: Comparison | None, column: OutputColumn) -> str:
        """What a test says of the first system of its pair."""
        return verdict_of(test, self.better(column), self.ranking.options.level)

    def better(self, column: OutputColumn) -> str:
        return better_of(self.ranking.reports, column)

    def ranked(self) -> OutputColumn:
        """The first output that ranks systems; where none does, the first."""
        having = (column for column in self.columns if ranks_of(self.ranking, column))
        return next(having, self.columns[0])

    def shown_pair(self) -> Pair:
        """The best of the others by the first output that ranks, and the baseline."""
        baseline, *others = self.ranking.systems
        return self._sorted(self.ranked(), others)[0], baseline

    def _sorted(self, column: OutputColumn, systems: Sequence[str]) -> list[str]:
        """The systems by rank and score, the best first; as they come without ranks."""
        ranks = ranks_of(self.ranking, column)
        sign = -1 if self.better(column) == "higher" else 1

        def order(system: str) -> tuple[float, float]:
            score = _value(self.ranking.reports[system], column)
            return ranks.get(system, math.inf), sign * score if system in ranks else 0.0

        return sorted(systems, key=order)

    def title_of_two(self) -> str:
        other, baseline = pair = self.shown_pair()
        said: dict[str, list[str]] = {}
        for column in self.columns:
            test = self.test(pair, column)
            verdict = self.verdict(test, column)
            known = said.setdefault(verdict, [])
            detail = ""
            if test and not known and verdict in ("better", "worse", "different"):
                bounds = column.bounds(test.interval, "+")
                difference = column.number(test.difference, "+")
                detail = f" ({difference}{f' {bounds}' if bounds else ''}, {p_of(test.p)})"
            first, *same = column.label.split(", ")
            known += [f"{first}{detail}", *same]
        order = (
            "better",
            "worse",
            "different",
            "no significant difference",
            "no winner",
            "not tested",
        )
        parts = [f"{verdict} on {listed(said[verdict])}" for verdict in order if verdict in said]
        return f"{other} vs {baseline}: {', '.join(parts)}"

    def title_of_several(self) -> str:
        """Who leads on what, that is, ranks first, in at most sixty words."""
        leaders: dict[str, list[str]] = {}
        names = without_common_start(self.ranking.systems)
        for column in self.columns:
            ranks = ranks_of(self.ranking, column)
            first = [name for name, rank in ranks.items() if rank == 1]
            if not ranks:
                text = "no ranks"
            elif len(first) == len(ranks):
                text = f"no significant difference between the {len(ranks)}"
            elif len(first) > _MOST_NAMES:
                text = f"{len(first)} of {len(ranks)} systems lead"
            else:
                text = f"{listed([names[name] for name in first])} lead{'s' * (len(first) == 1)}"
            leaders.setdefault(text, []).extend(column.label.split(", "))
        parts = []
        for text, labels in leaders.items():
            more = len(labels) - _MOST_SCORES
            shown = [*labels[:_MOST_SCORES], *([f"{more} more"] if more > 0 else [])]
            parts.append(f"{text} on {listed(shown)}")
        more = len(parts) - 3
        title = "; ".join(parts[:3]) + (f"; {more} other results below" if more > 0 else "")
        return f"N{title[1:]}" if title.startswith("no ") else title

    def leaderboard(self) -> list[LeaderboardRow]:
        """The systems by rank, with letters: those that share one don't differ significantly."""
        order = self._sorted(self.ranked(), self.ranking.systems)
        letters = [self._letters(column) for column in self.columns]
        ranks, rows = ranks_of(self.ranking, self.ranked()), []
        for system in order:
            cells = []
            for column, of_column in zip(self.columns, letters, strict=True):
                number = column.number(_value(self.ranking.reports[system], column))
                best = system in first_of(ranks_of(self.ranking, column))
                cells.append((number, of_column.get(system, ""), best))
            against = [self._outcome(system, other) for other in order]
            rows.append(LeaderboardRow(ranks.get(system), system, cells, against))
        return rows

    def _letters(self, column: OutputColumn) -> dict[str, str]:
        """Letters of systems that don't differ: Piepho's insertion and absorption (2004).

        All that rank first have the letter a.
        """
        tests = {pair: self.test(pair, column) for pair in self.ranking.pairs}
        if self.better(column) == "neither" or any(
            test is None or test.withheld or math.isnan(test.p) for test in tests.values()
        ):
            return {}
        order = self._sorted(column, self.ranking.systems)
        sets = [frozenset(order)]
        for pair, test in tests.items():
            if self.verdict(test, column) in ("better", "worse"):
                cut = [s - {name} if set(pair) <= s else s for s in sets for name in pair]
                sets = [s for s in dict.fromkeys(cut) if not any(s < other for other in cut)]
        sets.sort(key=lambda s: [name not in s for name in order])
        return {
            name: "".join(chr(97 + k % 26) for k, s in enumerate(sets) if name in s)
            for name in order
        }

    def _outcome(self, system: str, other: str) -> tuple[str, str, str]:
        """A win, tie or loss by what ranks, with its difference and what it says in words."""
        if system == other:
            return "", "", ""
        column = self.ranked()
        turned = (system, other) not in self.ranking.pairs
        test = self.test((other, system) if turned else (system, other), column)
        verdict = self.verdict(test, column)
        if turned:
            verdict = {"better": "worse", "worse": "better"}.get(verdict, verdict)
        kind = _OUTCOMES.get(verdict, "none")
        if test is None:
            return kind, "–", verdict
        difference = column.number(-test.difference if turned else test.difference, "+")
        return kind, difference, f"{system} {_LINKS[verdict]} {other}: {difference}, {p_of(test.p)}"

    def forest_of_two(self) -> Iterator[Forest]:
        """A row an output; outputs from 0 to 1 share a scale."""
        other, baseline = pair = self.shown_pair()
        names = [baseline, other]
        shared = [column for column in self.columns if self._is_fraction(column)]
        for own in [shared, *([c] for c in self.columns if c not in shared)]:
            lines = [(c.head, c, test, names) for c in own if (test := self.test(pair, c))]
            if lines:
                yield self._forest("", ["metric", *names], lines)

    def forests_of_several(self) -> Iterator[Forest]:
        """A plot an output; a row a system, against the baseline."""
        baseline, *others = self.ranking.systems
        for column in self.columns:
            lines = [
                (name, column, test, [name])
                for name in self._sorted(self.ranked(), others)
                if (test := self.test((name, baseline), column))
            ]
            if lines:
                yield self._forest(column.head, ["system", "score"], lines)

    def _is_fraction(self, column: OutputColumn) -> bool:
        scale = next(iter(self.ranking.reports.values())).results.get(column.metric)
        of = scale.metric.card.scale(column.output) if scale else None
        return of is not None and (of.low, of.high) == (0, 1)

    def _forest(
        self,
        title: str,
        head: Sequence[str],
        lines: Sequence[tuple[str, OutputColumn, Comparison, Sequence[str]]],
    ) -> Forest:
        tests = [test for _, _, test, _ in lines]
        ends = [end for t in tests for end in (t.difference, *t.interval[:2])]
        axis = Axis.of([0.0, *ends])
        rows = []
        for label, column, test, systems in lines:
            scores = [column.number(_value(self.ranking.reports[s], column)) for s in systems]
            bounds = column.bounds(test.interval, "+") or "[–]"
            relative = (
                f"{100 * test.difference / abs(test.other):+.1f}%"
                if test.other and math.isfinite(test.difference)
                else "–"
            )
            verdict = self.verdict(test, column)
            cells = [*scores, f"{column.number(test.difference, '+')} {bounds}", relative]
            places = [
                axis.place(v) for v in (test.interval.low, test.difference, test.interval.high)
            ]
            p = p_of(test.p) if verdict != "no winner" else ""
            cells.append(", ".join(filter(None, (verdict, p.removeprefix("–")))))
            rows.append(ForestRow(label, column.metric, cells, verdict.split()[0], *places))
        level = f"{100 * self.ranking.options.level:g}%"
        head = [*head, f"difference [{level} interval]", "relative", "verdict"]
        return Forest(title, head, rows, axis.ticks(), axis.place(0.0))


def _scores(
    columns: Sequence[OutputColumn],
    report: Measurement,
    intervals: Mapping[str, Mapping[str, Interval]],
    options: SignificanceOptions,
) -> Iterator[Forest]:
    """The scores of one system; outputs of one range share a scale."""
    by_range: dict[object, list[OutputColumn]] = {}
    ranges = {}
    for column in columns:
        scale = report.results[column.metric].metric.card.scale(column.output)
        ranges[column] = (scale.low, scale.high) if scale else (None, None)
        key = ranges[column] if None not in ranges[column] else column
        by_range.setdefault(key, []).append(column)
    level = f"{100 * options.level:g}%"
    for own in by_range.values():
        found = {c: (intervals.get(c.metric, {}).get(c.output), _value(report, c)) for c in own}
        ends = [end for i, score in found.values() for end in (score, *(i[:2] if i else ()))]
        axis = Axis.of([*ends, *(end for end in ranges[own[0]] if end is not None)])
        rows = []
        for column, (interval, score) in found.items():
            bounds = column.bounds(interval) if interval else ""
            result = report.results[column.metric]
            scored = f" · {result.count:,} of {report.size:,}" if result.unscored else ""
            low, high = interval[:2] if interval else (math.nan, math.nan)
            cells = [f"{column.number(score)}{scored}", bounds]
            places = [axis.place(v) for v in (low, score, high)]
            rows.append(ForestRow(column.head, column.metric, cells, "alone", *places))
        head = ["metric", "score", f"{level} interval"]
        yield Forest("", head, rows, axis.ticks(), None)
