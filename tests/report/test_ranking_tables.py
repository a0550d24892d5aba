"""A ranking's tables: for a paper, a notebook, a data frame and a script."""

from __future__ import annotations

import csv
import io
import json
import sys
from typing import Any

import pytest

from metrichub import Hub, Ranking, Report, compare_all
from metrichub.data.values import json_value
from metrichub.errors import MissingDependency, ParameterError
from metrichub.report import ranking as module
from metrichub.report.captions import without_intervals
from metrichub.report.scoreboard import ScoreFormat, differences, output_columns
from metrichub.report.tables import Score, Table

SIZE = 16
HOW: dict[str, Any] = {"resamples": 50, "trials": 10_000}


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    """All right, all but one, and none right: by 2 ** -15 the third differs from both others."""
    hub = Hub(["exact_match", "edit_similarity"])
    right, wrong, references = "all right", "x", ["all right"] * SIZE
    systems = {
        "right_1": [right] * SIZE,
        "one & off": [wrong] + [right] * (SIZE - 1),
        "[none]": [wrong] * SIZE,
    }
    reports = {
        name: hub.evaluate(predictions=texts, references=references)
        for name, texts in systems.items()
    }
    return compare_all(reports, **HOW)


def test_markdown_has_the_first_cluster_in_bold_and_says_how_it_was_found(
    ranking: Ranking,
) -> None:
    table, caption, *signatures = ranking.to_markdown(percent=True).split("\n\n")
    # 15 of 16 are right: 93.75%, which rounds to the even digit.
    assert table.splitlines()[0] == "| system | exact_match % ↑ | edit_similarity % ↑ |"
    assert table.splitlines()[2:] == [
        "| right_1 | **100.0** (1) | **100.0** (1) |",
        "| one & off | **93.8** (1) ≈ | **93.8** (1) ≈ |",
        "| [none] | 0.0 (2) | 0.0 (2) |",
    ]
    assert caption.startswith("16 samples. Bold: the systems that rank first. In parentheses: ")
    assert "two-sided paired approximate randomization (10,000 trials)" in caption
    assert "corrected by Holm's method" in caption
    assert "significant at p ≤ .05" in caption
    assert "Result: right_1 and one & off beat [none] on exact_match (p ≤ .000" in caption
    assert "intervals" not in caption
    assert [text.strip("`\n")[:12] for text in signatures] == ["exact_match(", "edit_similar"]


def test_a_system_without_a_metric_has_no_difference_in_it() -> None:
    columns = {"predictions": ["a b", "c d"] * 5, "references": ["a b", "c x"] * 5}
    both, one = Hub(["wer", "exact_match"]).evaluate(**columns), Hub("wer").evaluate(**columns)
    ranking = compare_all({"first": both, "lacks it": one, "has both": both}, **HOW)
    assert [row[:2] for row in differences(ranking, ScoreFormat()).rows] == [
        ["wer ↓", "lacks it"],
        ["wer ↓", "has both"],
        ["exact_match ↑", "has both"],
    ]


def test_an_interval_that_one_system_lacks_is_told_with_its_name() -> None:
    systems = {
        name: Hub("wer").evaluate(predictions=["a b", "a c"] * n, references=["a b"] * 2 * n)
        for name, n in (("many", 4), ("few", 2))
    }
    intervals = {name: report.intervals(resamples=50) for name, report in systems.items()}
    columns = output_columns(systems, ScoreFormat())
    why = "4 samples are too few; an interval needs 5"
    assert without_intervals(columns, intervals) == [f"no interval for wer of few: {why}"]
    few = {"few": intervals["few"]}
    assert without_intervals(columns, few) == [f"no interval for wer: {why}"]


def test_latex_is_escaped_and_has_a_caption(ranking: Ranking) -> None:
    text = ranking.to_latex(intervals=True)
    assert text.startswith("\\begin{table}\n\\centering\n\\begin{tabular}{lll}\n\\toprule\n")
    assert "system & exact\\_match $\\uparrow$ & edit\\_similarity $\\uparrow$ \\\\" in text
    # All of 16 right: Wilson's interval reaches down to 16 / (16 + 1.96 ** 2).
    assert "right\\_1 & \\textbf{1.000} (1) [0.806, 1.000] &" in text
    assert "one \\& off & \\textbf{0.938} (1) \\ensuremath{\\approx} [" in text
    # A bracket behind the end of a line would be read as its option.
    assert "\n{}[none] & 0.000 (2) [0.000, 0.194] &" in text
    assert (
        "\\caption{16 samples. In brackets: 95\\% intervals by Wilson's method with the "
        "bootstrap's standard error (50 resamples) and by Wilson's method alone."
    ) in text
    assert text.endswith("\\end{table}\n")
    assert "~" not in text.replace("{\\textasciitilde}", "")


