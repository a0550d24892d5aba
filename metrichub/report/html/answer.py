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
from metrichub.evaluation.significance import (
    Comparison,
    Pair,
    SignificanceOptions,
    p_text,
    verdict_of,
)
from metrichub.report.captions import (
    about_tests,
    captioned,
    extended_line,
    power_line,
    without_differences,
    without_intervals,
)
from metrichub.report.headline import Standing, headline_of_one, short_label
from metrichub.report.html.forest import Axis, Forest, ForestRow
from metrichub.report.html.leaderboard import LeaderboardRow, leaderboard, ranked_of
from metrichub.report.html.records import Scores as SampleScores
from metrichub.report.ranking import Ranking
from metrichub.report.rows import (
    Intervals,
    OutputColumn,
    Row,
    ScoreFormat,
    merged_columns,
    rows_of,
)
from metrichub.report.tables import Cell, Score, Table

_MOST_TASKS = 60


class PageHeadline(NamedTuple):
    """The beginning of a page: the title, and behind it what else the headline says.

    `board` is the leaderboard of three systems or more, each of its rows with wins, ties and losses
    against the others by `ranked`, the first output that ranks. `paper` is the table with its
    caption, method and signatures, as one copies it; `below` stands below the tests.
    """

    sentences: Sequence[str]
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
    intervals: Mapping[str, Intervals],
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
        return PageHeadline([of_one.title], columns, (), forests, lacking, paper, None)
    standings = [Standing(ranking, column) for column in columns]
    ranked = ranked_of(standings)
    baseline, *others = ranking.systems
    pair = ranked.by_rank(others)[0], baseline
    forests = _forests(standings, ranked.by_rank(others))
    _, *more = ranking.headline.sentences
    sentences = [ranking.headline.title, " ".join(more)] if more else [ranking.headline.title]
    board: Sequence[LeaderboardRow] = ()
    if len(systems) > 2:
        board = leaderboard(standings, intervals)
        method = about_tests(Table((), ()), ranking)
        of_several = _paper_of_several(standings, board)
        paper = of_several._replace(signatures=paper.signatures, method=method)
    # Why there is no winner, or what p is worth where few clusters are swapped.
    why = [f"no winner on {about}: {reason}" for about, reason in ranking.withheld.items()]
    lacking = [*why, *ranking.doubts, *lacking, *without_differences(ranking, form)]
    shown = [*filter(None, (extended_line(ranking, form), power_line(ranking, form)))]
    # Of a leaderboard the differences are folded, and the first screen is full.
    below = shown if board else []
    lacking = lacking if board else [*lacking, *shown]
    return PageHeadline(
        sentences, columns, board, forests, lacking, paper, pair, ranked.column, below
    )


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
    keys: dict[str, tuple[str, str]] = {}
    for report in systems.values():
        for name, trace in report.traces.items():
            metric = report.results[name].metric
            questions = getattr(metric, "questions", None)
            asked = questions().get("verify", ()) if questions else ()
            inputs = [f"{name.removesuffix('s')}s" for name in metric.inputs()]
            evidence = [c for c in ("contexts", "sources", "references") if c in inputs]
            parts = (
                part for steps in trace.steps.values() for step in steps for part in step.items()
            )
            key = next((key for key, part in parts if part and _are_claims(key, part)), None)
            if key and "supported" in asked and "predictions" in inputs and evidence:
                keys[name] = key, evidence[0]
    return keys


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
        name: [(k, bool(of_system[k])) for k in order]
        for name, of_system in zip(scores.systems, right, strict=True)
    }


def _paper_of_several(standings: Sequence[Standing], board: Sequence[LeaderboardRow]) -> Table:
    """The leaderboard as the page has it, its letters in parentheses."""
    rows: list[list[Cell]] = []
    best = set()
    for i, row in enumerate(board):
        scores = [Score(c.number, f"({c.letters})" if c.letters else "") for c in row.cells]
        rows.append([row.rank, row.system, *scores])
        best |= {(i, k) for k, cell in enumerate(row.cells, 2) if cell.leads}
    tests, ranked = standings[0].tests, ranked_of(standings).column
    size = next(iter(tests.reports.values())).size
    sentences = [f"{len(board)} systems on {size:,} samples, ranked by {ranked.label}."]
    if best:
        sentences.append("Bold: the systems that rank first.")
    if any(cell.letters for row in board for cell in row.cells):
        threshold = tests.options.threshold
        sentences.append(
            f"Systems that share a letter don't differ significantly (p > {threshold})."
        )
    head = ["rank", "system", *(standing.column.head for standing in standings)]
    return Table(head, rows, best, " ".join(sentences))


