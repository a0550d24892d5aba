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
    document = json.loads(run("compare", file, *how).stdout)
    assert {name: row["exact_match"]["score"] for name, row in document["scores"].items()} == SCORES
    assert (document["baseline"], document["samples"]) == ("base", 4)


def test_the_frame_s_index_stays_with_each_system() -> None:
    frame = pandas.DataFrame(TIDY).set_index(pandas.Index(list("abcdefgh")))
    reports = HUB.evaluate_all(frame, systems="model", key="doc")
    frame["right"] = pandas.concat(r.to_frame()["exact_match.score"] for r in reports.values())
    assert frame["right"].tolist() == [row["answer"] == row["gold"] for row in TIDY]


def test_samples_that_some_system_lacks_are_left_out_where_asked_and_told() -> None:
    write("tidy.jsonl", TIDY[1:])  # base has no q2.
    how = ("compare", "tidy.jsonl", "-m", "exact_match", "--systems", "model", "--key", "doc")
    assert error(run(*how), 3) == (
        "base lacks 1 of the 4 samples of ours (first: doc='q2'); 3 are in all systems; "
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
    document = json.loads(run(*files).stdout)
    expected = {"base": 1 / 3, "ours": 2 / 3}
    scores = {name: system["exact_match"]["score"] for name, system in document["scores"].items()}
    assert (scores, document["samples"]) == (expected, 3)
    reports = HUB.evaluate_all({"base": "base.jsonl", "ours": "ours.jsonl"}, key="doc", common=True)
    assert {name: r.scores()["exact_match"]["score"] for name, r in reports.items()} == expected
    assert any("left out" in text for text in reports["ours"].notes()["exact_match"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"systems": "modell"}, "doesn't exist; did you mean 'model'?"),
        ({"systems": "model", "key": "docs"}, "key names the column 'docs'"),
        ({"systems": "gold", "key": "doc"}, "no sample in common: the first are doc='q2' and"),
        ({"systems": "gold", "key": "doc", "common": True}, "no sample in common"),
        ({"systems": ["model"]}, "systems must be the name of a column"),
        ({}, "of one table with all, name the column: systems='model'"),
    ],
)
def test_what_cannot_be_matched_is_said(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        HUB.evaluate_all(TIDY, **options)


def rows_of(system: str, *rows: tuple[object, str, str], **more: str) -> list[dict[str, Any]]:
    names = ("item", "prediction", "reference")
    return [{"system": system, **dict(zip(names, row, strict=True)), **more} for row in rows]


LABELS = [(1, "yes", "yes"), (2, "no", "yes"), (3, "yes", "yes")]


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        # References that repeat don't say which sample a row is.
        ([*rows_of("a", *LABELS), *rows_of("b", *LABELS[::-1])], {}, "nothing identifies"),
        ([*rows_of("a", *LABELS), *rows_of("b", *LABELS[1:])], {"common": True}, "key='NAME'"),
        # Nor does a column that holds the predictions.
        (
            [
                {"system": s, "text": t}
                for s, t in [("a", "x y"), ("a", "z"), ("b", "x y"), ("b", "q")]
            ],
            {"columns": {"predictions": "text", "references": "system"}, "common": True},
            "nothing identifies",
        ),
        (
            [*rows_of("a", LABELS[0], *LABELS), *rows_of("b", *LABELS)],
            {"key": "item", "common": True},
            "a has 2 rows with item='1', and b 1; name further columns of the key",
        ),
        ([*rows_of("a", *LABELS), *rows_of("", *LABELS)], {"key": "item"}, "of sample 3 is empty"),
    ],
)
def test_rows_are_never_matched_by_what_may_be_another_sample_s(
    rows: list[dict[str, Any]], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        HUB.evaluate_all(rows, systems="system", **options)


def test_answers_to_one_question_stay_together_under_any_key() -> None:
    answers = [(item, "yes" if item < 4 else "no", "yes") for item in range(8) for _ in range(3)]
    rows = [*rows_of("a", *answers), *rows_of("b", *answers[::-1])]
    reports = HUB.evaluate_all(rows, systems="system", key="item")
    notes = reports["b"].notes()["exact_match"]
    assert any("3 answers to each of 8 questions: they are drawn together" in n for n in notes)
    assert any("rows of the same item are paired in their order" in note for note in notes)


def test_ids_are_the_same_as_text_number_or_fraction_and_files_are_matched_by_a_key() -> None:
    systems = {
        "a": rows_of("a", *LABELS),
        "b": rows_of("b", *((f"{item}.0", message, gold) for item, message, gold in LABELS[::-1])),
    }
    reports = HUB.evaluate_all(systems, key="item")
    assert reports["b"].texts is not None
    assert [row["predictions"] for row in reports["b"].texts] == ["yes", "no", "yes"]


def test_systems_may_be_columns_and_any_may_be_the_baseline() -> None:
    write("wide.jsonl", [{"gold": "x", "a": "x", "b": "y"}, {"gold": "y", "a": "y", "b": "y"}])
    how = ("compare", "wide.jsonl", "--systems", "a+b", "-m", "exact_match", *JSON)
    document = json.loads(run(*how, "--baseline", "b").stdout)
    assert (document["baseline"], document["scores"]["a"]["exact_match"]["score"]) == ("b", 1)
    assert "has no system 'c' (there are: a and b)" in error(run(*how, "--baseline", "c"), 2)


def test_one_system_or_two_files_are_no_table_of_systems() -> None:
    write("one.jsonl", [row for row in TIDY if row["model"] == "ours"])
    how = ("-m", "exact_match", "--systems", "model")
    assert "has one system, 'ours'" in error(run("compare", "one.jsonl", *how), 3)
    assert "takes one FILE" in error(run("compare", "one.jsonl", "tidy.jsonl", *how), 2)
    assert "--systems COLUMN" in error(run("compare", "tidy.jsonl", "-m", "exact_match"), 2)
