"""The leaderboard: systems by rank, with letters, and each pair's win, tie or loss."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from metrichub.evaluation.significance import p_text
from metrichub.report.headline import Standing
from metrichub.report.html.forest import Axis
from metrichub.report.rows import Intervals, first_of

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


def ranked_of(standings: Sequence[Standing]) -> Standing:
    """The first that ranks systems; where none does, the first."""
    return next((standing for standing in standings if standing.ranks), standings[0])


def leaderboard(
    standings: Sequence[Standing], intervals: Mapping[str, Intervals]
) -> list[LeaderboardRow]:
    """The systems by rank, with letters: those that share one don't differ significantly."""
    ranked = ranked_of(standings)
    order = ranked.by_rank(ranked.tests.systems)
    cells = [_cells(standing, order, intervals) for standing in standings]
    return [
        LeaderboardRow(
            ranked.ranks.get(system),
            system,
            [of_system[system] for of_system in cells],
            [_outcome(ranked, system, other) for other in order],
        )
        for system in order
    ]


def _cells(
    standing: Standing, systems: Sequence[str], intervals: Mapping[str, Intervals]
) -> dict[str, LeaderboardCell]:
    """The cell of each system by one output, all intervals on one axis."""
    column, ends = standing.column, {}
    for system in systems:
        interval = intervals.get(system, {}).get(column.metric, {}).get(column.output)
        low, high = interval.ends if interval else (math.nan, math.nan)
        ends[system] = low, standing.all_scores[system], high
    axis = Axis.of([end for of_system in ends.values() for end in of_system])
    letters, first = _letters(standing), first_of(standing.ranks)
    cells = {}
    for system, (low, score, high) in ends.items():
        bounds = f"interval {column.number(low)} to {column.number(high)}" if low < high else ""
        cells[system] = LeaderboardCell(
            column.number(score),
            letters.get(system, ""),
            system in first,
            standing.mark(system),
            bounds,
            axis.place(low),
            axis.place(score),
            axis.place(high),
        )
    return cells


def _letters(standing: Standing) -> dict[str, str]:
    """Letters of systems that don't differ: Piepho's insertion and absorption (2004).

    All that rank first have the letter a.
    """
    pairs = standing.tests.pairs
    tests = [standing.test(*pair) for pair in pairs]
    if standing.column.better == "neither" or any(
        test is None or test.withheld or math.isnan(test.p) for test in tests
    ):
        return {}
    order = standing.by_rank(standing.tests.systems)
    sets = [frozenset(order)]
    for pair in pairs:
        if standing.verdict(*pair) in ("better", "worse"):
            cut = [s - {name} if set(pair) <= s else s for s in sets for name in pair]
            sets = [s for s in dict.fromkeys(cut) if not any(s < other for other in cut)]
    sets.sort(key=lambda s: [name not in s for name in order])
    return {
        name: "".join(chr(97 + k % 26) for k, s in enumerate(sets) if name in s) for name in order
    }


def _outcome(ranked: Standing, system: str, other: str) -> tuple[str, str, str]:
    """A win, tie or loss by what ranks, with its difference and what it says in words."""
    if system == other:
        return "", "", ""
    test, verdict = ranked.test(system, other), ranked.verdict(system, other)
    kind = _OUTCOMES.get(verdict, "none")
    sign = _SIGNS.get(kind, "–")
    if test is None:
        return kind, sign, verdict
    difference = ranked.column.number(test.difference, "+")
    return kind, sign, f"{system} {_LINKS[verdict]} {other}: {difference}, {p_text(test.p)}"
