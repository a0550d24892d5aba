"""What systems are called: as they were named, or by what tells their files apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from metrichub.cli.shared_options import named_files
from metrichub.data.location import short_names
from tests.commands import error, run, scored, write_systems


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_systems()
    return tmp_path


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["runs/a/out.jsonl", "runs/b/out.jsonl"], ["a", "b"]),
        (["x/summaries.jsonl", "x/summaries_b.jsonl"], ["summaries", "summaries_b"]),
        (["one/a.jsonl", "two/b.jsonl"], ["a", "b"]),
        (["one/a/x.csv", "two/a/x.csv", "one/b/x.csv"], ["one/a", "two/a", "one/b"]),
        # A folder is part of the name where it alone is different.
        (["a.jsonl", "sub/a.jsonl"], ["a", "sub/a"]),
        # A version is no suffix, and other suffixes stay.
        (["v1.5.jsonl.gz", "v2.5.jsonl.gz"], ["v1.5", "v2.5"]),
        (["a.jsonl", "a.csv"], ["a.jsonl", "a.csv"]),
        (["-", "runs/a.jsonl"], ["stdin", "a"]),
    ],
)
def test_files_are_called_by_what_tells_them_apart(paths: list[str], names: list[str]) -> None:
    assert short_names(paths) == names


def test_a_name_can_be_given() -> None:
    systems = scored("ours=a.jsonl", "b.jsonl", "-m", "wer")["systems"]
    assert {name: system["scores"]["wer"]["score"] for name, system in systems.items()} == {
        "ours": 0.25,
        # Three words of the first reference are missed, and the word of the second.
        "b": 1.0,
    }
    assert named_files(["a model=a.jsonl"]) == {"a model": "a.jsonl"}
    assert named_files(["a.jsonl"]) == {"a.jsonl": "a.jsonl"}


def test_a_file_that_is_there_keeps_its_name() -> None:
    Path("x=a.jsonl").write_bytes(Path("a.jsonl").read_bytes())
    assert named_files(["x=a.jsonl"]) == {"x=a.jsonl": "x=a.jsonl"}
    assert named_files(["runs/lr=3/a.jsonl"]) == {"runs/lr=3/a.jsonl": "runs/lr=3/a.jsonl"}


def test_two_systems_of_one_name_are_refused() -> None:
    message = error(run("compare", "ours=a.jsonl", "ours=b.jsonl", "-m", "wer"), 2)
    assert "two systems are called 'ours'; give them names: NAME=FILE" in message
    assert "a.jsonl is given twice" in error(run("score", "a=a.jsonl", "a.jsonl", "-m", "wer"), 2)
