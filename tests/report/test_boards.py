"""Boards: rows, columns and marks of tables of scores and of differences, worked out by hand."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import replace
from math import nan
from types import SimpleNamespace
from typing import Any

import pytest

from metrichub import Hub, Ranking, Report, compare_all
from metrichub.errors import ParameterError, ReportError
from metrichub.evaluation.resample import Interval
from metrichub.report import ranking as module
from metrichub.report.scoreboard import (
    OutputColumn,
    ScoreFormat,
    _is_tie,
    chosen_outputs,
    decimals_of,
    differences,
    hub_table,
    output_columns,
    rows_of_scores,
    rows_of_tests,
    scoreboard,
)
from metrichub.report.tables import Score

COLUMN = OutputColumn("wer", "score", "wer", "wer ↓", 1, 3)
PERCENT = COLUMN._replace(factor=100, decimals=1)
HOW: dict[str, Any] = {"resamples": 50, "trials": 10_000}
REFERENCES = ["a b"] * 16


def measured(*texts: str, metrics: str | list[str] = "wer") -> Report:
    """A report of texts for "a b"."""
    return Hub(metrics).evaluate(predictions=[*texts], references=REFERENCES[: len(texts)])


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    """All right, one word of all wrong, and all wrong."""
    return compare_all(
        {name: measured(*[text] * 16) for name, text in (("A", "a b"), ("B", "a x"), ("C", "x x"))},
        **HOW,
    )


@pytest.mark.parametrize(
    ("value", "sign", "number", "percent"),
    [
        (0.25, "", "0.250", "25.0"),
        (0.25, "+", "+0.250", "+25.0"),
        (-1.5, "+", "-1.500", "-150.0"),
        (0.0, "+", "+0.000", "+0.0"),
        (nan, "+", "–", "–"),
    ],
)
def test_a_number_has_the_decimals_of_its_column(
    value: float, sign: str, number: str, percent: str
) -> None:
    assert (COLUMN.number(value, sign), PERCENT.number(value, sign)) == (number, percent)


@pytest.mark.parametrize(
    ("interval", "shown"),
    [
        (Interval(0.1, 0.25, 0, 0), "[+0.100, +0.250]"),
        (Interval(nan, nan, nan, nan, why="few"), "[–]"),
        (Interval(nan, nan, nan, nan), ""),
    ],
)
def test_an_interval_stands_in_brackets_or_has_a_reason(interval: Interval, shown: str) -> None:
    assert COLUMN.bounds(interval, "+") == shown
    assert COLUMN.bounds(interval) == shown.replace("+", "")


def test_a_score_has_its_rank_mark_interval_and_the_samples_that_it_is_of() -> None:
    report = Hub("ttr").evaluate(predictions=["a b", "", "a a", "b"])
    column = OutputColumn("ttr", "score", "ttr", "ttr", 1, 2)
    interval = Interval(0.1, 0.9, 0.5, 0.1)
    score = report["ttr"]["score"]
    full = Score(f"{score:.2f}", "(3)", "≈", "[0.10, 0.90]", "· 3 of 4")
    assert column.score(report, interval, 3, "≈") == full
    assert column.score(report, None) == Score(full.number, scored="· 3 of 4")
    assert column.score(measured("a"), None) is None
    assert column._replace(output="none").score(report, None) is None
    many = Hub("exact_match").evaluate(predictions=["a"] * 1001, references=["a"] * 1001)
    (result,) = many.results.values()
    some = replace(many, results={"exact_match": replace(result, count=1000, unscored=1)})
    shown = column._replace(metric="exact_match").score(some, None)
    assert shown is not None
    assert shown.scored == "· 1,000 of 1,001"


@pytest.mark.parametrize(
    ("value", "decimals"), [(0, 3), (9.99, 3), (-10, 2), (10, 2), (99.9, 2), (100, 1), (-1e9, 1)]
)
def test_larger_numbers_have_fewer_decimals(value: float, decimals: int) -> None:
    assert decimals_of(value) == decimals


def test_a_board_of_one_system_has_a_row_an_output_and_counts_of_what_lacks_a_score() -> None:
    report = Hub(["ttr", "exact_match"]).evaluate(
        predictions=["a", "", "", "b"], references=["a", "a", "a", "a"]
    )
    board = scoreboard({"one": report}, None, {}, ScoreFormat())
    assert board.head == ["metric", "score", "unanswered"]
    rows = {row[0]: row[1:] for row in board.rows}
    # One of four is equal, and has no interval beside it.
    assert rows["exact_match ↑"] == [Score("0.250"), 0]
    assert [row[1] for name, row in rows.items() if str(name).startswith("ttr")] == [2] * (
        len(rows) - 1
    )
    wide = report.intervals()
    board = scoreboard({"one": report}, None, {"one": wide}, ScoreFormat(level=0.9))
    assert board.head[1] == "score [90% interval]"
    assert scoreboard({"one": report}, None, {"two": wide}, ScoreFormat()).head[1] == "score"


def test_systems_of_different_sizes_have_a_column_of_samples() -> None:
    systems = {"A": measured(*["a b"] * 4), "B": measured(*["a x"] * 2)}
    board = scoreboard(systems, None, {}, ScoreFormat())
    assert board.head == ["system", "samples", "wer ↓"]
    assert board.rows == [["A", 4, Score("0.000")], ["B", 2, Score("0.500")]]
    assert not board.best
    same = scoreboard(dict.fromkeys("AB", systems["A"]), None, {}, ScoreFormat())
    assert (same.head, same.rows[1]) == (["system", "wer ↓"], ["B", Score("0.000")])


def test_a_ranked_board_has_the_best_ranks_and_ties(ranking: Ranking) -> None:
    systems = ranking.reports
    board = scoreboard(systems, ranking, {}, ScoreFormat(percent=True))
    assert [[str(cell) for cell in row] for row in board.rows] == [
        ["A", "0.0 (1)"],
        ["B", "50.0 (2)"],
        ["C", "100.0 (3)"],
    ]
    assert board.best == {(0, 1)}
    # The best stand in the column of their output, also behind one of samples.
    small = {**systems, "C": systems["C"].take([0])}
    assert scoreboard(small, ranking, {}, ScoreFormat()).best == {(0, 2)}


@pytest.mark.parametrize(
    ("p", "level", "tie"),
    [(0.05, 0.95, False), (0.05 + 1e-9, 0.95, True), (0.1, 0.9, False), (nan, 0.95, False)],
)
def test_only_a_p_above_the_level_is_a_tie(p: float, level: float, tie: bool) -> None:
    tests: Any = SimpleNamespace(options=SimpleNamespace(level=level))
    test: Any = SimpleNamespace(p=p)
    assert _is_tie(test, tests) is tie
    assert not _is_tie(None, tests)
    assert not _is_tie(test, None)


def test_differences_have_a_row_an_output_and_other_system(ranking: Ranking) -> None:
    table = differences(ranking, ScoreFormat(level=0.9))
    assert table.head == ["metric", "system", "difference [90% interval]", "p"]
    # No random swap of 16 samples is as extreme: p is 1 of 10,001, times three pairs.
    assert [[str(cell) for cell in row] for row in table.rows] == [
        ["wer ↓", "B", "+0.500 [–]", ".0003"],
        ["wer ↓", "C", "+1.000 [–]", ".0003"],
    ]
    shown = differences(ranking, ScoreFormat(), lambda p: Score(f"{p:.1f}"))
    assert [str(row[3]) for row in shown.rows] == ["0.0", "0.0"]


@pytest.mark.parametrize(
    ("metric", "systems", "corrected"),
    [("wer", 2, False), ("wer", 3, True), ("drop_f1", 2, True), ("rouge", 2, True)],
)
def test_p_is_corrected_where_there_are_several_pairs_or_headline_outputs(
    metric: str, systems: int, corrected: bool
) -> None:
    texts = ["a b", "a x", "x x"][:systems]
    reports = {text: measured(*[text] * 16, metrics=metric) for text in texts}
    caption = differences(compare_all(reports, **HOW), ScoreFormat()).caption
    said = "; p is corrected for several tests, the intervals aren't"
    assert caption == f"Difference from a b{said * corrected}"


def left_out() -> Ranking:
    texts = ["a a b", "c d e", "f f f", "g h i", "j"] * 4
    return compare_all(
        {
            "full": Hub("ttr").evaluate(predictions=texts),
            "half": Hub("ttr").evaluate(predictions=[*texts[:18], "", ""]),
        },
        **HOW,
    )


def test_tables_of_tests_say_how_many_samples_were_left_out(ranking: Ranking) -> None:
    some = left_out()
    (row, *_) = differences(some, ScoreFormat()).rows
    assert differences(some, ScoreFormat()).head[4:] == ["samples", "left out"]
    assert row[4:] == [18, 2]
    table = rows_of_tests(some)
    assert table.head[9:] == ["samples", "left out"]
    assert [row[9:] for row in table.rows[:2]] == [[None, None], [18, 2]]
    every = rows_of_tests(some, all_outputs=True)
    assert every.head[9:] == [
        *("p uncorrected", "p sacrebleu bootstrap (too small)", "samples", "left out")
    ]
    test = some.pairs["half", "full"]["ttr"]["score"]
    assert [row for row in every.rows if row[1:3] == ["score", "half"]] == [
        [
            *("ttr", "score", "half", some.scores["half"]["ttr"]["score"], None),
            *(test.difference, *test.interval[:2], test.p),
            *(test.randomisation_p, test.sacrebleu_bootstrap_p, 18, 2),
        ]
    ]
    assert {len(row) for row in every.rows} == {len(every.head)}
    assert rows_of_tests(ranking).head[-1] == "p"


def test_rows_of_tests_have_every_output_where_all_are_asked_for(ranking: Ranking) -> None:
    few, every = rows_of_tests(ranking), rows_of_tests(ranking, all_outputs=True)
    assert [row[1] for row in few.rows] == ["score"] * 3
    outputs = [*ranking.scores["A"]["wer"]]
    assert [row[1] for row in every.rows] == [name for name in outputs for _ in "ABC"]
    assert [row[2] for row in few.rows] == ["A", "B", "C"]
    assert few.best == every.best == {(0, 3)}
    assert [row[4] for row in every.rows[:4]] == [1, 2, 3, None]


def test_scores_side_by_side_keep_to_their_system_and_order() -> None:
    one = Hub(["ttr", "exact_match"]).evaluate(predictions=["a", ""], references=["a", "b"])
    two = Hub(["exact_match", "wer"]).evaluate(predictions=["a", "b"], references=["a", "b"])
    ranks = {"exact_match": {"score": {"two": 1, "one": 2}}, "wer": {"score": {"two": 1, "x": 2}}}
    table = rows_of_scores({"one": one, "two": two}, ranks=ranks)
    assert table.head == ["metric", "output", "one", "one unanswered", "two"]
    rows = {row[:2]: row[2:] for row in table.rows}
    assert rows["exact_match", "score"] == (0.5, 0, 1.0)
    assert rows["ttr", "score"] == (1.0, 1, None)
    assert rows["wer", "score"] == (None, None, 0.0)
    places = [row[:2] for row in table.rows]
    assert places.index(("ttr", "score")) < places.index(("exact_match", "score"))
    assert table.best == {
        (places.index(("exact_match", "score")), 4),
        (places.index(("wer", "score")), 4),
    }
    assert not rows_of_scores({"one": one, "two": two}).best


def test_chosen_outputs_are_headlines_or_all_in_their_order() -> None:
    report = measured("a b", metrics=["wer", "exact_match"])
    assert list(chosen_outputs(report, "headline")) == [("wer", "score"), ("exact_match", "score")]
    every = [(name, output) for name, outputs in report.scores().items() for output in outputs]
    assert list(chosen_outputs(report, "all")) == every
    with pytest.raises(ParameterError, match="choose 'headline' or 'all'"):
        ScoreFormat("main")  # type: ignore[arg-type]  # another choice


@pytest.mark.parametrize(
    ("percent", "heads"),
    [
        (False, [("wer ↓", 1, 3), ("wer hits ↑", 1, 0), ("abstractness", 1, 3)]),
        (True, [("wer % ↓", 100, 1), ("wer hits ↑", 1, 0), ("abstractness %", 100, 1)]),
    ],
)
def test_columns_have_arrows_percent_and_decimals_of_all_systems(
    percent: bool, heads: list[tuple[str, int, int]]
) -> None:
    reports = {"A": measured("a b"), "B": measured("a x", metrics=["wer", "abstractness"])}
    columns = output_columns(reports, ScoreFormat("all", percent))
    found = {c.head: (c.head, c.factor, c.decimals) for c in columns}
    assert [found[head] for head, *_ in heads] == heads
    assert [c.metric for c in columns] == sorted((c.metric for c in columns), reverse=True)


def test_a_hub_s_table_says_what_each_metric_reads_gives_and_is_set_to() -> None:
    hub = Hub(["wer", "b = bleu(max_order=2)"])
    table = hub_table(hub.metrics)
    assert table.head == ["metric", "what it measures", "reads", "headline outputs", "as"]
    wer, bleu = table.rows
    assert [wer[0], wer[2], wer[3]] == ["wer", "predictions, references", "score ↓"]
    assert [bleu[0], bleu[2], bleu[3]] == ["b", "predictions, references", "score ↑"]
    assert [wer[4], bleu[4]] == [metric.label() for metric in hub.metrics]


@pytest.mark.parametrize(("size", "tested"), [(20_000, True), (20_001, False)])
def test_tables_are_tested_up_to_twenty_thousand_samples(
    size: int, tested: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def paired(systems: Mapping[str, Any], options: Any) -> Any:
        asked.append((systems, options))
        return SimpleNamespace(withheld={"wer": "a reason"})

    monkeypatch.setattr(module, "paired_tests", paired)
    systems = {name: replace(measured("a b", "a x"), size=size) for name in "AB"}
    tests, reasons = module.quick_tests(systems, "doc")
    assert bool(asked) is (tests is not None) is tested
    if tested:
        ((given, options),) = asked
        assert list(given) == ["A", "B"]
        assert (options.resamples, options.trials, options.cluster) == (0, 10_000, "doc")
        assert reasons == {"wer": "a reason"}
    else:
        assert reasons["wer"].startswith("testing the systems takes a while")


def test_metrics_that_are_slow_or_pooled_in_one_system_are_not_tested_quickly() -> None:
    both = {name: measured(*["a b", text] * 8, metrics=["wer", "cider"]) for name, text in
            (("A", "a b"), ("B", "x"))}  # fmt: skip
    tests, reasons = module.quick_tests(both)
    assert tests is not None
    assert list(tests.pairs["B", "A"]) == ["wer"]
    assert reasons["cider"].startswith("testing the systems takes a while")
    pooled = {**both, "B": both["B"].pool()}
    assert module.quick_tests(pooled) == (
        None,
        dict.fromkeys(["wer", "cider"], "a report was pooled, so there are no samples to test"),
    )


@pytest.mark.parametrize(
    ("systems", "said"),
    [
        ({"A": measured("a b")}, "at least two systems by name"),
        ([measured("a b")] * 2, "at least two systems by name"),
        ({"A": measured("a b"), "B": 3}, "B is .*, not a report"),
    ],
)
def test_a_comparison_takes_reports_by_name(systems: Any, said: str) -> None:
    with pytest.raises(ReportError, match=said):
        compare_all(systems)


@pytest.mark.parametrize("option", ["resamples", "trials"])
def test_a_comparison_draws_at_least_once(option: str) -> None:
    systems = dict.fromkeys("AB", measured("a b", "a x"))
    none: dict[str, Any] = {option: 0}
    with pytest.raises(ParameterError, match=option):
        compare_all(systems, **none)
    assert compare_all(systems, **{**HOW, option: 1}).options._asdict()[option] == 1


def test_a_ranking_s_dictionary_has_scores_and_every_test(ranking: Ranking) -> None:
    found = ranking.to_dict()
    assert found["scores"] == {name: one.scores() for name, one in ranking.reports.items()}
    assert found["comparisons"] == {name: ranking.pairs[name, "A"] for name in "BC"}
    assert found["pairs"] == [{"system": "C", "other": "B", "comparisons": ranking.pairs["C", "B"]}]


BEATEN = "A beats B, which beats C, on wer (p ≤ .0003)"
NO_DIFFERENCE = "no interval for the difference in {}: all resamples have the same difference"
NO_INTERVAL = "no interval for wer: all resamples have the same score"
LEGEND = "in parentheses: ranks; a system ranks one below the lowest that beats it"


@pytest.mark.parametrize(
    ("asked", "lines"),
    [
        ({}, [BEATEN, NO_DIFFERENCE.format("wer"), LEGEND]),
        ({"intervals": True}, [BEATEN, NO_DIFFERENCE.format("wer"), NO_INTERVAL, LEGEND]),
        (
            {"outputs": "all"},
            [
                BEATEN,
                NO_DIFFERENCE.format(
                    "wer, wer mer, wer wil, wer wip, wer hits, wer substitutions, wer deletions "
                    "and wer insertions"
                ),
                LEGEND,
            ],
        ),
    ],
)
def test_the_foot_has_sentences_then_what_lacks_an_interval_then_the_marks(
    asked: dict[str, Any], lines: list[str], ranking: Ranking
) -> None:
    # Every sample of a system has the same words wrong.
    assert ranking.foot(**asked) == lines


def test_a_ranking_as_text_and_for_notebooks_has_both_tables_and_the_foot(
    ranking: Ranking,
) -> None:
    scores, tests = ranking.tables()
    foot = ranking.foot()
    assert str(ranking) == "\n".join([scores.text(), "", tests.text(), "", *foot])
    lines = "".join(f"<p>{html.escape(line)}</p>\n" for line in foot)
    assert ranking._repr_html_() == f"{scores.html()}{tests.html()}{lines}"


def test_a_ranking_s_tables_take_percent_outputs_and_intervals(ranking: Ranking) -> None:
    scores, tests = ranking.tables(outputs="all", intervals=True, percent=True)
    # A count is of all words, which isn't in percent.
    assert scores.head[:2] == ["system", "wer % ↓"]
    assert [str(row[1]) for row in scores.rows] == [
        *("0.0 (1) [–]", "50.0 (2) [–]", "100.0 (3) [–]")
    ]
    assert str(tests.rows[0][2]) == "+50.0 [–]"
    assert len(scores.head) == 1 + len(ranking.scores["A"]["wer"])
    paper = ranking.captioned(outputs="all", percent=True)
    assert paper.head == scores.head
    assert paper.signatures == ranking.signatures()
    assert "[–]" not in paper.text()
    assert "[–]" in ranking.captioned(intervals=True).text()


def test_a_system_without_a_metric_has_no_row_of_its_tests() -> None:
    both = measured(*["a b"] * 8, metrics=["wer", "exact_match"])
    ranking = compare_all({"A": both, "lacks": measured(*["a x"] * 8), "C": both}, **HOW)
    for every in (False, True):
        rows = rows_of_tests(ranking, all_outputs=every).rows
        assert [row[2] for row in rows if row[:2] == ["wer", "score"]] == ["A", "lacks", "C"]
        assert [row[2] for row in rows if row[0] == "exact_match"] == ["A", "C"]
