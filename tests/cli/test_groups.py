"""`--by`, `--cluster` and `--key`: subgroups, clusters, and sums in place of samples."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from metrichub import Hub
from tests.commands import JSON, error, run, write

ROWS = [
    {
        "id": number,
        "doc": number // 4,
        "language": ["en", "de", None][number % 3],
        "prediction": " ".join(["the", "cat", "sat", "on", "the", "mat"][: 2 + number % 5]),
        "reference": "the cat sat on the mat",
    }
    for number in range(24)
]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two systems' files on the same samples."""
    monkeypatch.chdir(tmp_path)
    write("a.jsonl", ROWS)
    write("b.jsonl", [row | {"prediction": "the mat"} for row in ROWS])


def test_groups_follow_the_whole_with_their_sizes() -> None:
    table = run("score", "a.jsonl", "-m", "wer", "--by", "language", "--format", "table").stdout
    head, *rows = [line.split() for line in table.splitlines()]
    assert head[:2] == ["system", "samples"]
    assert [row[:2] for row in rows] == [
        ["a.jsonl", "24"],
        ["language=en", "8"],
        ["language=de", "8"],
        ["language=", "8"],
    ]


def test_groups_have_every_kind_of_error() -> None:
    # By hand: "please" deleted and "soon" inserted in four words; "x" for "b" and "the" in ten.
    Path("asr.csv").write_text(
        "prediction,reference,accent\n"
        "call me back soon,please call me back,scottish\n"
        "the cat sat on mat,the cat sat on the mat,irish\n"
        "a b c d,a x c d,irish\n"
    )
    how = ("-m", "wer", "--by", "accent", "--outputs", "all", "--format", "table")
    head, *rows = run("score", "asr.csv", *how).stdout.splitlines()
    heads = re.split(" {2,}", head)
    assert heads[-3:] == ["wer substitutions ↓", "wer deletions ↓", "wer insertions ↓"]
    counts = {(cells := row.split())[0]: [cells[2], *cells[-3:]] for row in rows}
    assert counts["accent=scottish"] == ["0.500", "0", "1", "1"]
    assert counts["accent=irish"] == ["0.200", "1", "1", "0"]
    groups = Hub("wer").evaluate(Path("asr.csv")).by("accent")
    assert groups["irish"].scores()["wer"]["substitutions"] == 1


def test_a_text_is_another_group_than_what_is_written_alike() -> None:
    values = ["", None, "1", 1, "", "x"]
    write("c.jsonl", [row | {"v": v} for row, v in zip(ROWS, values, strict=False)])
    systems = json.loads(run("score", "c.jsonl", "-m", "wer", "--by", "v", *JSON).stdout)["systems"]
    sizes = {name: system["samples"] for name, system in systems.items()}
    assert sizes == {"c.jsonl": 6, "v=''": 2, "v=": 1, "v='1'": 1, "v=1": 1, "v=x": 1}


def test_groups_of_no_column_are_refused() -> None:
    assert "no column ''" in error(run("score", "a.jsonl", "-m", "wer", "--by", ""), 2)


def test_groups_of_two_systems_are_named_by_both() -> None:
    how = ("-m", "wer", "--by", "language", *JSON)
    document = json.loads(run("score", "a.jsonl", "b.jsonl", *how).stdout)
    groups = Hub("wer").evaluate(ROWS).by("language")
    assert list(document["systems"])[:3] == ["a", "a, language=en", "a, language=de"]
    assert document["systems"]["a, language=de"]["scores"] == groups["de"].scores()
    assert document["systems"]["b, language=de"]["samples"] == 8