def _forests(standings: Sequence[Standing], others: Sequence[str]) -> list[Forest]:
    """Differences from the baseline: of two systems in a row per output, of several per system.

    Outputs of two systems that go from 0 to 1 share a scale; all others have a plot of their own.
    """
    if len(others) > 1:
        plots = [_forest(s.column.head, [(name, s, name) for name in others]) for s in standings]
    else:
        shared = [standing for standing in standings if _is_fraction(standing)]
        parts = [shared, *([standing] for standing in standings if standing not in shared)]
        plots = [_forest("", [(s.column.head, s, others[0]) for s in part]) for part in parts]
    return [plot for plot in plots if plot.rows]


def _is_fraction(standing: Standing) -> bool:
    metric, output, *_ = standing.column
    result = next(iter(standing.tests.reports.values())).results.get(metric)
    scale = result.metric.card.scale(output) if result else None
    return scale is not None and (scale.low, scale.high) == (0, 1)


def _forest(title: str, lines: Sequence[tuple[str, Standing, str]]) -> Forest:
    """A row for each label, output, and system that was tested against the baseline."""
    if not lines:
        return Forest(title, (), (), (), None)
    tests = lines[0][1].tests
    baseline = tests.systems[0]
    tested = [(*line, test) for line in lines if (test := line[1].test(line[2], baseline))]
    ends = [end for *_, test in tested for end in (test.difference, *test.interval.ends)]
    axis = Axis.of([0.0, *ends])
    reach = max((abs(end) for end in ends if math.isfinite(end)), default=0.0) or 1.0
    shown = tests.systems if len(tests.systems) == 2 else ()
    rows = [
        _forest_row(label, standing, [*shown] or [system], test, axis, Axis(-reach, reach))
        for label, standing, system, test in tested
    ]
    differs = f"difference from {baseline} [{100 * tests.options.confidence:g}% interval]"
    head = ["metric", *shown] if shown else ["system", "score"]
    return Forest(
        title, [*head, differs, "relative", "verdict"], rows, axis.ticks(), axis.place(0.0)
    )


def _forest_row(
    label: str,
    standing: Standing,
    systems: Sequence[str],
    test: Comparison,
    axis: Axis,
    middle: Axis,
) -> ForestRow:
    """A difference on its axis, and in a picture around no difference, with the systems' scores."""
    column, (low, high) = standing.column, test.interval.ends
    scores = [column.number(standing.all_scores[system]) for system in systems]
    difference = column.number(test.difference, "+")
    relative = "–"
    if test.other and math.isfinite(test.difference):
        relative = f"{100 * test.difference / abs(test.other):+.1f}%"
    verdict = verdict_of(test, column.better, standing.tests.options.confidence)
    p = "" if verdict == "no winner" else p_text(test.p).removeprefix("–")
    bounds = column.bounds(test.interval, "+") or "[–]"
    said = f"{verdict}, {p}" if p else verdict
    picture = middle.places(low, test.difference, high)
    if column.better == "lower":
        picture = middle.places(-high, -test.difference, -low)
    left, at, right = axis.places(low, test.difference, high)
    return ForestRow(
        label,
        column.metric,
        [*scores, f"{difference} {bounds}", relative, said],
        verdict.split()[0],
        [briefly(column), *scores, difference, p.removeprefix("p ").removeprefix("= ") or "–"],
        left,
        at,
        right,
        picture,
    )


def _scores(rows: Sequence[Row], report: Measurement, form: ScoreFormat) -> Iterator[Forest]:
    """The scores of one system; outputs of one range share a scale."""
    by_range: dict[object, list[Row]] = {}
    ranges = {}
    for row in rows:
        scale = report.results[row.column.metric].metric.card.scale(row.column.output)
        both = ranges[row.column] = (scale.low, scale.high) if scale else (None, None)
        by_range.setdefault(row.column if None in both else both, []).append(row)
    for group in by_range.values():
        ends = [row.score for row in group]
        ends += [end for row in group if row.interval for end in row.interval.ends]
        axis = Axis.of([*ends, *(end for end in ranges[group[0].column] if end is not None)])
        drawn = []
        for row in group:
            low, high = row.interval.ends if row.interval else (math.nan, math.nan)
            score = row._replace(interval=None).shown()
            cells = [str(score), row.column.bounds(row.interval)]
            places = axis.places(low, row.score, high)
            drawn.append(ForestRow(row.column.head, row.column.metric, cells, "alone", (), *places))
        yield Forest("", ["metric", "score", form.interval], drawn, axis.ticks(), None)
