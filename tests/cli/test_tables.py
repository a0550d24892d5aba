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
system  exact_match ↑             edit_similarity ↑         wer ↓                     abstractness
─
a       0.500 (1) [0.280, 0.720]  0.900 (1) [0.830, 0.943]  0.250 (1) [0.175, 0.325]  0.250 [0.183, 0.331]
b       0.000 (2) [0.000, 0.194]  0.000 (2) [0.000, 0.194]  1.000 (2) [–]             1.000 [0.806, 1.000]
"""  # noqa: E501
ROWS_OF_METRICS = """\
metric             a                         b
─
exact_match ↑      0.500 (1) [0.280, 0.720]  0.000 (2) [0.000, 0.194]
edit_similarity ↑  0.900 (1) [0.830, 0.943]  0.000 (2) [0.000, 0.194]
wer ↓              0.250 (1) [0.175, 0.325]  1.000 (2) [–]
abstractness       0.250     [0.183, 0.331]  1.000     [0.806, 1.000]
"""
COMPARED = """\
system  wer % ↓    edit_similarity % ↑
─
a        25.0 (1)  90.0 (1)
b       100.0 (2)   0.0 (2)

"""
DIFFERENCES = """\
Difference from a
metric               system  difference [95% interval]       p
─
wer % ↓              b       +75.0 [+67.5, +82.5]       < .001
edit_similarity % ↑  b       -90.0 [-95.6, -84.4]       < .001

a beats b on wer (p < .001) and edit_similarity (p < .001)
in parentheses: ranks; a system ranks one below the lowest that beats it
"""


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


@pytest.mark.parametrize(("width", "table"), [(80, ROWS_OF_METRICS), (120, ROWS_OF_SYSTEMS)])
def test_systems_are_rows_where_there_is_room_and_columns_where_not(width: int, table: str) -> None:
    chosen = [part for metric in METRICS for part in ("-m", metric)]
    found = shown(width, "score", "a.jsonl", "b.jsonl", *chosen, "--intervals")
    assert found.startswith(f"{table}\n")
    assert found.endswith("no interval for wer of b: all resamples have the same score\n")


@pytest.mark.parametrize("width", [80, 120])
def test_a_comparison_shows_scores_differences_and_what_they_say(width: int) -> None:
    chosen = ("-m", "wer", "-m", "edit_similarity", "--percent")
    found = shown(width, "compare", "a.jsonl", "b.jsonl", *chosen)
    assert found == COMPARED + DIFFERENCES


def test_more_systems_than_a_width_holds_are_cut_between_outputs() -> None:
    for name in ("third_system", "fourth_system"):
        write(f"{name}.jsonl", [{"prediction": "q", "reference": "a b"}] * 16)
        files = [f"{name}.jsonl" for name in ("third_system", "fourth_system")]
    chosen = [part for metric in METRICS for part in ("-m", metric)]
    found = shown(60, "score", *files, *chosen, "--intervals")
    assert max(map(len, found.splitlines())) <= 60
    heads = [line for line in found.splitlines() if line.startswith("system ")]
    assert [len(head.split()) - head.count("↑") - head.count("↓") for head in heads] == [2, 3, 2]


def test_counts_have_no_decimals_and_a_column_has_one_number_of_them() -> None:
    table = run("score", "a.jsonl", "-m", "wer", "--outputs", "all", "--format", "table").stdout
    cells = dict(line.rsplit(maxsplit=1) for line in table.splitlines())
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
    table = run("score", "a.jsonl", "b.jsonl", "c.jsonl", "-m", "wer", "-o", "t.md")
    assert table.exit_code == 0
    lines = Path("t.md").read_text("utf-8").splitlines()
    # One word more in one of sixteen samples: 9 errors of 32 words, and no test distinguishes it.
    assert lines[2:5] == [
        "| a | **0.250** (1) |",
        "| b | 1.000 (2) |",
        "| c | **0.281** (1) ≈ |",
    ]
