"""Systems in one table, or in files that share some samples: matched by a key, and compared."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pandas
import polars
import pyarrow
import pytest

from metrichub import Hub, InputError, compare_all
from tests.commands import JSON, error, run, write

HUB = Hub("exact_match")
GOLD = {"q1": "Bern", "q2": "Rome", "q3": "Oslo", "q4": "Riga"}
# Rows in no order. Of the four, base has q1 alone right, and ours all but q4.
TIDY = [
    {"model": "base", "doc": "q2", "gold": GOLD["q2"], "answer": "Paris"},
    {"model": "ours", "doc": "q3", "gold": GOLD["q3"], "answer": "Oslo"},
    {"model": "base", "doc": "q1", "gold": GOLD["q1"], "answer": "Bern"},
    {"model": "ours", "doc": "q1", "gold": GOLD["q1"], "answer": "Bern"},
    {"model": "base", "doc": "q4", "gold": GOLD["q4"], "answer": "Bonn"},
    {"model": "ours", "doc": "q2", "gold": GOLD["q2"], "answer": "Rome"},
    {"model": "ours", "doc": "q4", "gold": GOLD["q4"], "answer": "Bonn"},
    {"model": "base", "doc": "q3", "gold": GOLD["q3"], "answer": "Kyiv"},
]
SCORES = {"base": 0.25, "ours": 0.75}

KINDS: dict[str, Callable[[], Any]] = {
    "rows": lambda: TIDY,
    "columns": lambda: {name: [row[name] for row in TIDY] for name in TIDY[0]},
    "parts": lambda: iter([TIDY[:3], TIDY[3:]]),
    "pandas": lambda: pandas.DataFrame(TIDY),
    "polars": lambda: polars.DataFrame(TIDY),
    "pyarrow": lambda: pyarrow.Table.from_pylist(TIDY),
    "datasets": lambda: datasets.Dataset.from_list(TIDY),
    "file": lambda: "tidy.jsonl",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("tidy.jsonl", TIDY)
    with Path("tidy.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, TIDY[0])
        writer.writeheader()
        writer.writerows(TIDY)


@pytest.mark.parametrize("key", [{"key": "doc"}, {}], ids=["by key", "by gold"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_tidy_table_has_systems_whose_rows_are_matched(kind: str, key: dict[str, str]) -> None:
    reports = HUB.evaluate_all(KINDS[kind](), systems="model", **key)
    assert {name: r.scores()["exact_match"]["score"] for name, r in reports.items()} == SCORES
    compared = reports["ours"].compare(reports["base"])["exact_match"]["score"]
    # q2 and q3 differ, both for ours: by McNemar's mid-p of both sides 2 * 1/4 - 1/4.
    assert (compared.difference, compared.p) == (0.5, pytest.approx(0.25))
    assert compare_all(reports).systems == ("base", "ours")


@pytest.mark.parametrize("file", ["tidy.jsonl", "tidy.csv"])
def test_a_tidy_file_is_compared_in_one_line(file: str) -> None:
    how = ("-m", "exact_match", "--systems", "model", "--key", "doc", *JSON)
    found = json.loads(run("compare", file, *how).stdout)
    assert {name: own["exact_match"]["score"] for name, own in found["scores"].items()} == SCORES
    assert (found["baseline"], found["samples"]) == ("base", 4)


def test_the_frame_s_index_stays_with_each_system() -> None:
    frame = pandas.DataFrame(TIDY).set_index(pandas.Index(list("abcdefgh")))
    reports = HUB.evaluate_all(frame, systems="model", key="doc")
    frame["right"] = pandas.concat(r.to_frame()["exact_match.score"] for r in reports.values())
    assert frame["right"].tolist() == [row["answer"] == row["gold"] for row in TIDY]


def test_samples_that_some_system_lacks_are_left_out_where_asked_and_told() -> None:
    write("tidy.jsonl", TIDY[1:])  # base has no q2.
    how = ("compare", "tidy.jsonl", "-m", "exact_match", "--systems", "model", "--key", "doc")
    assert error(run(*how), 3) == (
        "base lacks 1 of the 4 samples of ours (first: q2); 3 are in all systems; "
        "--common compares on those"
    )
    shown = run(*how, "--common")
    assert "\n3 samples that all systems have" in shown.stdout
    assert "ours: exact_match: 1 of 4 samples are left out, as not all" in shown.stderr
    # The same of files of their own, in any order.
    for name in SCORES:
        rows = [row | {"id": row["doc"]} for row in TIDY[1:] if row["model"] == name]
        write(f"{name}.jsonl", rows)
    files = ("compare", "base.jsonl", "ours.jsonl", "-m", "exact_match", "--common", *JSON)
    found = json.loads(run(*files).stdout)
    expected = {"base": 1 / 3, "ours": 2 / 3}
    scores = {name: own["exact_match"]["score"] for name, own in found["scores"].items()}
    assert (scores, found["samples"]) == (expected, 3)
    reports = HUB.evaluate_all({"base": "base.jsonl", "ours": "ours.jsonl"}, key="doc", common=True)
    assert {name: r.scores()["exact_match"]["score"] for name, r in reports.items()} == expected
    assert any("left out" in text for text in reports["ours"].notes()["exact_match"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"systems": "modell"}, "doesn't exist; did you mean 'model'?"),
        ({"systems": "model", "key": "docs"}, "key names the column 'docs'"),
        ({"systems": "gold", "key": "doc"}, "none is in all systems"),
        ({"systems": "gold", "key": "doc", "common": True}, "no sample in common, by doc"),
        ({}, "of one table with all, name the column: systems='model'"),
    ],
)
def test_what_cannot_be_matched_is_said(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        HUB.evaluate_all(TIDY, **options)


def test_one_system_or_two_files_are_no_table_of_systems() -> None:
    write("one.jsonl", [row for row in TIDY if row["model"] == "ours"])
    how = ("-m", "exact_match", "--systems", "model")
    assert "has one system, 'ours'" in error(run("compare", "one.jsonl", *how), 3)
    assert "takes one FILE" in error(run("compare", "one.jsonl", "tidy.jsonl", *how), 2)
    assert "--systems COLUMN" in error(run("compare", "tidy.jsonl", "-m", "exact_match"), 2)
