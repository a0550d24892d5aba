"""Each form of a table, cell by cell: text, CSV, Markdown, LaTeX, HTML and the terminal."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from metrichub.report.tables import Cell, Score, Table, _encoder, csv_text, fit_width, format_cell

NAN, INFINITE = float("nan"), float("inf")
WORD = "a-single-word-of-thirty-letters"
TABLE = Table(
    ["system", "score", "n"],
    [["a_1", Score("0.5", "≈"), 7], ["b", Score("12.5", "≈", "[9, 14]"), 10]],
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


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        # From ten on, what is whole needs no decimals; below, it may be a score of exactly 1.
        (9.0, "9.0000"),
        (-10.0, "-10"),
        (10.0, "10"),
        (10.5, "10.5000"),
        (1, "1"),
        (NAN, "–"),
        (None, "–"),
        (Score("1", "≈", "[0, 1]", "· 1 of 2"), "1 ≈ [0, 1] · 1 of 2"),
        (Score("1", mark="≈"), "1 ≈"),
    ],
)
def test_a_cell_has_four_decimals_unless_it_counts(cell: Cell, text: str) -> None:
    assert format_cell(cell) == text


def test_text_and_a_terminal_have_the_caption_above_and_numbers_on_the_right() -> None:
    lines = [
        "Of 17 samples",
        "system  score            n",
        "a_1      0.5 ≈           7",
        "b       12.5 ≈ [9, 14]  10",
    ]
    assert TABLE.text().splitlines() == lines
    assert rendered(TABLE, 80) == lines
    assert rendered(TABLE._replace(caption=""), 80) == lines[1:]
    assert Table(["x", "y"], []).text() == "x  y"
    # Only the best are bold, what is worse is red, and the caption is plain.
    coloured = rendered(TABLE._replace(worse={(1, 2)}), 80, colour=True)
    assert coloured[0].startswith("Of 17 samples")
    assert ["\x1b[1m" in line for line in coloured[2:]] == [True, False]
    assert "\x1b[1m 0.5 ≈" in coloured[2]
    assert "\x1b[31m10" in coloured[3]


def test_a_narrow_terminal_folds_texts_and_keeps_numbers_whole() -> None:
    score = Score("0.123", interval="[0.1000, 0.2000]", scored="· 1 of 2")
    lines = rendered(Table(["system", "score"], [[f"{WORD} and more", score]]), 50)
    assert max(map(len, lines)) <= 50 + len(str(score))
    assert sum(str(score) in line for line in lines) == 1
    # A word of 31 letters needs two lines of 24.
    folded = "".join(line[:24].strip() for line in lines[1:])
    assert folded.replace(" ", "") == f"{WORD}andmore"
    # Texts are folded before a score needs more room than there is.
    table = Table(["system", "score"], [["some words in a row that is long", Score("0" * 30)]])
    assert max(map(len, rendered(table, 45))) == 45


@pytest.mark.parametrize("part", ["mark", "interval", "scored"])
def test_a_number_with_anything_beside_it_is_left_aligned(part: str) -> None:
    plain, marked = Score("1.5"), Score("1.5")._replace(**{part: "x"})
    cases: list[tuple[list[Cell], bool]] = [
        ([plain, plain], True),
        ([None, NAN, 1.0], True),
        ([plain, marked], False),
        ([marked, 1.0], False),
        ([1.0, "x"], False),
    ]
    for cells, right in cases:
        table = Table(["n"], [[cell] for cell in cells])
        assert table.markdown().splitlines()[1] == ("| ---: |" if right else "| --- |")
        assert table.latex().startswith(f"\\begin{{tabular}}{{{'r' if right else 'l'}}}")
        assert (' class="number"' in table.html()) is right
        assert [column.justify for column in table.rich().columns] == ["right" if right else "left"]


def test_markdown_has_caption_and_signatures_below() -> None:
    assert TABLE.markdown() == (
        "| system | score | n |\n"
        "| --- | --- | ---: |\n"
        "| a_1 | **0.5** ≈ | 7 |\n"
        "| b | 12.5 ≈ [9, 14] | 10 |\n"
        "\nOf 17 samples\n"
        "\n`wer()|definition:1`\n"
        "\n`bleu()`\n"
    )
    assert Table(["x"], [[1]]).markdown() == "| x |\n| ---: |\n| 1 |\n"


TABULAR = (
    "\\begin{tabular}{llr}\n\\toprule\nsystem & score & n \\\\\n\\midrule\n"
    "a\\_1 & \\textbf{0.5} \\ensuremath{\\approx} & 7 \\\\\n"
    "b & 12.5 \\ensuremath{\\approx} [9, 14] & 10 \\\\\n"
    "\\bottomrule\n\\end{tabular}\n"
)


@pytest.mark.parametrize(
    ("caption", "signatures", "below"),
    [
        ("", [], ""),
        ("Of 17", [], ""),
        ("", ["a()|b"], "% 9 trials \\input\n% a()|b\n"),
        (
            "Of 17",
            ["a()", "c()\n\\end{document}"],
            "% 9 trials \\input\n% a()\n% c() \\end{document}\n",
        ),
    ],
)
def test_latex_is_a_float_with_a_caption_and_comments_say_how_it_was_made(
    caption: str, signatures: list[str], below: str
) -> None:
    method = "9 trials\r\n\\input" if below else ""
    text = TABLE._replace(caption=caption, signatures=signatures, method=method).latex()
    latex = f"\\begin{{table}}\n\\centering\n{TABULAR}\\caption{{{caption}}}\n\\end{{table}}\n"
    assert text == f"{latex if caption else TABULAR}{below}"


@pytest.mark.parametrize(
    ("text", "markdown", "latex"),
    [
        ("a_b", "a_b", "a\\_b"),
        ("_a_", "\\_a\\_", "\\_a\\_"),
        ("a*b|c`d<e", "a\\*b\\|c\\`d\\<e", "a*b{\\textbar}c`d\\ensuremath{<}e"),
        ("e\\f", "e\\\\f", "e{\\textbackslash}f"),
        ("[a](b)", "\\[a](b)", "{}[a](b)"),
        ("[a] b", "[a] b", "{}[a] b"),
        (" a \n\tb ", "a b", "a b"),
        ("*", "\\*", "{}*"),
        ("↑ ↓ –", "↑ ↓ –", "$\\uparrow$ $\\downarrow$ --"),
        ("50%\n& more", "50% & more", "50\\% \\& more"),
        ("中", "中", "中"),
    ],
)
def test_markdown_and_latex_show_signs_as_they_are(
    text: str, markdown: str, latex: str, caplog: pytest.LogCaptureFixture
) -> None:
    _encoder.cache_clear()
    table = Table([text], [[text]])
    assert table.markdown().splitlines()[::2] == [f"| {markdown} |"] * 2
    assert table.latex().splitlines()[2:5:2] == [f"{latex} \\\\"] * 2
    assert not caplog.records


def test_html_is_escaped() -> None:
    table = Table(["<x>", "n"], [["a&b", 1], ["c", 2]], {(1, 1)}, "own & more")
    head = (
        "<thead><tr>"
        '<th scope="col">&lt;x&gt;</th><th scope="col" class="number">n</th>'
        "</tr></thead>\n"
    )
    assert table.html() == (
        f"<table><caption>own &amp; more</caption>\n{head}"
        '<tr><td>a&amp;b</td><td class="number">1</td></tr>\n'
        '<tr><td>c</td><td class="number"><strong>2</strong></td></tr></table>\n'
    )
    assert "<caption>" not in table._replace(caption="").html()


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        # What a spreadsheet would take for a formula gets an apostrophe.
        ('=HYPERLINK("http://x.y","z")', '"\'=HYPERLINK(""http://x.y"",""z"")"'),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-1+1", "'-1+1"),
        ("-", "'-"),
        ("\t=1", "'\t=1"),
        ("\r=1", '"\'\r=1"'),
        # A number is none, as text or as itself, and a text may hold the signs further on.
        ("-1e5", "-1e5"),
        (-0.5, "-0.5"),
        ("a=b", "a=b"),
        (1 / 3, "0.3333333333333333"),
        (0, "0"),
        (0.0, "0.0"),
        (None, ""),
        (NAN, ""),
        (INFINITE, ""),
        (-INFINITE, ""),
        ("a\rb", '"a\rb"'),
        ("a\nb", '"a\nb"'),
        ("a,b", '"a,b"'),
        ("\ud800", "?"),
    ],
)
def test_csv_has_full_precision_no_formulas_and_empty_cells(
    cell: str | float | None, written: str
) -> None:
    assert csv_text(["x", "y"], [[cell, "z"], [1, cell]]) == f"x,y\n{written},z\n1,{written}\n"
    assert Table(["=1+1"], []).csv() == "'=1+1\n"


BOARD = Table(
    ["system", "", "m1", "m2", "m3"],
    [[name * 8, "─●─", Score(".1"), Score(".2"), Score(".3")] for name in "ab"],
    frozenset({(0, 2), (1, 3)}),
    worse=frozenset({(1, 2), (0, 4)}),
    picture=1,
)
"""Columns of 8, 3 and three of 2 characters, so 25 with the spaces between."""


@pytest.mark.parametrize(
    ("width", "head", "hidden"),
    [
        (None, ["system", "", "m1", "m2", "m3"], 0),
        (25, ["system", "", "m1", "m2", "m3"], 0),
        # The picture goes first, and isn't told.
        (24, ["system", "m1", "m2", "m3"], 0),
        (20, ["system", "m1", "m2", "m3"], 0),
        (19, ["system", "m1", "m2"], 1),
        # One score is never cut off its systems, however narrow the terminal.
        (1, ["system", "m1"], 2),
    ],
)
def test_a_narrow_terminal_loses_the_picture_and_then_the_last_columns(
    width: int | None, head: list[str], hidden: int
) -> None:
    table, lost = fit_width(BOARD, width)
    assert (table.head, lost) == (head, hidden)
    assert [row[0] for row in table.rows] == ["a" * 8, "b" * 8]
    first = head.index("m1")
    assert (0, first) in table.best
    assert (1, first) in table.worse
    assert ((0, first + 2) in table.worse) == ("m3" in head)


@pytest.mark.parametrize(("width", "hidden"), [(32, 0), (31, 1)])
def test_long_names_of_systems_count_as_the_24_letters_that_stay_in_a_line(
    width: int, hidden: int
) -> None:
    # Names of 31 letters fill 24 columns, and each of two scores 2 with 2 spaces before.
    board = Table(["system", "m1", "m2"], [[WORD, Score(".1"), Score(".2")]])
    assert fit_width(board, width)[1] == hidden