def test_clusters_make_the_intervals_of_documents() -> None:
    how = ("score", "a.jsonl", "-m", "wer", "--intervals")
    score = json.loads(run(*how, "--cluster", "doc", *JSON).stdout)["intervals"]["wer"]["score"]
    expected = Hub("wer").evaluate(ROWS).intervals(cluster="doc")["wer"]["score"]
    assert score == asdict(expected)
    assert score != json.loads(run(*how, *JSON).stdout)["intervals"]["wer"]["score"]
    assert "each doc whole" in run(*how, "--cluster", "doc", "--format", "latex").stdout
    compared = run("compare", "a.jsonl", "b.jsonl", "-m", "wer", "--cluster", "doc")
    plain = run("compare", "a.jsonl", "b.jsonl", "-m", "wer")
    assert compared.stdout != plain.stdout
    assert "did you mean 'doc'" in error(run(*how, "--cluster", "dco"), 3)
    assert "with --intervals" in error(run(*how[:-1], "--cluster", "doc"), 2)


def test_clusters_hold_for_the_headline_too() -> None:
    # Two documents swapped whole can't prove what 24 sentences do: p is a half at least.
    for name, text in (("x", "the cat sat on the mat"), ("y", "nothing of it")):
        rows = [row | {"prediction": text, "doc": number // 12} for number, row in enumerate(ROWS)]
        write(f"{name}.jsonl", rows)
    how = ("compare", "x.jsonl", "y.jsonl", "-m", "wer", "--format", "table")
    assert run(*how).stdout.startswith("x scores lower than y on wer")
    assert run(*how, "--cluster", "doc").stdout.startswith("No significant difference")


def test_a_key_keeps_sums_with_intervals_and_tests() -> None:
    how = ("score", "a.jsonl", "b.jsonl", "-m", "wer", "--key", "id", "--intervals")
    shown = run("compare", *how[1:], "--format", "table").stdout
    assert shown.startswith("a scores lower than b on wer")
    rows = list(csv.DictReader(run(*how, "--format", "csv").stdout.splitlines()))
    report = Hub("wer").evaluate(ROWS, samples=False, key="id")
    low, high = report.intervals()["wer"]["score"].ends
    score = next(row for row in rows if row["output"] == "score")
    assert [float(score["a low"]), float(score["a high"])] == [low, high]


def test_reports_by_key_are_saved_and_compared() -> None:
    write("c.jsonl", [row | {"prediction": "the mat"} for row in reversed(ROWS)])
    for name in "ac":
        saved = run("score", f"{name}.jsonl", "-m", "wer", "--key", "id", "--save", f"{name}.json")
        assert saved.exit_code == 0
    compared = json.loads(run("compare", "a.json", "c.json", *JSON).stdout)
    worse, better = (
        Hub("wer").evaluate(rows)["wer"]["score"]
        for rows in ([row | {"prediction": "the mat"} for row in ROWS], ROWS)
    )
    difference = compared["comparisons"]["c"]["wer"]["score"]["difference"]
    assert difference == pytest.approx(worse - better)


def test_systems_are_compared_by_key_in_any_order() -> None:
    worse = [row | {"prediction": "the mat"} for row in ROWS]
    write("c.jsonl", worse[::-1])
    how = ("compare", "a.jsonl", "c.jsonl", "-m", "wer")
    # The samples of c stand in another order.
    assert json.loads(run(*how, *JSON).stdout)["samples"] == len(ROWS)
    score = json.loads(run(*how, "--key", "id", *JSON).stdout)["comparisons"]["c"]["wer"]["score"]
    reports = {
        name: Hub("wer").evaluate(rows, samples=False, key="id")
        for name, rows in (("a", ROWS), ("c", worse))
    }
    expected = reports["c"].compare(reports["a"])["wer"]["score"]
    assert [score["difference"], score["p"]] == [expected.difference, expected.randomization_p]
    write("d.jsonl", [row | {"reference": "another one"} for row in ROWS])
    assert "the same samples" in error(
        run("compare", "a.jsonl", "d.jsonl", *how[3:], "--key", "id"), 2
    )


def test_sums_have_no_samples_to_show() -> None:
    message = error(
        run("compare", "a.jsonl", "b.jsonl", "-m", "wer", "--key", "id", "--report", "p.html"), 2
    )
    assert "--key keeps only sums" in message
    for option in (("--samples", "s.jsonl"), ("--by", "language"), ("--report", "p.html")):
        message = error(run("score", "a.jsonl", "-m", "wer", "--key", "id", *option), 2)
        assert "--key keeps only sums" in message
