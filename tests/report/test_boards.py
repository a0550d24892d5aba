"""Boards: what a ranking and a report show as text, for papers, in notebooks and as numbers."""

from __future__ import annotations

import csv
import io
import json
import sys
from math import nan
from typing import Any

import pytest

from metrichub import Hub, Ranking, Report, compare_all
from metrichub.catalog.frontmatter import Scale
from metrichub.data.values import json_value
from metrichub.errors import MissingDependency, ParameterError, ReportError
from metrichub.report.rows import EVERY, HEADLINES, ScoreFormat, _decimals
from metrichub.report.scoreboard import long_tests, scoreboard, scores_in_full

SIZE = 16
HOW: dict[str, Any] = {"resamples": 50, "trials": 10_000}
COLUMNS: dict[str, Any] = {"predictions": ["a b c", "d"], "references": ["a b d", "d"]}


def measured(*texts: str, metrics: str | list[str] = "wer") -> Report:
    """A report of texts for "a b"."""
    return Hub(metrics).evaluate(predictions=[*texts], references=["a b"] * len(texts))


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    """All right, all but one, and none right: by 2 ** -15 the third differs from both others."""
    texts = {
        "right_1": ["a b"] * SIZE,
        "one & off": ["x", *["a b"] * (SIZE - 1)],
        "[none]": ["x"] * SIZE,
    }
    metrics = ["exact_match", "wer"]
    return compare_all({n: measured(*pair, metrics=metrics) for n, pair in texts.items()}, **HOW)


def bounds(ranking: Ranking, metric: str, system: str, other: str = "right_1") -> str:
    """The interval of the difference from another system, as a table has it."""
    low, high = ranking.pairs[system, other][metric]["score"].interval.ends
    signs = {"-0.000": "±0.000", "+0.000": "±0.000"}
    ends = (signs.get(f"{end:+.3f}", f"{end:+.3f}") for end in (low, high))
    return f"[{', '.join(ends)}]".replace("-", "−")


def test_a_ranking_is_shown_as_scores_differences_and_what_they_say(ranking: Ranking) -> None:
    scores, tests = (table.text().splitlines() for table in ranking.tables())
    # 15 of 16 are right, and 2 of 32 words wrong: 0.9375 and 0.0625, which round to even digits.
    assert scores == [
        "system     exact_match ↑  wer ↓",
        "right_1    1.000          0.000",
        "one & off  0.938 ≈        0.062 ≈",
        "[none]     0.000          1.000",
    ]
    # Of one sample that differs McNemar's mid-p is a half.
    names = ("one & off − right_1", "[none] − right_1", "[none] − one & off")
    assert [" ".join(line.split()) for line in tests] == [
        "Differences; p is corrected for several tests, the intervals aren't",
        "metric systems difference [95% interval] p",
        f"exact_match ↑ {names[0]} −0.062 {bounds(ranking, 'exact_match', 'one & off')} .500",
        f"exact_match ↑ {names[1]} −1.000 {bounds(ranking, 'exact_match', '[none]')} < .001",
        f"exact_match ↑ {names[2]} −0.938 "
        f"{bounds(ranking, 'exact_match', '[none]', 'one & off')} < .001",
        f"wer ↓ {names[0]} +0.062 {bounds(ranking, 'wer', 'one & off')} 1",
        f"wer ↓ {names[1]} +1.000 [–] < .001",
        f"wer ↓ {names[2]} +0.938 {bounds(ranking, 'wer', '[none]', 'one & off')} < .001",
    ]
    foot = ranking.foot()
    board = ranking.board().text().splitlines()
    assert str(ranking).splitlines() == [ranking.sentence, "", *board, "", *foot]
    # The picture is left out where it isn't one.
    assert [" ".join(w for w in line.split() if not set(w) & set("─●")) for line in board] == [
        " ".join(line.split()) for line in scores
    ]
    shown = ranking._repr_html_()
    assert shown.count("<table>") == 1
    assert "●" not in shown
    assert "<td>right_1</td><td><strong>1.000</strong></td>" in shown
    assert shown.count("<p>") == 1 + len(foot)
    assert shown.startswith(
        "<p>right_1 scores highest on exact_match (1.000); one &amp; off isn&#x27;t"
    )


