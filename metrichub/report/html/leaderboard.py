"""The leaderboard: systems by rank, with letters, and each pair's win, tie or loss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from metrichub.report.html.shown_tests import ShownTests, p_of
from metrichub.report.scoreboard import OutputColumn, first_of, ranks_of

_LINKS = {
    "better": "better than",
    "worse": "worse than",
    "different": "different from",
    "no significant difference": "not significantly different from",
    "no winner": "no winner against",
    "not tested": "not tested against",
}
_OUTCOMES = {"better": "win", "worse": "loss", "no significant difference": "tie"}


class LeaderboardRow(NamedTuple):
    """A system with its rank by the first output, and its score and letters by each."""

    rank: int | None
    system: str
    cells: Sequence[tuple[str, str, bool]]
    against: Sequence[tuple[str, str, str]]


def leaderboard(tests: ShownTests) -> list[LeaderboardRow]:
    """The systems by rank, with letters: those that share one don't differ significantly."""
    order = tests.in_order(tests.ranked(), tests.ranking.systems)
    letters = [_letters(tests, column) for column in tests.columns]
    ranks, rows = ranks_of(tests.ranking, tests.ranked()), []
    for system in order:
        cells = []
        for column, of_column in zip(tests.columns, letters, strict=True):
            number = column.number(tests.score(system, column))
            best = system in first_of(ranks_of(tests.ranking, column))
            cells.append((number, of_column.get(system, ""), best))
        against = [_outcome(tests, system, other) for other in order]
        rows.append(LeaderboardRow(ranks.get(system), system, cells, against))
    return rows


def _letters(tests: ShownTests, column: OutputColumn) -> dict[str, str]:
    """Letters of systems that don't differ: Piepho's insertion and absorption (2004).

    All that rank first have the letter a.
    """
    by_pair = {pair: tests.test(pair, column) for pair in tests.ranking.pairs}
    if tests.better(column) == "neither" or any(
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
    if test is None:
        return kind, "–", verdict
    difference = column.number(-test.difference if turned else test.difference, "+")
    return kind, difference, f"{system} {_LINKS[verdict]} {other}: {difference}, {p_of(test.p)}"
