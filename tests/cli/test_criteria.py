"""`metrichub criteria`: proposals of a judge in a file, from which `score` reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import error, run, scored, write
from tests.judge_stub import Asked, Reply, Stub, answer, completion, failure
from tests.judge_toys import spec

ROWS: list[dict[str, Any]] = [
    {"id": 1, "question": "How many moons has Mars?", "reference": "It has two. One is Phobos."},
    {"id": 2, "question": "Why?", "reference": "Because."},
]
CHANCE = ("--judge", "chance")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alone: None) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("METRICHUB_JUDGE", raising=False)
    write("in.jsonl", ROWS)


def _written(path: str = "out.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def test_each_row_gets_the_criteria_that_the_model_lists(stub: Stub) -> None:
    # The stub lists the sentences of what it is shown.
    result = run("criteria", "in.jsonl", "-o", "out.jsonl", "--judge", spec(stub))
    assert result.exit_code == 0, result.stderr
    assert result.stdout == "wrote out.jsonl: 3 criteria for 2 rows; read and edit them\n"
    texts = ["How many moons has Mars? It has two.", "One is Phobos."]
    first, second = _written()
    assert first == {**ROWS[0], "criteria": [{"criterion": text, "points": 1} for text in texts]}
    assert [item["criterion"] for item in second["criteria"]] == ["Why? Because."]
    assert sorted(asked.data["reference"] for asked in stub.asked) == [
        "Because.",
        "It has two. One is Phobos.",
    ]


def test_score_reads_the_criteria_that_were_written(stub: Stub) -> None:
    run("criteria", "in.jsonl", "-o", "out.jsonl", *CHANCE)
    rows = [{**row, "prediction": "Two."} for row in _written()]
    # The stub calls what holds the word "unsupported" unmet.
    rows[0]["criteria"] += [{"criterion": "unsupported", "points": 3}]
    write("edited.jsonl", rows)
    number = len(rows[0]["criteria"]) - 1
    scores = scored("edited.jsonl", "-m", "criteria", "--judge", spec(stub))
    assert scores["scores"]["criteria"]["score"] == pytest.approx((number / (number + 3) + 1) / 2)


def test_a_row_that_failed_has_no_criteria_and_the_status_says_so(stub: Stub) -> None:
    def reply(asked: Asked) -> Reply:
        failed = asked.data["question"] == "Why?"
        return failure(400)(asked) if failed else completion(json.dumps(answer(asked)))

    stub.always = reply
    result = run("criteria", "in.jsonl", "-o", "out.jsonl", "--judge", spec(stub))
    assert result.exit_code == 4
    assert [len(row["criteria"]) for row in _written()] == [2, 0]
    assert "1 failed" in result.stderr


def test_a_file_that_is_there_is_overwritten_by_force_alone() -> None:
    write("out.jsonl", [{"edited": True}])
    command = ("criteria", "in.jsonl", "-o", "out.jsonl", *CHANCE)
    assert error(run(*command), 2).startswith("out.jsonl exists; add --force to overwrite it")
    assert _written() == [{"edited": True}]
    assert run(*command, "--force").exit_code == 0
    assert len(_written()) == 2


def test_only_some_rows_are_taken() -> None:
    run("criteria", "in.jsonl", "-o", "out.jsonl", *CHANCE, "--where", "id=2")
    assert [row["id"] for row in _written()] == [2]


@pytest.mark.parametrize(
    ("arguments", "status", "problem"),
    [
        (("--judge", "offline"), 4, "can't answer the prompt 'proposed_criteria'"),
        ((), 4, "criteria needs a judge, and none is set"),
        ((*CHANCE, "--vote", "mean"), 2, "--vote has no effect here"),
        ((*CHANCE, "--repeats", "2"), 2, "--repeats has no effect here"),
        ((*CHANCE, *CHANCE), 2, "a second --judge has no effect here"),
        ((*CHANCE, "--columns", "questions=ask"), 3, "questions is mapped to 'ask'"),
    ],
)
def test_an_error_says_what_does_not_work(
    arguments: tuple[str, ...], status: int, problem: str
) -> None:
    assert problem in error(run("criteria", "in.jsonl", "-o", "out.jsonl", *arguments), status)
    assert not Path("out.jsonl").exists()


def test_a_file_with_criteria_is_refused() -> None:
    write("in.jsonl", [{**ROWS[0], "rubrics": ["Says two."]}])
    message = error(run("criteria", "in.jsonl", "-o", "out.jsonl", *CHANCE), 3)
    assert message == "in.jsonl: has the column 'rubrics'; rename it or leave it out"


def test_the_output_is_jsonl() -> None:
    assert ".jsonl" in error(run("criteria", "in.jsonl", "-o", "out.csv", *CHANCE), 2)


def test_some_rows_may_lack_a_reference(stub: Stub) -> None:
    rows = [*ROWS, {"id": 3, "question": "Who?", "reference": None}]
    write("in.jsonl", [{"ask": row.pop("question"), **row} for row in map(dict, rows)])
    mapped = ("--columns", "questions=ask")
    result = run("criteria", "in.jsonl", "--out", "out.jsonl", "--judge", spec(stub), *mapped)
    assert result.exit_code == 0, result.stderr
    assert [list(asked.data) for asked in stub.asked if "Who?" in asked.data.values()] == [
        ["question"]
    ]
    assert "reference" in stub.asked[0].data
    assert [row["criteria"][0]["criterion"] for row in _written()][2] == "Who?"
    assert [row["reference"] for row in _written()][1:] == ["Because.", None]