def test_two_systems_have_a_row_an_output_with_difference_interval_and_p(ranking: Ranking) -> None:
    reports = {name: ranking.reports[name] for name in ("right_1", "[none]")}
    two = compare_all(reports, **HOW)
    head, match, wer = two.board().text().splitlines()
    assert head.split("p  ")[1].split() == ["←", "right_1", "[none]", "→"]
    low = two.pairs["[none]", "right_1"]["exact_match"]["score"].interval.high
    assert match.split()[:8] == [
        *("exact_match", "↑", "1.000", "0.000", "−1.000", "[−1.000,", f"−{-low:.3f}]", "<"),
    ]
    assert match.endswith("  ●────     │")
    # All resamples have the same difference: no interval, and no picture.
    assert wer.split() == ["wer", "↓", "0.000", "1.000", "+1.000", "[–]", "<", ".001"]
    assert two.board().best == {(0, 1), (1, 1)}
    assert two.board().worse == {(0, 2), (1, 2)}
    assert two.foot()[0] == "16 samples · less is better in wer"


def test_latex_is_escaped_and_has_intervals_where_they_are_asked_for(ranking: Ranking) -> None:
    text = ranking.to_latex(intervals=True)
    assert text.startswith("\\begin{table}\n\\centering\n\\begin{tabular}{lll}\n\\toprule\n")
    assert "system & exact\\_match $\\uparrow$ & wer $\\downarrow$ \\\\" in text
    # All of 16 right: Wilson's interval reaches down to 16 / (16 + 1.96 ** 2).
    assert "right\\_1 & \\textbf{1.000} {}[0.806, 1.000] & \\textbf{0.000} {}[--]" in text
    assert "one \\& off & 0.938 \\ensuremath{\\approx} [" in text
    # A bracket behind the end of a line would be read as its option.
    assert "\n{}[none] & 0.000 [0.000, 0.194] &" in text
    float_, comments = text.split("\\end{table}\n")
    sentence = "\\caption{right\\_1 scores highest on exact\\_match (1.000)"
    assert sentence in float_
    assert comments.startswith("% 16 samples. In brackets: 95% intervals by the bootstrap (50")
    assert [line[2:] for line in comments.splitlines()[1:]] == ranking.signatures()
    assert "[0.000, 0.194]" in ranking.to_markdown(intervals=True)
    assert "[0.000, 0.194]" in ranking.tables(intervals=True)[0].text()
    assert "[0.000, " not in ranking.to_markdown() + ranking.to_latex()


def test_csv_and_the_frame_have_a_row_an_output_and_system(ranking: Ranking) -> None:
    rows = list(csv.DictReader(io.StringIO(ranking.to_csv())))
    assert [[row[n] for n in ("output", "system", "score", "rank", "difference")] for row in rows][
        :3
    ] == [
        ["score", "right_1", "1.0", "1", ""],
        ["score", "one & off", "0.9375", "1", "-0.0625"],
        ["score", "[none]", "0.0", "3", "-1.0"],
    ]
    assert [row["metric"] for row in rows] == ["exact_match"] * 3 + ["wer"] * 3
    assert ranking.to_frame()["score"].tolist() == [float(row["score"]) for row in rows]
    assert ranking.table().best == {(0, 3), (1, 3), (3, 3), (4, 3)}


def test_all_outputs_come_with_both_uncorrected_p_values(ranking: Ranking) -> None:
    uncorrected = ["p uncorrected", "p sacrebleu bootstrap (too small)"]
    frame = ranking.to_frame(outputs="all")
    assert list(frame) == [*ranking.to_frame(), *uncorrected]
    outputs = [*ranking.scores()["right_1"]["wer"]]
    assert frame["output"].tolist() == [name for name in ["score", *outputs] for _ in range(3)]
    scores, every = ranking.tables(outputs="all", percent=True)
    assert every.head[3:] == ["p", *uncorrected]
    assert len(scores.head) == 2 + len(outputs)
    test = ranking.pairs["[none]", "right_1"]["exact_match"]["score"]
    row = next(row for row in every.rows if row[:2] == ["exact_match % ↑", "[none] − right_1"])
    assert str(row[2]).startswith("−100.0 [−100.0, −")
    assert [str(cell) for cell in row[3:]] == [
        *("< .001", "< .001", f"{test.sacrebleu_bootstrap_p:.3f}".removeprefix("0"))
    ]
    # Counts are of all words, and only the headline output has a p that is corrected.
    hits = [[str(cell) for cell in row] for row in every.rows if row[0] == "wer hits ↑"]
    assert [row[2].partition(" ")[0] for row in hits] == ["−2", "−32", "−30"]
    assert [row[3] for row in hits] == ["–", "–", "–"]
    assert ranking.captioned(outputs="all", percent=True).head == scores.head


