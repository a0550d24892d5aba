"""The answer: which system is better on what, as a title, a leaderboard and plots, and why."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from metrichub.evaluation.explanation import Trace
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.significance import Comparison, Pair, SignificanceOptions, p_text
from metrichub.report.captions import (
    about_tests,
    captioned,
    extended_line,
    power_line,
    without_differences,
    without_intervals,
)
from metrichub.report.headline import headline_of_one, short_label
from metrichub.report.html.forest import Axis, Forest, ForestRow
from metrichub.report.html.leaderboard import Intervals, LeaderboardRow, ShownTests, leaderboard
from metrichub.report.html.records import Scores as SampleScores
from metrichub.report.ranking import Ranking
from metrichub.report.rows import (
    OutputColumn,
    Row,
    ScoreFormat,
    merged_columns,
    rows_of,
)
from metrichub.report.tables import Cell, Score, Table

_MOST_TASKS = 60


class PageHeadline(NamedTuple):
    """What the page begins with: the title, and what else the headline says.

    `board` is the leaderboard of three systems or more, each of its rows with wins, ties and losses
    against the others by `ranked`, the first output that ranks. `paper` is the table with its
    caption, method and signatures, as one copies it; `below` stands below the tests.
    """

    title: str
    proof: str
    columns: Sequence[OutputColumn]
    board: Sequence[LeaderboardRow]
    forests: Sequence[Forest]
    lacking: Sequence[str]
    paper: Table
    pair: Pair | None
    ranked: OutputColumn | None = None
    below: Sequence[str] = ()


def answer_of(
    systems: Mapping[str, Measurement],
    ranking: Ranking[Any] | None,
    intervals: Intervals,
    options: SignificanceOptions,
) -> PageHeadline:
    """The answer for these systems; of a single one, its scores."""
    form = ScoreFormat(confidence=options.confidence)
    columns = merged_columns(systems, form)
    paper = captioned(systems, ranking, intervals, form, options)
    lacking = without_intervals(columns, intervals)
    if ranking is None:
        rows = rows_of(systems, columns, None, intervals)
        (report,) = systems.values()
        forests = [*_scores(rows, report, form)]
        of_one = headline_of_one(rows, form.confidence)
        return PageHeadline(of_one.title, "", columns, (), forests, lacking, paper, None)
    tests = ShownTests.of(ranking, columns)
    pair = _shown_pair(tests)
    forests = [*(_forest_of_two(tests) if len(systems) == 2 else _forests_of_several(tests))]
    title, proof = ranking.headline.title, " ".join(ranking.headline.sentences[1:])
    board: Sequence[LeaderboardRow] = ()
    if len(systems) > 2:
        board = leaderboard(tests, intervals)
        method = about_tests(Table((), ()), ranking)
        of_several = _paper_of_several(tests, board)
        paper = of_several._replace(signatures=paper.signatures, method=method)
    # Why there is no winner, or what p is worth where few clusters are swapped.
    why = [f"no winner on {about}: {reason}" for about, reason in ranking.withheld.items()]
    lacking = [*why, *ranking.doubts, *lacking, *without_differences(ranking, form)]
    shown = [*filter(None, (extended_line(ranking, form), power_line(ranking, form)))]
    # Of a leaderboard the differences are folded, and the first screen is full.
    below = shown if board else []
    lacking = lacking if board else [*lacking, *shown]
    ranked = tests.ranked()
    return PageHeadline(title, proof, columns, board, forests, lacking, paper, pair, ranked, below)


def briefly(column: OutputColumn) -> str:
    """The head of a column, its arrow never alone; of outputs that are equal that of the first."""
    arrow = {"higher": "\N{NO-BREAK SPACE}↑", "lower": "\N{NO-BREAK SPACE}↓"}.get(column.better, "")
    return f"{short_label(column)}{arrow}"


def without_common_start(names: Sequence[str]) -> dict[str, str]:
    """The names without what all begin with, up to a sign between words."""
    first, last = min(names), max(names)
    common = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    start = re.match(r".*[\W_]", first[:common])
    cut = len(start[0]) if start and len(start[0]) > 2 else 0
    return {name: name[cut:] for name in names}


def judged_claims(systems: Mapping[str, Measurement]) -> dict[str, tuple[str, str]]:
    """For each metric that judges claims of predictions: their key in its steps, their evidence."""
    found: dict[str, tuple[str, str]] = {}
    for report in systems.values():
        for name, trace in report.traces.items():
            metric = report.results[name].metric
            questions = getattr(metric, "questions", None)
            asked = questions().get("verify", ()) if questions else ()
            inputs = [f"{own.removesuffix('s')}s" for own in metric.inputs()]
            evidence = [c for c in ("contexts", "sources", "references") if c in inputs]
            parts = (part for own in trace.steps.values() for step in own for part in step.items())
            key = next((key for key, part in parts if part and _are_claims(key, part)), None)
            if key and "supported" in asked and "predictions" in inputs and evidence:
                found[name] = key, evidence[0]
    return found


def _are_claims(key: str, part: Any) -> bool:
    return (
        isinstance(part, list)
        and all(isinstance(claim, Mapping) and {"item", "verdict"} <= {*claim} for claim in part)
        and all(isinstance(claim["verdict"], str | None) for claim in part)
        and not key.startswith("reference")
    )


def claims_by_verdict(
    systems: Mapping[str, Measurement], metric: str, judged: Mapping[str, tuple[str, str]]
) -> dict[str, list[int]]:
    """How many claims of each system are supported, not settled, contradicted; else nothing."""
    counted: dict[str, list[int]] = {}
    if metric not in judged:
        return counted
    key, _ = judged[metric]
    for name, report in systems.items():
        trace = report.traces.get(metric, Trace())
        parts = [step.get(key, []) for steps in trace.steps.values() for step in steps]
        claims = chain.from_iterable(part for part in parts if _are_claims(key, part))
        words = Counter(claim["verdict"] for claim in claims)
        counted[name] = [words[word] for word in ("yes", "idk", "no")]
    return counted


def tasks_of(
    systems: Mapping[str, Measurement], metric: str, scores: SampleScores
) -> dict[str, list[tuple[int, bool]]]:
    """The tasks of each agent, those first that most do right, and whether it does them right.

    Only of a metric that reads conversations, where few samples are 0 or 1 and not all equal.
    """
    values = np.array([*scores.systems.values()])
    of = next(r.results[metric].metric for r in systems.values() if metric in r.results)
    reads = "messages" in of.inputs() or getattr(of, "reads_conversations", False)
    if not reads or values.shape[1] > _MOST_TASKS or {*values.ravel().tolist()} != {0.0, 1.0}:
        return {}
    right = values == (scores.better != "lower")
    order = np.argsort(-right.sum(axis=0), kind="stable").tolist()
    return {
        name: [(k, bool(own[k])) for k in order]
        for name, own in zip(scores.systems, right, strict=True)
    }


def _shown_pair(tests: ShownTests) -> Pair:
    """The best of the others by the first output that ranks, and the baseline."""
    baseline, *others = tests.ranking.systems
    return tests.in_order(tests.ranked(), others)[0], baseline


def _paper_of_several(tests: ShownTests, board: Sequence[LeaderboardRow]) -> Table:
    """The leaderboard as the page has it, its letters in parentheses."""
    rows: list[list[Cell]] = [
        [
            row.rank,
            row.system,
            *(Score(c.number, f"({c.letters})" if c.letters else "") for c in row.cells),
        ]
        for row in board
    ]
    best = {(i, k) for i, row in enumerate(board) for k, c in enumerate(row.cells, 2) if c.leads}
    threshold = tests.ranking.options.threshold
    sentences = [
        f"{len(board)} systems on {tests.ranking.reports[board[0].system].size:,} samples, "
        f"ranked by {tests.ranked().label}.",
        "Bold: the systems that rank first." if best else "",
        f"Systems that share a letter don't differ significantly (p > {threshold})."
        if any(cell.letters for row in board for cell in row.cells)
        else "",
    ]
    head = ["rank", "system", *(column.head for column in tests.columns)]
    return Table(head, rows, best, " ".join(filter(None, sentences)))


def _forest_of_two(tests: ShownTests) -> Iterator[Forest]:
    """A row per output; outputs from 0 to 1 share a scale."""
    other, baseline = pair = _shown_pair(tests)
    names = [baseline, other]
    shared = [column for column in tests.columns if _is_fraction(tests, column)]
    for own in [shared, *([c] for c in tests.columns if c not in shared)]:
        lines = [(c.head, c, test, names) for c in own if (test := tests.test(pair, c))]
        if lines:
            yield _forest(tests, "", ["metric", *names], lines)


def _forests_of_several(tests: ShownTests) -> Iterator[Forest]:
    """A plot per output; a row per system, against the baseline."""
    baseline, *others = tests.ranking.systems
    for column in tests.columns:
        lines = [
            (name, column, test, [name])
            for name in tests.in_order(tests.ranked(), others)
            if (test := tests.test((name, baseline), column))
        ]
        if lines:
            yield _forest(tests, column.head, ["system", "score"], lines)


def _is_fraction(tests: ShownTests, column: OutputColumn) -> bool:
    scale = next(iter(tests.ranking.reports.values())).results.get(column.metric)
    of = scale.metric.card.scale(column.output) if scale else None
    return of is not None and (of.low, of.high) == (0, 1)


def _forest(
    tests: ShownTests,
    title: str,
    head: Sequence[str],
    lines: Sequence[tuple[str, OutputColumn, Comparison, Sequence[str]]],
) -> Forest:
    ends = [end for _, _, test, _ in lines for end in (test.difference, *test.interval.ends)]
    axis = Axis.of([0.0, *ends])
    reach = max((abs(end) for end in ends if math.isfinite(end)), default=0.0) or 1.0
    rows = []
    for label, column, test, systems in lines:
        scores = [column.number(tests.score(s, column)) for s in systems]
        bounds = column.bounds(test.interval, "+") or "[–]"
        relative = (
            f"{100 * test.difference / abs(test.other):+.1f}%"
            if test.other and math.isfinite(test.difference)
            else "–"
        )
        verdict = tests.verdict(test, column)
        cells = [*scores, f"{column.number(test.difference, '+')} {bounds}", relative]
        low, high = test.interval.ends
        places = axis.places(low, test.difference, high)
        p = p_text(test.p) if verdict != "no winner" else ""
        cells.append(", ".join(filter(None, (verdict, p.removeprefix("–")))))
        difference = column.number(test.difference, "+")
        short = p.removeprefix("p ").removeprefix("= ") or "–"
        brief = [briefly(column), *scores, difference, short]
        middle = Axis(-reach, reach)
        if column.better == "lower":
            picture = middle.places(-high, -test.difference, -low)
        else:
            picture = middle.places(low, test.difference, high)
        kind = verdict.split()[0]
        rows.append(ForestRow(label, column.metric, cells, kind, brief, *places, picture))
    confidence = f"{100 * tests.ranking.options.confidence:g}%"
    differs = f"difference from {tests.ranking.systems[0]} [{confidence} interval]"
    head = [*head, differs, "relative", "verdict"]
    return Forest(title, head, rows, axis.ticks(), axis.place(0.0))


def _scores(rows: Sequence[Row], report: Measurement, form: ScoreFormat) -> Iterator[Forest]:
    """The scores of one system; outputs of one range share a scale."""
    by_range: dict[object, list[Row]] = {}
    ranges = {}
    for row in rows:
        scale = report.results[row.column.metric].metric.card.scale(row.column.output)
        both = ranges[row.column] = (scale.low, scale.high) if scale else (None, None)
        by_range.setdefault(row.column if None in both else both, []).append(row)
    for own in by_range.values():
        ends = [row.score for row in own]
        ends += [end for row in own if row.interval for end in row.interval.ends]
        axis = Axis.of([*ends, *(end for end in ranges[own[0].column] if end is not None)])
        drawn = []
        for row in own:
            low, high = row.interval.ends if row.interval else (math.nan, math.nan)
            score = row._replace(interval=None).shown()
            cells = [str(score), row.column.bounds(row.interval)]
            places = axis.places(low, row.score, high)
            drawn.append(ForestRow(row.column.head, row.column.metric, cells, "alone", (), *places))
        yield Forest("", ["metric", "score", form.interval], drawn, axis.ticks(), None)
