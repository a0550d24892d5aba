"""Tables of several systems: side by side, tested, and with the best in bold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from metrichub import Hub, compare_all
from metrichub.catalog.frontmatter import Scale
from metrichub.report.scoreboard import _decimals, first_of, p_cell, rows_of_scores, rows_of_tests
from metrichub.report.tables import Score, Table, _aligned, csv_text, fit_width, format_cell

COLUMNS: dict[str, Any] = {"predictions": ["a b c", "d"], "references": ["a b d", "d"]}
WORSE = {**COLUMNS, "predictions": ["z", "z"]}
NAN = float("nan")
RANKS = {
    "exact_match": {"score": {"a|b": 1, "c_d": 2}},
    "edit_similarity": {"score": {"a|b": 1, "c_d": 2}},
}


def reports(*metrics: str) -> dict[str, Any]:
    """Two systems, of which the second has every word wrong."""
    hub = Hub(list(metrics))
    return {"a|b": hub.evaluate(**COLUMNS), "c_d": hub.evaluate(**WORSE)}


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        # From ten on, what is whole needs no decimals; below, it may be a score of exactly 1.
        (9.0, "9.0000"),
        (10.0, "10"),
        (-10.0, "-10"),
        (10.5, "10.5000"),
        (1, "1"),
        (1.0, "1.0000"),
        (NAN, "–"),
        (None, "–"),
    ],
)
def test_a_cell_has_four_decimals_unless_it_counts(cell: float | None, text: str) -> None:
    assert format_cell(cell) == text


@pytest.mark.parametrize(
    ("ranks", "best"),
    [({"a": 2, "b": 1}, {"b"}), ({"a": 1, "b": 2, "c": 1}, {"a", "c"}), ({}, set())],
)
def test_the_best_are_those_of_the_first_rank(ranks: dict[str, int], best: set[str]) -> None:
    assert first_of(ranks) == best
    assert first_of(dict.fromkeys(ranks, 1)) == set()


def test_systems_stand_side_by_side_with_the_best_in_bold() -> None:
    systems = reports("abstractness", "exact_match", "edit_similarity")
    table = rows_of_scores(systems, ranks=RANKS)
    assert table.markdown() == (
        "| metric | output | a\\|b | c_d |\n"
        "| --- | --- | ---: | ---: |\n"
        # Of four words one is new, or both of two; neither is better.
        "| abstractness | score | 0.2500 | 1.0000 |\n"
        "| exact_match | score | **0.5000** | 0.0000 |\n"
        # "a b c" for "a b d": one of five characters; "z" for it all five, and for "d" the one.
        "| edit_similarity | score | **0.9000** | 0.0000 |\n"
        "| edit_similarity | distance | 0.5000 | 3.0000 |\n"
    )


def test_latex_is_ready_for_a_paper() -> None:
    assert rows_of_scores(reports("exact_match"), ranks=RANKS).latex() == (
        "\\begin{tabular}{llrr}\n"
        "\\toprule\n"
        "metric & output & a{\\textbar}b & c\\_d \\\\\n"
        "\\midrule\n"
        "exact\\_match & score & \\textbf{0.5000} & 0.0000 \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
    )


def test_csv_and_text_hold_numbers_alone() -> None:
    table = rows_of_scores(reports("exact_match"), ranks=RANKS)
    assert table.csv() == "metric,output,a|b,c_d\nexact_match,score,0.5,0.0\n"
    assert "*" not in table.text()


def test_intervals_and_counts_follow_each_score() -> None:
    systems = reports("exact_match")
    intervals = {name: report.intervals(resamples=5) for name, report in systems.items()}
    table = rows_of_scores(systems, intervals, RANKS)
    assert table.head[2:] == ["a|b", "a|b low", "a|b high", "c_d", "c_d low", "c_d high"]
    assert table.best == {(0, 2)}
    # None of 2 right: Wilson's interval reaches up to 1.96 ** 2 / (2 + 1.96 ** 2).
    assert (table.rows[0][2], *table.rows[0][5:]) == (
        0.5,
        0.0,
        0.0,
        pytest.approx(0.6576, abs=1e-4),
    )


def test_a_system_without_a_metric_has_empty_cells() -> None:
    one, other = Hub(["exact_match", "wer"]).evaluate(**COLUMNS), Hub("wer").evaluate(**COLUMNS)
    table = rows_of_scores({"a": one, "b": other}, ranks={"wer": {"score": {"a": 1, "b": 1}}})
    assert table.rows[0] == ("exact_match", "score", 0.5, None)
    assert table.rows[1] == ("wer", "score", 0.25, 0.25)
    # Both have the same rate of errors: neither is better.
    assert not table.best


def test_one_system_has_no_best() -> None:
    report = Hub("exact_match").evaluate(**COLUMNS)
    assert rows_of_scores({"a": report}).head == ["metric", "output", "score"]
    assert "**" not in rows_of_scores({"": report}).markdown()


def test_the_best_system_of_a_comparison_is_bold() -> None:
    ranking = compare_all(reports("exact_match", "wer(alignment=False)"), resamples=5, trials=5)
    # Two samples are too few for any test.
    assert not rows_of_tests(ranking).best
    ranked = replace(ranking, ranks={**RANKS, "wer": {"score": {"a|b": 1, "c_d": 2}}})
    table = rows_of_tests(ranked)
    assert [row[:4] for row in table.rows] == [
        ["exact_match", "score", "a|b", 0.5],
        ["exact_match", "score", "c_d", 0.0],
        ["wer", "score", "a|b", 0.25],
        # Three words of the first reference are missed, and the word of the second.
        ["wer", "score", "c_d", 1.0],
    ]
    assert set(table.best) == {(0, 3), (2, 3)}
    assert [row[4] for row in table.rows] == [1, 2, 1, 2]
    assert table.head[4:] == ["rank", "difference", "low", "high", "p"]
    # Rows of the first system have no test.
    assert [row[5] for row in table.rows] == [None, -0.5, None, 0.75]


def test_a_report_shows_itself_as_an_escaped_table() -> None:
    report = Hub("a = exact_match()").evaluate(**COLUMNS)
    assert report._repr_html_() == (
        '<table><thead><tr><th scope="col">metric</th>'
        '<th scope="col" class="number">score</th></tr></thead>\n'
        '<tr><td>a ↑</td><td class="number">0.500</td></tr></table>\n'
    )
    hostile = Table(["<b>"], [["<script>"], [None]], {(0, 0)}).html("a & b")
    assert hostile == (
        "<table><caption>a &amp; b</caption>\n"
        '<thead><tr><th scope="col">&lt;b&gt;</th></tr></thead>\n'
        "<tr><td><strong>&lt;script&gt;</strong></td></tr>\n<tr><td>–</td></tr></table>\n"
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [([0.5], 3), ([9.0], 3), ([9.99], 3), ([10.0, 3.0], 0), ([10.0, 3.5], 2), ([100.0, 0.5], 1)],
)
def test_a_column_has_fewer_decimals_the_larger_its_numbers(
    values: list[float], expected: int
) -> None:
    assert _decimals(values, None, "score") == expected
    assert _decimals([*values, float("nan"), float("inf")], None, "score") == expected


def test_counts_have_no_decimals() -> None:
    assert _decimals([3.0], Scale(0, None, "lower"), "deletions") == 0
    assert _decimals([3.0], Scale(0, None, "lower"), "score") == 3
    assert _decimals([3.0], Scale(0, 5, "higher"), "deletions") == 3


@pytest.mark.parametrize(
    ("p", "text"), [(0.00009, "< .0001"), (0.0001, ".0001"), (1.0, "1.0000"), (float("nan"), "–")]
)
def test_a_column_of_p_values_has_four_decimals(p: float, text: str) -> None:
    assert str(p_cell(p)) == text


def test_what_follows_numbers_starts_at_one_place() -> None:
    cells = [Score("1.0", rank="(1)"), Score("12.5", mark="*"), 3]
    assert _aligned(cells) == [" 1.0 (1)", "12.5     *", "   3"]


BOARD = Table(
    ["system", "m1", "m2"],
    [[name * 8, Score(".1"), Score(".2")] for name in "ab"],
    frozenset({(0, 1), (1, 2)}),
)
"""Columns of 8, 2 and 2 characters, so 16 with the spaces between; 26 when it is turned."""


def test_a_board_that_fits_stays_whole() -> None:
    assert fit_width(BOARD, None) == fit_width(BOARD, 16) == [BOARD]


def test_a_board_is_cut_where_it_is_too_wide_both_ways() -> None:
    first, second = fit_width(BOARD, 15)
    assert (first.head, second.head) == (["system", "m1"], ["system", "m2"])
    assert second.rows == [["a" * 8, Score(".2")], ["b" * 8, Score(".2")]]
    assert (first.best, second.best) == ({(0, 1)}, {(1, 1)})
    # A single output is never cut off its systems, however narrow the terminal.
    assert [table.head for table in fit_width(BOARD, 1)] == [first.head, second.head]


def test_a_table_has_as_many_outputs_as_fit() -> None:
    # Each output takes 2 characters and 2 spaces beside the 8 of the systems' names.
    names = [f"m{n}" for n in range(5)]
    scores = [Score(f".{n}") for n in range(5)]
    board = Table(["system", *names], [[name * 8, *scores] for name in "ab"], frozenset())
    assert [table.head[1:] for table in fit_width(board, 16)] == [names[:2], names[2:4], names[4:]]


def test_a_board_of_one_system_is_turned() -> None:
    # Whole it needs 6 + 2 + 2 characters and 4 spaces, and turned 6 + 4 and 2.
    one = Table(BOARD.head, [["four", Score(".1"), Score(".2")]], frozenset({(0, 2)}))
    assert fit_width(one, 14) == [one]
    (turned,) = fit_width(one, 12)
    assert turned.head == ["metric", "four"]
    assert turned.rows == [["m1", Score(".1")], ["m2", Score(".2")]]
    assert turned.best == {(1, 1)}
    assert turned.best == {(1, 1)}


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ('=HYPERLINK("http://x.y","z")', '"\'=HYPERLINK(""http://x.y"",""z"")"'),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-1+1", "'-1+1"),
        ("\t=1", "'\t=1"),
        ("\r=1", '"\'\r=1"'),
        # A number is none, as text or as itself, and a text may hold the signs further on.
        ("-0.5", "-0.5"),
        (-0.5, "-0.5"),
        ("a=b", "a=b"),
        (float("nan"), ""),
        ("\ud800", "?"),
    ],
)
def test_no_cell_of_csv_is_a_formula_to_a_spreadsheet(cell: str | float, written: str) -> None:
    assert csv_text(["x", "y"], [["a", cell]]) == f"x,y\na,{written}\n"


def test_no_head_of_csv_is_a_formula_to_a_spreadsheet() -> None:
    assert Table(["=1+1"], []).csv() == "'=1+1\n"
