"""Each form of a table, cell by cell: text, CSV, Markdown, LaTeX, HTML and the terminal."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.console import Console

from metrichub.report.tables import Cell, Score, Table, _encoder, csv_text, fit_width

WORD = "a-single-word-of-thirty-letters"
TABLE = Table(
    ["system", "score", "n"],
    [["a_1", Score("0.5", "(1)"), 7], ["b", Score("12.5", "(2)", "≈"), 10]],
    frozenset({(0, 1)}),
    "Of 17 samples",
    ["wer()|definition:1", "bleu()"],
)


def rendered(table: Table, width: int, colour: bool = False) -> list[str]:
    """The lines of a terminal of a width; a rule is one sign."""
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=colour, color_system="standard" if colour else None
    )
    console.print(table.rich(), crop=False)
    return [re.sub("─+", "─", line).rstrip() for line in out.getvalue().splitlines()]


def test_plain_text_has_its_caption_above_and_numbers_on_the_right() -> None:
    assert TABLE.text().splitlines() == [
        "Of 17 samples",
        "system  score        n",
        "a_1      0.5 (1)     7",
        "b       12.5 (2) ≈  10",
    ]
    assert Table(["x", "y"], []).text() == "x  y"


def test_a_terminal_shows_what_plain_text_does_with_a_rule_below_the_head() -> None:
    caption, head, *rows = TABLE.text().splitlines()
    assert rendered(TABLE, 80) == [caption, head, "─", *rows]
    assert rendered(TABLE._replace(caption=""), 80) == [head, "─", *rows]


def test_on_a_terminal_only_the_best_are_bold_and_the_caption_is_plain() -> None:
    table = TABLE.rich()
    cells: list[list[Any]] = [list(column.cells) for column in table.columns]
    bold = [[str(cell.style) for cell in column] for column in cells]
    assert bold == [["", ""], ["bold", ""], ["", ""]]
    lines = rendered(TABLE, 80, colour=True)
    assert lines[0].startswith("Of 17 samples")
    assert "\x1b[1m 0.5 (1)" in lines[3]


def test_a_narrow_terminal_folds_texts_and_keeps_numbers_whole() -> None:
    score = Score("0.123", interval="[0.1000, 0.2000]", scored="· 1 of 2")
    table = Table(["system", "score"], [[f"{WORD} and more", score]])
    lines = rendered(table, 50)
    assert max(map(len, lines)) <= 50 + len(str(score))
    assert sum(str(score) in line for line in lines) == 1
    # A word of 31 letters needs two lines of 24.
    folded = "".join(line[:24].strip() for line in lines[2:])
    assert folded.replace(" ", "") == f"{WORD}andmore"
    assert [(column.min_width, column.no_wrap) for column in table.rich().columns] == [
        (24, False),
        (len(str(score)), True),
    ]


def test_texts_are_folded_before_a_score_needs_more_room_than_there_is() -> None:
    table = Table(["system", "score"], [["some words in a row that is long", Score("0" * 30)]])
    assert max(map(len, rendered(table, 45))) == 45


@pytest.mark.parametrize("part", ["rank", "mark", "interval", "scored"])
def test_a_number_with_anything_beside_it_is_left_aligned(part: str) -> None:
    plain, marked = Score("1.5"), Score("1.5")._replace(**{part: "x"})
    cases: list[tuple[list[Cell], bool]] = [
        ([plain, plain], True),
        ([plain, marked], False),
        ([marked, 1.0], False),
    ]
    for cells, right in cases:
        table = Table(["n"], [[cell] for cell in cells])
        assert table.markdown().splitlines()[1] == ("| ---: |" if right else "| --- |")
        assert table.latex().startswith(f"\\begin{{tabular}}{{{'r' if right else 'l'}}}")
        assert (' class="number"' in table.html()) is right
        assert [column.justify for column in table.rich().columns] == ["right" if right else "left"]
        assert table.text().startswith("n" if not right else " ")


def test_a_column_with_a_text_is_left_aligned_and_one_with_gaps_is_not() -> None:
    table = Table(["a", "b"], [[1.0, 1.0], ["x", None], [None, float("nan")]])
    assert table.markdown().splitlines()[1] == "| --- | ---: |"


def test_markdown_has_caption_and_signatures_below() -> None:
    assert TABLE.markdown() == (
        "| system | score | n |\n"
        "| --- | --- | ---: |\n"
        "| a_1 | **0.5** (1) | 7 |\n"
        "| b | 12.5 (2) ≈ | 10 |\n"
        "\nOf 17 samples\n"
        "\n`wer()|definition:1`\n"
        "\n`bleu()`\n"
    )
    assert Table(["x"], [[1]]).markdown() == "| x |\n| ---: |\n| 1 |\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a_b", "a_b"),
        ("_a_", "\\_a\\_"),
        ("a*b|c`d<e\\f", "a\\*b\\|c\\`d\\<e\\\\f"),
        ("[a](b)", "\\[a](b)"),
        ("[a] b", "[a] b"),
        (" a \n\tb ", "a b"),
    ],
)
def test_markdown_shows_signs_as_they_are(text: str, shown: str) -> None:
    assert Table([text], []).markdown().splitlines()[0] == f"| {shown} |"


TABULAR = (
    "\\begin{tabular}{llr}\n\\toprule\nsystem & score & n \\\\\n\\midrule\n"
    "a\\_1 & \\textbf{0.5} (1) & 7 \\\\\nb & 12.5 (2) \\ensuremath{\\approx} & 10 \\\\\n"
    "\\bottomrule\n\\end{tabular}\n"
)


@pytest.mark.parametrize(
    ("caption", "signatures", "below"),
    [
        ("", [], None),
        ("Of 17", [], "Of 17"),
        ("", ["a()|b"], "Signatures: a(){\\textbar}\\allowbreak b."),
        ("Of 17.", ["a()", "c()"], "Of 17. Signatures: a(); c()."),
    ],
)
def test_latex_is_a_float_where_there_is_something_to_say(
    caption: str, signatures: list[str], below: str | None
) -> None:
    text = TABLE._replace(caption=caption, signatures=signatures).latex()
    if below is None:
        assert text == TABULAR
    else:
        assert text == (
            f"\\begin{{table}}\n\\centering\n{TABULAR}\\caption{{{below}}}\n\\end{{table}}\n"
        )


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("[a]", "{}[a]"),
        ("*", "{}*"),
        ("a*[", "a*["),
        ("↑ ↓ – |", "$\\uparrow$ $\\downarrow$ -- {\\textbar}"),
        ("50%\n& more", "50\\% \\& more"),
        ("中", "中"),
    ],
)
def test_latex_prints_a_text_as_it_is(
    cell: str, written: str, caplog: pytest.LogCaptureFixture
) -> None:
    _encoder.cache_clear()
    assert Table(["x"], [[cell]]).latex().splitlines()[4] == f"{written} \\\\"
    assert not caplog.records


def test_html_is_escaped_with_buttons_where_a_cell_selects_samples() -> None:
    table = Table(["<x>", "n"], [["a&b", 1], ["c", 2]], {(1, 1)}, "own")
    head = (
        "<thead><tr>"
        '<th scope="col">&lt;x&gt;</th><th scope="col" class="number">n</th>'
        "</tr></thead>\n"
    )
    button = '<button type="button" data-select="&quot;k&quot;"><strong>2</strong></button>'
    assert table.html(links={(1, 1): '"k"'}) == (
        f"<table><caption>own</caption>\n{head}"
        '<tr><td>a&amp;b</td><td class="number">1</td></tr>\n'
        f'<tr><td>c</td><td class="number">{button}</td></tr></table>\n'
    )
    assert "<caption>given</caption>" in table.html("given")
    assert "<caption>" not in table._replace(caption="").html()
    assert "<button" not in table.html()


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        (None, ""),
        (float("inf"), ""),
        (float("-inf"), ""),
        (0, "0"),
        (0.0, "0.0"),
        (1 / 3, "0.3333333333333333"),
        ("-", "'-"),
        ("-1e5", "-1e5"),
        ("a\rb", '"a\rb"'),
        ("a\nb", '"a\nb"'),
        ("a,b", '"a,b"'),
    ],
)
def test_csv_has_full_precision_and_empty_cells_for_what_is_missing(
    cell: Cell, written: str
) -> None:
    assert csv_text(["x", "y"], [[cell, "z"], [1, cell]]) == f"x,y\n{written},z\n1,{written}\n"


def test_a_score_shows_the_parts_that_it_has() -> None:
    assert str(Score("1", "(2)", "≈", "[0, 1]", "· 1 of 2")) == "1 (2) ≈ [0, 1] · 1 of 2"
    assert str(Score("1", mark="≈")) == "1 ≈"


@pytest.mark.parametrize("more", [[], [[7, Score(".1"), Score(".2")]]])
@pytest.mark.parametrize(("width", "turned"), [(32, False), (31, True)])
def test_long_names_of_systems_count_as_the_24_letters_that_stay_in_a_line(
    width: int, turned: bool, more: list[list[Cell]]
) -> None:
    # Names of 31 letters fill 24 columns, and each of two scores 2 with 2 spaces before; turned,
    # each name is the head of a column of numbers, which needs all 31.
    rows: list[list[Cell]] = [[WORD, Score(".1"), Score(".2")], *more]
    board = Table(["system", "m1", "m2"], rows)
    tables = fit_width(board, width)
    assert (tables == [board]) is not turned
    assert len(tables) == 1 + turned