def test_a_dictionary_has_scores_and_all_tests_and_is_json(ranking: Ranking) -> None:
    result = ranking.to_dict()
    assert (result["baseline"], result["samples"]) == ("right_1", SIZE)
    assert result["ranks"]["exact_match"]["score"] == {"right_1": 1, "one & off": 1, "[none]": 3}
    assert result["scores"] == {name: report.scores() for name, report in ranking.reports.items()}
    assert result["counts"] == {name: report.counts() for name, report in ranking.reports.items()}
    others = ["one & off", "[none]"]
    assert [*result["comparisons"]] == others
    tested = json_value(ranking.against("right_1"))
    assert json_value(result["comparisons"]) == tested
    pair = json_value(ranking.pairs["[none]", "one & off"])
    (listed,) = json_value(result["pairs"])
    assert listed == {"system": "[none]", "other": "one & off", "comparisons": pair}
    assert result["about"]["sacrebleu_bootstrap_p"].startswith("too small: ")
    assert result["sentence"] == " ".join(ranking.headline.sentences)
    assert json.loads(json.dumps(result))["scores"] == result["scores"]


def test_another_choice_of_outputs_is_refused_and_a_frame_needs_pandas(
    ranking: Ranking, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = ranking.reports["[none]"]
    shared = ("to_csv", "to_markdown", "to_latex")
    for metric, methods in (
        (ranking, (*shared, "to_frame", "tables")),
        (report, (*shared, "flatten")),
    ):
        for method in methods:
            with pytest.raises(ParameterError, match="choose 'headline' or 'all'"):
                getattr(metric, method)(outputs="main")
    monkeypatch.setitem(sys.modules, "pandas", None)
    for source in (ranking, report):
        with pytest.raises(MissingDependency, match="pandas"):
            source.to_frame()


def test_a_system_without_a_metric_has_no_test_in_it() -> None:
    both = measured(*["a b"] * 8, metrics=["wer", "exact_match"])
    comparison = compare_all({"A": both, "lacks": measured(*["a x"] * 8), "C": both}, **HOW)
    scores, tests = comparison.tables()
    assert scores.rows[2][:3:2] == ["lacks", None]
    # It has no interval to miss either.
    lines = comparison.foot(intervals=True)
    assert "no interval for wer: all resamples have the same score" in lines
    assert [row[:2] for row in tests.rows] == [
        *(["wer ↓", "lacks − A"], ["wer ↓", "C − A"], ["wer ↓", "C − lacks"]),
        ["exact_match ↑", "C − A"],
    ]
    for form in (HEADLINES, EVERY):
        rows = long_tests(comparison, form).rows
        assert [row[2] for row in rows if row[:2] == ["wer", "score"]] == ["A", "lacks", "C"]
        assert [row[2] for row in rows if row[0] == "exact_match"] == ["A", "C"]


def test_tables_of_tests_say_how_many_samples_were_left_out(ranking: Ranking) -> None:
    texts = ["a a b", "c d e", "f f f", "g h i", "j"] * 4
    full, half = (Hub("ttr").evaluate(predictions=part) for part in (texts, [*texts[:18], "", ""]))
    some = compare_all({"full": full, "half": half}, **HOW)
    _, shown = some.tables()
    assert (shown.head[4:], shown.rows[0][4:]) == (["samples", "left out"], [18, 2])
    about = "differences and p are of the samples that both systems have scores of"
    assert about in some.foot()
    assert about not in ranking.foot()
    rows = list(csv.DictReader(io.StringIO(some.to_csv())))
    assert [(row["samples"], row["left out"]) for row in rows[:2]] == [("", ""), ("18", "2")]
    every = long_tests(some, EVERY)
    test = some.pairs["half", "full"]["ttr"]["score"]
    assert [row for row in every.rows if row[1:3] == ["score", "half"]] == [
        [
            *("ttr", "score", "half", some.scores()["half"]["ttr"]["score"], None),
            *(test.difference, *test.interval.ends, test.p),
            *(test.randomization_p, test.sacrebleu_bootstrap_p, 18, 2),
        ]
    ]
    assert {len(row) for row in every.rows} == {len(every.head)}
    assert long_tests(ranking).head[-1] == "p"


def test_scores_of_a_function_have_no_percent() -> None:
    def half(prediction: str) -> float:
        return 0.5

    reports = {name: Hub(half).evaluate(predictions=[name] * 2) for name in ("a", "b")}
    assert "half %" not in compare_all(reports, **HOW).to_markdown(percent=True)


# One report, and boards of several.


def test_a_report_has_a_row_an_output_and_counts_what_lacks_a_score() -> None:
    report = Hub(["ttr", "exact_match"]).evaluate(
        predictions=["a", "", "", "b"], references=["a"] * 4
    )
    assert repr(report).startswith("<Report of 4 samples: ttr ")
    head, *rows = (line.split() for line in str(report).splitlines())
    assert head == ["metric", "score", "unanswered"]
    # One of four is equal; two have words.
    assert rows[[row[0] for row in rows].index("exact_match")] == ["exact_match", "↑", "0.250", "0"]
    assert rows[0] == ["ttr", "↑", "1.000", "·", "2", "of", "4", "2"]
    many = Hub("ttr").evaluate(predictions=["", *["a"] * 1000])
    assert "1.000 · 1,000 of 1,001" in str(many)


def test_systems_of_different_sizes_have_a_column_of_samples(ranking: Ranking) -> None:
    systems = {"A": measured(*["a b"] * 4), "B": measured(*["a x"] * 2)}
    board = scoreboard(systems, None, {}, ScoreFormat())
    assert board.text().splitlines() == [
        *("system  samples  wer ↓", "A             4  0.000", "B             2  0.500")
    ]
    assert not board.best
    # The best stand in the column of their output, also behind one of samples.
    small = {**ranking.reports, "[none]": ranking.reports["[none]"].take([0])}
    assert scoreboard(small, ranking, {}, ScoreFormat()).best == {(0, 2), (0, 3)}


def test_scores_stand_side_by_side() -> None:
    first = Hub(["ttr", "exact_match", "wer(alignment=False)"]).evaluate(**COLUMNS)
    worse = {**COLUMNS, "predictions": ["z", "z"]}
    other = Hub(["exact_match", "wer(alignment=False)", "edit_similarity"]).evaluate(**worse)
    systems = {"a|b": first, "c_d": other}
    lines = scores_in_full(systems).markdown().splitlines()
    # An output that a system lacks has empty cells, in the order in which they come.
    assert [line for line in lines if "ttr" not in line] == [
        "| metric | output | a\\|b | c_d |",
        "| --- | --- | ---: | ---: |",
        "| exact_match | score | 0.5000 | 0.0000 |",
        "| wer | score | 0.2500 | 1.0000 |",
        # "z" for "a b d" has all five characters wrong, and for "d" the one.
        "| edit_similarity | score | – | 0.0000 |",
        "| edit_similarity | distance | – | 3.0000 |",
    ]
    assert lines[2].startswith("| ttr | score | 1.0000 | – |")
    intervals = {name: report.intervals(resamples=5) for name, report in systems.items()}
    table = scores_in_full(systems, intervals)
    assert table.head[2:] == ["a|b", "a|b low", "a|b high", "c_d", "c_d low", "c_d high"]
    (match,) = (row for row in table.rows if row[0] == "exact_match")
    # None of 2 right: Wilson's interval reaches up to 1.96 ** 2 / (2 + 1.96 ** 2).
    assert match[5:] == [0.0, 0.0, pytest.approx(0.6576, abs=1e-4)]
    silent = Hub("ttr").evaluate(predictions=["", "a"])
    assert scores_in_full({"a": silent}).head == ["metric", "output", "score", "unanswered"]
    assert scores_in_full({"a": silent, "b": first}).head[2:] == ["a", "a unanswered", "b"]


@pytest.mark.parametrize(
    ("values", "scale", "output", "decimals"),
    [
        ([0.5], None, "score", 3),
        ([9.99], None, "score", 3),
        ([10.0, 3.0], None, "score", 0),
        ([10.0, 3.5], None, "score", 2),
        ([100.0, 0.5], None, "score", 1),
        ([9.0], None, "score", 3),
        # Counts, which have no upper end, have no decimals however few.
        ([3.0], Scale(0, None, "lower"), "deletions", 0),
        ([3.0], Scale(0, None, "lower"), "score", 3),
        ([3.0], Scale(0, 5, "higher"), "deletions", 3),
    ],
)
def test_a_column_has_fewer_decimals_the_larger_its_numbers(
    values: list[float], scale: Scale | None, output: str, decimals: int
) -> None:
    assert _decimals([*values, nan, float("inf")], scale, output) == decimals
    assert _decimals(values, scale, output) == decimals


def test_a_comparison_takes_reports_by_name_and_draws_at_least_once() -> None:
    systems: dict[str, Any] = dict.fromkeys("AB", measured("a b", "a x"))
    for wrong, message in (
        ({"A": systems["A"]}, "at least two systems by name"),
        ([*systems.values()], "at least two systems by name"),
        ({**systems, "B": 3}, "B is .*, not a report"),
    ):
        with pytest.raises(ReportError, match=message):
            compare_all(wrong)  # type: ignore[arg-type]  # people's mistakes
    for option in ("resamples", "trials"):
        with pytest.raises(ParameterError, match=option):
            compare_all(systems, **{option: 0})
        assert compare_all(systems, **{**HOW, option: 1}).options._asdict()[option] == 1