def test_csv_and_the_frame_have_a_row_an_output_and_system(ranking: Ranking) -> None:
    rows = list(csv.DictReader(io.StringIO(ranking.to_csv())))
    assert [(row["metric"], row["system"], row["rank"]) for row in rows[:3]] == [
        ("exact_match", "right_1", "1"),
        ("exact_match", "one & off", "1"),
        ("exact_match", "[none]", "2"),
    ]
    assert [row["difference"] for row in rows[:3]] == ["", str(-1 / 16), "-1.0"]
    every = ranking.to_frame(outputs="all")
    assert list(every.columns[:4]) == ["metric", "output", "system", "score"]
    assert {"p uncorrected", "p sacrebleu bootstrap (too small)"} <= {*every}
    assert set(every["output"]) == {"score", "distance"}
    assert ranking.to_frame()["score"].tolist() == [float(row["score"]) for row in rows]


def test_a_dictionary_has_all_tests_and_is_json(ranking: Ranking) -> None:
    found = ranking.to_dict()
    assert (found["baseline"], found["samples"]) == ("right_1", SIZE)
    assert found["ranks"]["exact_match"]["score"] == {"right_1": 1, "one & off": 1, "[none]": 2}
    assert found["comparisons"].keys() == {"one & off", "[none]"}
    assert [(pair["system"], pair["other"]) for pair in found["pairs"]] == [("[none]", "one & off")]
    assert found["about"]["sacrebleu_bootstrap_p"].startswith("too small: ")
    assert found["sentence"] == "; ".join(ranking.sentences)
    assert (
        json.loads(json.dumps(json_value(found)))["scores"]["[none]"]["exact_match"]["score"] == 0
    )


def test_a_notebook_and_print_show_scores_differences_and_sentences(ranking: Ranking) -> None:
    shown = ranking._repr_html_()
    assert shown.count("<table>") == 2
    assert "<td>one &amp; off</td><td><strong>0.938</strong> (1) ≈</td>" in shown
    assert "<caption>Difference from right_1; p is corrected" in shown
    text = str(ranking)
    assert text.splitlines()[0].split() == ["system", "exact_match", "↑", "edit_similarity", "↑"]
    for sentence in ranking.sentences:
        assert sentence in text


@pytest.mark.parametrize("method", ["to_csv", "to_frame", "to_markdown", "to_latex", "tables"])
def test_another_choice_of_outputs_is_refused(ranking: Ranking, method: str) -> None:
    with pytest.raises(ParameterError, match="choose 'headline' or 'all'"):
        getattr(ranking, method)(outputs="main")


def of_documents(number: int, **options: Any) -> dict[str, Report]:
    """Reports of two systems on twenty samples of so many documents."""
    rows = [{"doc": i % number, "reference": "a b", "id": i} for i in range(20)]
    return {
        name: Hub("wer").evaluate([{**row, "prediction": text} for row in rows], **options)
        for name, text in {"A": "a b", "B": "a"}.items()
    }


FEW = "p is rough, as 'doc' has only 9 different values"


@pytest.mark.parametrize(
    ("given", "options"), [({}, {"cluster": "doc"}), ({"samples": False, "key": "doc"}, {})]
)
def test_p_is_called_rough_below_ten_clusters_or_buckets(given: Any, options: Any) -> None:
    few, enough = of_documents(9, **given), of_documents(10, **given)
    ranking = compare_all(few, **options)
    assert ranking.sentences[-1] == FEW
    assert FEW in ranking.foot()
    sentence = few["A"].compare(few["B"], **options)["wer"]["score"].sentence
    assert sentence is not None
    assert sentence.endswith(f"; {FEW}")
    assert "rough" not in compare_all(enough, **options).sentence


def test_the_differences_say_that_only_p_is_corrected(ranking: Ranking) -> None:
    corrected = "; p is corrected for several tests, the intervals aren't"
    assert ranking.tables()[1].caption == f"Difference from right_1{corrected}"
    assert compare_all(of_documents(9)).tables()[1].caption == "Difference from A"


