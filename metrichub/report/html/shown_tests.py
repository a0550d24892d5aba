"""Shown tests: what the tests of all pairs say of the outputs that are shown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.significance import Comparison, Pair
from metrichub.report.ranking import Ranking
from metrichub.report.scoreboard import OutputColumn, ranks_of


def p_of(p: float) -> str:
    """A p-value as the page prints it, rounded up to three decimals: "p = .003", "p < .001"."""
    if math.isnan(p):
        return "–"
    if p < 0.001:
        return "p < .001"
    rounded = math.ceil(p * 1000 - 1e-6) / 1000
    return "p = 1" if rounded >= 1 else f"p = {rounded:.3f}".replace("0.", ".", 1)


def better_of(systems: Mapping[str, Measurement], column: OutputColumn) -> str:
    """The direction of an output: "higher", "lower" or "neither"."""
    results = (report.results.get(column.metric) for report in systems.values())
    return next(filter(None, results)).metric.card.better(column.output)


def verdict_of(test: Comparison | None, better: str, level: float) -> str:
    """What a test says of the first system of its pair."""
    if test is None or (math.isnan(test.p) and not test.withheld):
        return "not tested"
    if test.withheld:
        return "no winner"
    if test.p > 1 - level + 1e-12:
        return "no significant difference"
    if better == "neither":
        return "different"
    return "better" if (test.difference > 0) == (better == "higher") else "worse"


def score_of(report: Measurement, column: OutputColumn) -> float:
    """A report's score by an output; `nan` where it lacks it."""
    result = report.results.get(column.metric)
    return result.scores().get(column.output, math.nan) if result else math.nan


class ShownTests(NamedTuple):
    """The tests of all pairs, by the columns that are shown."""

    ranking: Ranking
    columns: Sequence[OutputColumn]

    def test(self, pair: Pair, column: OutputColumn) -> Comparison | None:
        """The test of a pair by an output; None without one."""
        return self.ranking.pairs.get(pair, {}).get(column.metric, {}).get(column.output)

    def verdict(self, test: Comparison | None, column: OutputColumn) -> str:
        """What a test says of the first system of its pair."""
        return verdict_of(test, self.better(column), self.ranking.options.level)

    def better(self, column: OutputColumn) -> str:
        """The direction of an output."""
        return better_of(self.ranking.reports, column)

    def ranked(self) -> OutputColumn:
        """The first output that ranks systems; where none does, the first."""
        having = (column for column in self.columns if ranks_of(self.ranking, column))
        return next(having, self.columns[0])

    def in_order(self, column: OutputColumn, systems: Sequence[str]) -> list[str]:
        """The systems by rank and score, the best first; as they come without ranks."""
        ranks = ranks_of(self.ranking, column)
        sign = -1 if self.better(column) == "higher" else 1

        def order(system: str) -> tuple[float, float]:
            score = self.score(system, column)
            return ranks.get(system, math.inf), sign * score if system in ranks else 0.0

        return sorted(systems, key=order)

    def score(self, system: str, column: OutputColumn) -> float:
        """A system's score by an output; `nan` where it lacks it."""
        return score_of(self.ranking.reports[system], column)
