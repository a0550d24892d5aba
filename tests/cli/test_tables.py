"""Tables as a terminal of 80 and of 120 columns shows them; each was looked at.

Two systems on sixteen samples, eight of each of `ROWS`, of which a resample draws k and 16 - k, k
with the standard deviation 2. For system a exact_match is (16 - k) / 16, edit_similarity 1 - .2 k /
16, and wer and abstractness are k / (16 + 2 k); system b has every word wrong. It loses all sixteen
by wer and edit_similarity, so that p is 2 ** -15.

By hand: Wilson's interval of 8 of 16 is .280 to .720, that of none of 16 ends at .194. Student's
t of 15 degrees is 2.131. wer varies by 2 * 16 / 32 ** 2 = .031, which 16 samples make .032: .25 ±
.069, but for the draws. edit_similarity varies by .025 (.0258) as that of 135 yes/no samples of .9
does, and Wilson's interval of these is .831 to .943; abstractness as that of 180 of .25: .188 to
.324.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.test_terminal import on_terminal
from tests.commands import run, write, write_ranked_systems

METRICS = ("exact_match", "edit_similarity", "wer", "abstractness")
ROWS_OF_SYSTEMS = """\
system  exact_match ↑         edit_similarity ↑     wer ↓                 abstractness
a       0.500 [0.280, 0.720]  0.900 [0.830, 0.943]  0.250 [0.175, 0.325]  0.250 [0.183, 0.331]
b       0.000 [0.000, 0.194]  0.000 [0.000, 0.194]  1.000 [–]             1.000 [0.806, 1.000]
"""
ROWS_CUT = """\
system  exact_match ↑         edit_similarity ↑     wer ↓
a       0.500 [0.280, 0.720]  0.900 [0.830, 0.943]  0.250 [0.175, 0.325]
b       0.000 [0.000, 0.194]  0.000 [0.000, 0.194]  1.000 [–]
1 column hidden, widen the window
"""
WAY = "a scores lower than b on wer, where less is better: 25.0% against 100.0%"
COMPARED = """\

                        a      b  difference [95% interval]       p{}
wer % ↓              25.0  100.0  +75.0 [+67.5, +82.5]       < .001{}
edit_similarity % ↑  90.0    0.0  −90.0 [−95.6, −84.4]       < .001{}

16 samples · less is better in wer
"""
PICTURE = ["  ← a              b →", "   ─●─      │", "  ─●        │"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_ranked_systems()
    return tmp_path


def shown(width: int, *arguments: str) -> str:
    """What a terminal of a width shows, without spaces at ends of lines; a rule is one sign."""
    out, _ = on_terminal(*arguments, COLUMNS=str(width), NO_COLOR="1")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out)
    return "".join(f"{re.sub('─+', '─', line).rstrip()}\n" for line in plain.splitlines())


@pytest.mark.parametrize(("width", "table"), [(80, ROWS_CUT), (120, ROWS_OF_SYSTEMS)])
def test_what_a_narrow_terminal_hides_is_told(width: int, table: str) -> None:
    chosen = [part for metric in METRICS for part in ("-m", metric)]
    text = shown(width, "score", "a.jsonl", "b.jsonl", *chosen, "--intervals")
    assert text.startswith(f"{table}\n")
    assert text.endswith("no interval for wer of b: all resamples have the same score\n")


@pytest.mark.parametrize(
    ("width", "lines", "picture"),
    [
        (80, [WAY, "(p < .001). edit_similarity agrees."], ["", "", ""]),
        (100, [f"{WAY} (p < .001). edit_similarity", "agrees."], PICTURE),
        (120, [f"{WAY} (p < .001). edit_similarity agrees."], PICTURE),
    ],
)
def test_a_comparison_has_a_headline_a_table_and_what_to_know(
    width: int, lines: list[str], picture: list[str]
) -> None:
    chosen = ("-m", "wer", "-m", "edit_similarity", "--percent")
    text = shown(width, "compare", "a.jsonl", "b.jsonl", *chosen)
    assert text == "".join(f"{line}\n" for line in lines) + COMPARED.format(*picture)


def test_counts_have_no_decimals_and_a_column_has_one_number_of_them() -> None:
    table = run("score", "a.jsonl", "-m", "wer", "--outputs", "all", "--format", "table").stdout
    cells = dict(line.rsplit(maxsplit=1) for line in table.splitlines()[2:-2])
    # Three of four words are right, eight times over, and one of three is replaced.
    assert (cells["wer hits ↑"], cells["wer substitutions ↓"]) == ("24", "8")
    assert cells["wer ↓"] == "0.250"


def test_headline_outputs_are_shown_unless_all_are_asked_for() -> None:
    few = run("score", "a.jsonl", "-m", "rouge", "--format", "csv").stdout.splitlines()
    assert [line.split(",")[1] for line in few[1:]] == ["rouge1", "rouge2", "rougeL", "rougeLsum"]
    every = run("score", "a.jsonl", "-m", "rouge", "--format", "csv", "--outputs", "all").stdout
    assert len(every.splitlines()) > 10


def test_percent_is_for_display_alone() -> None:
    for form in ("json", "csv"):
        asked = ("score", "a.jsonl", "-m", "exact_match", "-m", "wer", "--format", form)
        assert run(*asked, "--percent").stdout == run(*asked).stdout
    shown = run("score", "a.jsonl", "-m", "exact_match", "-m", "wer", "--percent", "-o", "t.md")
    assert shown.exit_code == 0
    # An error rate may pass 1, but papers give it in percent all the same; counts stay counts.
    _, _, *rows = Path("t.md").read_text("utf-8").splitlines()
    assert rows[:2] == ["| exact_match % ↑ | 50.0 |", "| wer % ↓ | 25.0 |"]


def test_nothing_is_marked_as_equal_that_a_test_distinguishes() -> None:
    write("c.jsonl", [{"prediction": "a b c", "reference": "a b d"}, {"prediction": "d"}] * 8)
    Path("c.jsonl").write_text(
        Path("a.jsonl").read_text("utf-8").replace('"prediction": "d"', '"prediction": "d e"', 1)
    )
    table = run("compare", "a.jsonl", "b.jsonl", "c.jsonl", "-m", "wer", "-o", "t.md")
    assert table.exit_code == 0
    lines = Path("t.md").read_text("utf-8").splitlines()
    # One word more in one of sixteen samples: 9 errors of 32 words, and no test distinguishes it.
    assert lines[2:5] == ["| a | **0.250** |", "| c | 0.281 ≈ |", "| b | 1.000 |"]