def test_marks_are_explained_below_the_tables(ranking: Ranking) -> None:
    assert ranking.foot()[-1] == (
        "in parentheses: ranks; a system ranks one below the lowest that beats it; "
        "≈: no significant difference from right_1 (p > .05)"
    )


def test_intervals_are_shown_where_they_are_asked_for(ranking: Ranking) -> None:
    assert "[" not in ranking.tables()[0].text().replace("[none]", "")
    assert "[0.000, " in ranking.tables(intervals=True)[0].text()
    assert "[0.000, " not in ranking.to_markdown() + ranking.to_latex()
    assert "[0.000, " in ranking.to_markdown(intervals=True)


def test_a_data_frame_needs_pandas(ranking: Ranking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    for report in (ranking, *ranking.reports.values()):
        with pytest.raises(MissingDependency, match="pandas"):
            report.to_frame()


def test_a_column_is_as_wide_as_its_numbers_and_ten_letters_of_its_name() -> None:
    names = ["a metric with a name of many words", "short"]
    table = Table(names, [[0.25, 10.0]]).rich()
    assert [column.min_width for column in table.columns] == [10, 5]
    assert table.title is None
    assert str(Table(names, [[0.25, 10.0]], caption="Of 2").rich().title) == "Of 2"
    scores = Table(names, [[Score("0.2"), Score("0.1234567890123")]]).rich()
    assert [column.min_width for column in scores.columns] == [10, 15]


def test_all_outputs_show_both_uncorrected_p_values(ranking: Ranking) -> None:
    _, shown = ranking.tables()
    _, every = ranking.tables(outputs="all")
    assert shown.head[3:] == ["p"]
    assert every.head[3:] == ["p", "p uncorrected", "p sacrebleu bootstrap (too small)"]
    assert all(len(row) == len(every.head) for row in every.rows)
    row = next(row for row in every.rows if row[:2] == ["exact_match ↑", "[none]"])
    test = ranking.pairs["[none]", "right_1"]["exact_match"]["score"]
    low, high = test.interval[:2]
    assert str(row[2]) == f"-1.000 [{low:+.3f}, {high:+.3f}]"
    assert [str(cell) for cell in row[4:]] == [
        "< .0001" if p < 1e-4 else f"{p:.4f}".removeprefix("0")
        for p in (test.randomisation_p, test.sacrebleu_bootstrap_p)
    ]


def test_a_ranking_has_the_signatures_of_its_metrics(ranking: Ranking) -> None:
    assert [line.partition("(")[0] for line in ranking.signatures()] == [
        "exact_match",
        "edit_similarity",
    ]


def test_the_foot_says_why_scores_that_are_shown_with_intervals_have_none() -> None:
    hub = Hub("edit_similarity")
    few = {
        name: hub.evaluate(predictions=[name, "x"], references=["a", "x"]) for name in ("a", "b")
    }
    feet = {shown: compare_all(few, **HOW).foot(intervals=shown) for shown in (False, True)}
    (more,) = set(feet[True]) - set(feet[False])
    assert "2 samples are too few; an interval needs 5" in more


@pytest.mark.parametrize(("most", "tested"), [(SIZE, True), (SIZE - 1, False)])
def test_only_so_many_samples_are_tested_for_the_marks_of_a_table(
    most: int, tested: bool, ranking: Ranking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "QUICK_SAMPLES", most)
    tests, reasons = module.quick_tests(ranking.reports)
    assert (tests is not None) is tested
    assert set(reasons) == (set() if tested else {"exact_match", "edit_similarity"})


def test_scores_of_a_function_have_no_percent() -> None:
    def half(prediction: str) -> float:
        return 0.5

    reports = {name: Hub(half).evaluate(predictions=[name] * 2) for name in ("a", "b")}
    assert "half %" not in compare_all(reports, **HOW).to_markdown(percent=True)


def test_the_foot_says_which_samples_a_test_is_of_where_some_were_left_out() -> None:
    texts = ["a a b", "c d e", "f f f", "g h i"]
    systems = {
        name: Hub("ttr").evaluate(predictions=predictions)
        for name, predictions in (("full", texts), ("half", [*texts[:2], "", ""]))
    }
    about = "differences and p are computed on the samples that both systems have scores for"
    assert about in compare_all(systems, **HOW).foot()
    assert about not in compare_all(dict.fromkeys("ab", systems["full"]), **HOW).foot()
