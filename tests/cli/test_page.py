"""The option --report of score and compare, and the best system in their tables."""

from __future__ import annotations

import hashlib
import html
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.commands import BOTH, JSON, run, write_ranked_systems, write_systems
from tests.report.test_page import Page

FEW = ("--resamples", "20")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_systems()


def data(path: str) -> Any:
    return Page(Path(path)).data


def test_score_writes_a_page_beside_its_result() -> None:
    result = run("score", "a.jsonl", *BOTH, *FEW, "--report", "a.html", *JSON)
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["scores"]["wer"]["score"] == 0.25
    page = data("a.html")
    assert page["systems"] == ["a.jsonl"]
    assert page["ids"] == ["x", "y"]
    assert page["texts"] is True
    assert "a b c" in json.dumps(Page(Path("a.html")).samples)


def test_the_resampling_options_hold_for_the_page() -> None:
    run(
        "score",
        "a.jsonl",
        "-m",
        "wer",
        *FEW,
        "--confidence",
        "0.5",
        "--seed",
        "3",
        "--report",
        "a.html",
    )
    page = Path("a.html").read_text("utf-8")
    assert "In brackets: 50%\nintervals (20 bootstrap resamples" in page
    assert "the seed 3" in page


def test_compare_writes_a_page_with_its_own_numbers_of_trials() -> None:
    result = run(
        "compare", "a.jsonl", "b.jsonl", *BOTH, *FEW, "--trials", "32", "--report", "c.html"
    )
    assert result.exit_code == 0, result.stderr
    assert "randomization\n(32 trials)" in Path("c.html").read_text("utf-8")
    assert data("c.html")["texts"] is True
    assert data("c.html")["ids"] == ["x", "y"]
    assert data("c.html")["systems"] == ["a", "b"]
    assert "<h1>abstractness doesn" in Path("c.html").read_text("utf-8")


def test_a_page_says_how_it_was_made_but_no_folder_and_no_secret(tmp_path: Path) -> None:
    digest = hashlib.sha256(Path("a.jsonl").read_bytes()).hexdigest()
    result = run(
        *("score", f"ours={tmp_path}/a.jsonl", "-m", "wer", *FEW),
        *("--title", "A & B, token=sesame", "--report", f"{tmp_path}/p.html"),
    )
    assert result.exit_code == 0, result.stderr
    page = html.unescape(Path("p.html").read_text("utf-8"))
    assert "<h1>A & B, token=sesame</h1>" in page
    assert (
        "metrichub score ours=a.jsonl -m wer --resamples 20 --title 'A & B, token=…' "
        "--report p.html"
    ) in page
    assert f'title="{digest}">a.jsonl (SHA-256 {digest[:12]})' in page
    assert str(tmp_path) not in page
    assert "sesame" not in page.partition('class="facts"')[2]


def test_a_title_without_a_page_is_refused() -> None:
    result = run("score", "a.jsonl", "-m", "wer", "--title", "x")
    assert result.exit_code == 2
    assert "--title has an effect only with --report" in result.stderr


def test_the_groups_of_a_comparison_are_in_its_result_and_on_its_page() -> None:
    for name, wrong in (("a", 0), ("b", 1)):
        rows = [
            {"id": i, "prediction": "x" if wrong and i % 2 else "a", "reference": "a", "odd": i % 2}
            for i in range(60)
        ]
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ("compare", "a.jsonl", "b.jsonl", "-m", "exact_match", *FEW, "--by", "odd")
    text = run(*command).stdout
    # 30 samples of each; all odd ones are wrong: p is 2 / 2^30 by chance, of 10,000 trials 1,
    # twice by Holm over two slices.
    assert re.search(r"^1 +30 +exact_match ↑ +1.000 +0.000 +−1.000 \[.*\] +< \.001$", text, re.M)
    assert re.search(r"^0 +30 +exact_match ↑ +1.000 +1.000 .* 1$", text, re.M)
    result = run(*command, "--report", "p.html", *JSON)
    rows = json.loads(result.stdout)["slices"]
    assert [(row["value"], row["tests"]["score"]["difference"]) for row in rows] == [
        ("0", 0.0),
        ("1", -1.0),
    ]
    assert [grouping["key"] for grouping in data("p.html")["groupings"]][:1] == ["odd"]
    assert "no column 'even'" in run(*command[:-1], "even").stderr
    keyed = run(*command, "--key", "id")
    assert "--key keeps only sums, but --by needs the samples" in keyed.stderr


def test_saved_reports_are_compared_on_a_page_without_texts() -> None:
    for name in ("a", "b"):
        run("score", f"{name}.jsonl", *BOTH, "--save", f"{name}.json")
    result = run("compare", "a.json", "b.json", *FEW, "--trials", "32", "--report", "c.html")
    assert result.exit_code == 0, result.stderr
    assert data("c.html")["texts"] is False


def test_a_page_is_written_after_the_plain_install() -> None:
    # The extra `plots` is matplotlib, which no page needs.
    program = (
        "import sys\n"
        "sys.modules['matplotlib'] = None\n"
        "from metrichub.cli import main\n"
        f"main(['score', 'a.jsonl', 'b.jsonl', '-m', 'wer', *{FEW}, '--report', 'a.html'])\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert 'aria-label="Histogram of the sample scores: wer."' in Path("a.html").read_text("utf-8")


def test_the_folder_of_the_page_has_to_be_there() -> None:
    assert "no folder" in run("score", "a.jsonl", *BOTH, "--report", "no/a.html").stderr


def test_the_best_system_is_marked_for_a_paper() -> None:
    write_ranked_systems()
    both = ("compare", "a.jsonl", "b.jsonl", "-m", "token_f1")
    table = run(*both, "--format", "markdown").stdout
    # "a b c" for "a b d" has F1 of "b" alone: "a" is an article. 1/2, and 1: 3/4.
    assert "| a | **0.750** |\n| b | 0.000 (p \\< .001) |\n" in table
    latex = run(*both, "--format", "latex").stdout
    assert "a & \\textbf{0.750} \\\\\nb & 0.000 (p \\ensuremath{<} .001) \\\\" in latex
    # Without tests nothing is marked.
    assert "**" not in run("score", *both[1:], "--format", "markdown").stdout
    # An output that isn't a headline is neither ranked nor bold.
    every = run(*both, "--format", "markdown", "--outputs", "all").stdout
    assert "| system | token_f1 ↑ | token_f1 precision ↑ | token_f1 recall ↑ |" in every
    assert "| a | **0.750** | 0.750 | 0.750 |" in every
