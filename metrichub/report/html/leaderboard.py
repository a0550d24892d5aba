"""The leaderboard: systems by rank, with letters, and each pair's win, tie or loss."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from metrichub.evaluation.resample import Interval
from metrichub.evaluation.significance import Comparison, Pair, p_text, verdict_of
from metrichub.report.headline import Standing
from metrichub.report.html.forest import Axis
from metrichub.report.ranking import Ranking
from metrichub.report.rows import OutputColumn, Row, ranks_of, rows_of, test_of

_LINKS = {
    "better": "better than",
    "worse": "worse than",
    "different": "different from",
    "no significant difference": "not significantly different from",
    "no winner": "no winner against",
    "not tested": "not tested against",
}
_OUTCOMES = {"better": "win", "worse": "loss", "no significant difference": "tie"}
_SIGNS = {"win": "+", "loss": "−", "tie": "≈"}

Intervals = Mapping[str, Mapping[str, Mapping[str, Interval]]]


class ShownTests(NamedTuple):
    """The tests of all pairs, by the columns that are shown, and the rows of all systems."""

    ranking: Ranking[Any]
    columns: Sequence[OutputColumn]
    rows: Mapping[tuple[str, OutputColumn], Row]

    @classmethod
    def of(cls, ranking: Ranking[Any], columns: Sequence[OutputColumn]) -> ShownTests:
        """The tests of a ranking by these columns."""
        rows = rows_of(ranking.reports, columns, ranking)
        return cls(ranking, columns, {(row.system, row.column): row for row in rows})

    def test(self, pair: Pair, column: OutputColumn) -> Comparison | None:
        """The test of a pair by an output; None without one."""
        return test_of(self.ranking, pair, column)

    def verdict(self, test: Comparison | None, column: OutputColumn) -> str:
        """What a test says of the first system of its pair."""
        return verdict_of(test, column.better, self.ranking.options.confidence)

    def ranked(self) -> OutputColumn:
        """The first output that ranks systems; where none does, the first."""
        having = (column for column in self.columns if ranks_of(self.ranking, column))
        return next(having, self.columns[0])

    def score(self, system: str, column: OutputColumn) -> float:
        """A system's score by an output; `nan` where it lacks it."""
        row = self.rows.get((system, column))
        return row.score if row else math.nan

    def in_order(self, column: OutputColumn, systems: Sequence[str]) -> list[str]:
        """The systems by rank and score, the best first; as they come without ranks."""
        sign = -1 if column.better == "higher" else 1

        def order(system: str) -> tuple[float, float]:
            row = self.rows.get((system, column))
            return (row.rank, sign * row.score) if row and row.rank else (math.inf, 0.0)

        return sorted(systems, key=order)


class LeaderboardCell(NamedTuple):
    """A score, its letters, whether it ranks first, and how it stands: see `Standing.mark`.

    The interval is as text and as places in the picture.
    """

    number: str
    letters: str
    leads: bool
    kind: str
    bounds: str
    low: float | None
    at: float | None
    high: float | None


class LeaderboardRow(NamedTuple):
    """A system with its rank by the first output, and its score by each."""

    rank: int | None
    system: str
    cells: Sequence[LeaderboardCell]
    against: Sequence[tuple[str, str, str]]


def leaderboard(tests: ShownTests, intervals: Intervals) -> list[LeaderboardRow]:
    """The systems by rank, with letters: those that share one don't differ significantly."""
    order = tests.in_order(tests.ranked(), tests.ranking.systems)
    letters = [_letters(tests, column) for column in tests.columns]
    ranks, rows = ranks_of(tests.ranking, tests.ranked()), []
    standings = [Standing(tests.ranking, column) for column in tests.columns]
    ends = [_ends(column, order, tests, intervals) for column in tests.columns]
    axes = [Axis.of([end for own in of.values() for end in own]) for of in ends]
    for system in order:
        cells = []
        for k, column in enumerate(tests.columns):
            number = column.number(tests.score(system, column))
            row = tests.rows.get((system, column))
            low, _, high = of = ends[k][system]
            bounds = f"interval {column.number(low)} to {column.number(high)}" if low < high else ""
            cells.append(
                LeaderboardCell(
                    number,
                    letters[k].get(system, ""),
                    bool(row and row.leads),
                    standings[k].mark(system),
                    bounds,
                    *map(axes[k].place, of),
                )
            )
        against = [_outcome(tests, system, other) for other in order]
        rows.append(LeaderboardRow(ranks.get(system), system, cells, against))
    return rows


def _ends(
    column: OutputColumn, systems: Sequence[str], tests: ShownTests, intervals: Intervals
) -> dict[str, tuple[float, float, float]]:
    """The lower end of each system's interval, its score and the upper end."""
    ends = {}
    for system in systems:
        own = intervals.get(system, {}).get(column.metric, {}).get(column.output)
        low, high = (own.low, own.high) if own else (math.nan, math.nan)
        ends[system] = low, tests.score(system, column), high
    return ends


def _letters(tests: ShownTests, column: OutputColumn) -> dict[str, str]:
    """Letters of systems that don't differ: Piepho's insertion and absorption (2004).

    All that rank first have the letter a.
    """
    by_pair = {pair: tests.test(pair, column) for pair in tests.ranking.pairs}
    if column.better == "neither" or any(
        test is None or test.withheld or math.isnan(test.p) for test in by_pair.values()
    ):
        return {}
    order = tests.in_order(column, tests.ranking.systems)
    sets = [frozenset(order)]
    for pair, test in by_pair.items():
        if tests.verdict(test, column) in ("better", "worse"):
            cut = [s - {name} if set(pair) <= s else s for s in sets for name in pair]
            sets = [s for s in dict.fromkeys(cut) if not any(s < other for other in cut)]
    sets.sort(key=lambda s: [name not in s for name in order])
    return {
        name: "".join(chr(97 + k % 26) for k, s in enumerate(sets) if name in s) for name in order
    }


def _outcome(tests: ShownTests, system: str, other: str) -> tuple[str, str, str]:
    """A win, tie or loss by what ranks, with its difference and what it says in words."""
    if system == other:
        return "", "", ""
    column = tests.ranked()
    turned = (system, other) not in tests.ranking.pairs
    test = tests.test((other, system) if turned else (system, other), column)
    verdict = tests.verdict(test, column)
    if turned:
        verdict = {"better": "worse", "worse": "better"}.get(verdict, verdict)
    kind = _OUTCOMES.get(verdict, "none")
    sign = _SIGNS.get(kind, "–")
    if test is None:
        return kind, sign, verdict
    difference = column.number(-test.difference if turned else test.difference, "+")
    return kind, sign, f"{system} {_LINKS[verdict]} {other}: {difference}, {p_text(test.p)}"
