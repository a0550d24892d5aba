"""Rows that are tries: those of a task are one sample to metrics of tries."""

from __future__ import annotations

import json
import re
from math import comb
from pathlib import Path
from typing import Any

import pandas
import pytest

from metrichub import Hub, InputError, compare_all
from tests.commands import JSON, error, run, scored, write

# As the script of HumanEval writes results: in the order in which they come in.
PASSED = [("b", True), ("a", False), ("c", False), ("a", True), ("b", True), ("a", False)]
RESULTS = [
    {"task_id": f"HumanEval/{task}", "completion": "  x", "result": "passed", "passed": passed}
    for task, passed in [*PASSED, ("c", False), ("b", False), ("c", False)]
]
VOTES = [
    {"task_id": task, "response": message, "answer": {"p": "4", "q": "x"}[task]}
    for task, message in [("p", "4"), ("q", "y"), ("p", "4.0"), ("q", "x"), ("q", "y"), ("p", "5")]
]


def chance(passed: int, k: int) -> float:
    """Of one of three tries, so many of which passed."""
    return 1 - comb(3 - passed, k) / comb(3, k)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("results.jsonl", RESULTS)
    write("votes.jsonl", VOTES)


@pytest.mark.parametrize(
    ("metric", "file", "expected"),
    [
        ("pass_at_k", "results.jsonl", (chance(2, 1) + chance(1, 1)) / 3),
        ("pass_at_k(k=2)", "results.jsonl", (chance(2, 2) + chance(1, 2)) / 3),
        ("pass_hat_k(k=2)", "results.jsonl", comb(2, 2) / comb(3, 2) / 3),
        # Of p, 4 has two votes; of q, y has.
        ("majority_vote", "votes.jsonl", 0.5),
    ],
)
def test_tries_of_a_task_are_one_sample(metric: str, file: str, expected: float) -> None:
    columns = {"references": "answer"} if file == "votes.jsonl" else {}
    how = [f"--columns={column}={name}" for column, name in columns.items()]
    name = metric.partition("(")[0]
    scores = scored(file, "-m", metric, *how)
    assert scores["scores"][name]["score"] == pytest.approx(expected)
    frame = pandas.read_json(file, lines=True)
    for data in (file, frame, iter([frame[:4], frame[4:]]), dict(frame)):
        report = Hub(metric).evaluate(data, columns=columns or None)
        assert report.scores()[name]["score"] == pytest.approx(expected)
        assert report.size == frame["task_id"].nunique()
        assert f"{len(frame)} rows are tries of" in report.notes()[name][0]
    # Given as columns, and under another name of the task.
    by_name = dict(frame.rename(columns={"task_id": "unit"}))
    report = Hub(metric).evaluate(**by_name, tries="unit", columns=columns or None)
    assert report.scores()[name]["score"] == pytest.approx(expected)
    write("unit.jsonl", frame.rename(columns={"task_id": "unit"}).to_dict("records"))
    scores = scored("unit.jsonl", "-m", metric, "--tries", "unit", *how)
    assert scores["scores"][name]["score"] == pytest.approx(expected)


def test_results_in_any_order_are_compared_by_task() -> None:
    write("all.jsonl", [{**row, "passed": True} for row in RESULTS[::-1]])
    document = json.loads(
        run("compare", "results.jsonl", "all.jsonl", "-m", "pass_at_k", *JSON).stdout
    )
    assert document["samples"] == 3
    assert document["scores"]["all"]["pass_at_k"]["score"] == 1
    write("two.jsonl", [row for row in RESULTS if row["task_id"] != "HumanEval/a"])
    how = ("compare", "results.jsonl", "two.jsonl", "-m", "pass_at_k")
    assert "lacks 1 of the 3 samples" in error(run(*how), 3)
    assert json.loads(run(*how, "--common", *JSON).stdout)["samples"] == 2


def test_scores_of_tasks_fall_on_no_row_of_the_frame() -> None:
    frame = pandas.DataFrame(RESULTS)
    scores = Hub("pass_at_k").evaluate(frame).to_frame()["pass_at_k.score"]
    assert scores.index.tolist() == ["HumanEval/b", "HumanEval/a", "HumanEval/c"]


def test_systems_of_one_table_have_tries_of_their_own() -> None:
    rows = [{**row, "model": m} for row in RESULTS for m in "xy"][::-1]
    reports = Hub("pass_at_k").evaluate_all(rows, systems="model")
    assert [report.size for report in reports.values()] == [3, 3]
    assert compare_all(reports).systems == ("y", "x")
    with pytest.raises(InputError, match="differ in 'model'"):
        Hub("pass_at_k").evaluate(rows)


@pytest.mark.parametrize(
    ("metric", "rows", "options", "message"),
    [
        ("pass_at_k(k=2)", [{"passed": True}], {}, "each row is a try, name the column"),
        (
            ["majority_vote", "exact_match"],
            VOTES,
            {},
            "as tries and one by one; score them separately",
        ),
        ("pass_at_k", RESULTS, {"tries": "tasks"}, "doesn't exist; did you mean 'task_id'"),
        (
            "majority_vote",
            [*VOTES, {**VOTES[0], "answer": "5"}],
            {},
            "task_id p differ in 'answer'",
        ),
    ],
)
def test_tries_that_cannot_be_one_are_refused(
    metric: Any, rows: list[dict[str, Any]], options: dict[str, str], message: str
) -> None:
    columns = {"references": "answer"} if "answer" in rows[0] else None
    with pytest.raises(InputError, match=re.escape(message)):
        Hub(metric).evaluate(rows, columns=columns, **options)
