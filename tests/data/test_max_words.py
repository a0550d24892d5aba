"""Samples with long texts are left out for all systems alike, and counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub
from metrichub.errors import MetrichubError
from tests.commands import run

# A text of four words is the prediction of the first system, a reference of all, a turn of others.
REFERENCES: list[Any] = ["a b c", ["a", "a b c d"], "b", "c c"]
SYSTEMS: dict[str, list[str]] = {
    "base": ["a b c d", "a", "b", "c"],
    "ours": ["a b c", "a", "c", "c c"],
}
LEFT_OUT = "2 of 4 samples are left out, as they have a text of over 3 words"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = {name: tmp_path / f"{name}.jsonl" for name in SYSTEMS}
    for name, path in paths.items():
        rows = zip(SYSTEMS[name], REFERENCES, "wxyz", strict=True)
        path.write_text(
            "".join(
                f"{json.dumps({'prediction': p, 'references': r, 'id': i, 'note': 'a b c d e'})}\n"
                for p, r, i in rows
            ),
            encoding="utf-8",
        )
    return [*map(str, paths.values())]


@pytest.mark.parametrize("command", ["score", "compare"])
def test_commands_leave_them_out_of_all_systems(files: list[str], command: str) -> None:
    result = run(command, *files, "-m", "exact_match", "--max-words", "3", "--format", "json")
    document = json.loads(result.stdout)
    scores = (
        document["scores"]
        if command == "compare"
        else {name: system["scores"] for name, system in document["systems"].items()}
    )
    assert scores == {name: {"exact_match": {"score": 0.5}} for name in SYSTEMS}
    assert LEFT_OUT in result.stderr
    kept = run(command, *files, "-m", "exact_match", "--max-words", "4")
    assert "left out" not in kept.stderr


def test_one_system_loses_those_that_are_long_itself(files: list[str]) -> None:
    result = run("score", files[1], "-m", "exact_match", "--max-words", "3")
    assert "1 of 4 samples are left out" in result.stderr


@pytest.mark.parametrize("as_files", [True, False])
def test_a_hub_leaves_them_out_of_all_systems(files: list[str], as_files: bool) -> None:
    tables = {n: {"predictions": SYSTEMS[n], "references": REFERENCES} for n in SYSTEMS}
    data: Any = dict(zip(SYSTEMS, files, strict=True)) if as_files else tables
    reports = Hub("exact_match").evaluate_all(data, max_words=3)
    assert [report.size for report in reports.values()] == [2, 2]
    assert all(LEFT_OUT in report.notes()["exact_match"] for report in reports.values())
    with pytest.raises(MetrichubError, match="max_words"):
        Hub("exact_match").evaluate_all(data, max_words=0)


def test_turns_of_conversations_and_systems_in_one_table_count() -> None:
    long = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "a b c d"}]
    rows = [
        {"model": model, "id": number, "messages": long if (model, number) == ("b", 1) else "a"}
        for model in "ab"
        for number in range(3)
    ]
    for row in rows:
        row["messages"] = row["messages"] if row["messages"] is long else long[:1]
        row["reference_messages"] = long[:1]
    reports = Hub("trajectory_match").evaluate_all(rows, systems="model", max_words=3)
    assert [report.size for report in reports.values()] == [2, 2]


@pytest.mark.parametrize("command", ["score", "compare"])
def test_sums_alone_cannot_leave_them_out(files: list[str], command: str) -> None:
    result = run(command, *files, "-m", "exact_match", "--max-words", "3", "--key", "id")
    assert result.exit_code == 2
    assert "--key keeps only sums" in result.stderr
