"""What works in an environment of requirements/light.txt, and what says which package it lacks."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub
from metrichub.cli.doctor import OPTIONAL_USES
from metrichub.data.huggingface import read_splits
from metrichub.errors import MissingDependency

ROOT = Path(__file__).resolve().parents[1]
ROWS = [
    {"prediction": "The cat sat on the mat.", "reference": "A cat sat on the mat.", "context": "c"},
    {"prediction": "Rain in May.", "reference": "It rained in May.", "context": "It rained."},
]


def test_the_file_is_the_dependencies_without_those_of_one_part() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (ROOT / "requirements/light.txt").read_text(encoding="utf-8").splitlines()
    heavy = [row for row in project["dependencies"] if re.split("[><=]", row)[0] in OPTIONAL_USES]
    assert len(heavy) == len(OPTIONAL_USES)
    assert [line for line in lines if not line.startswith("#")] == [
        dependency for dependency in project["dependencies"] if dependency not in heavy
    ]


class ArrowOnly:
    """A table of a library that hands out nothing but an Arrow stream."""

    def __arrow_c_stream__(self, _: object = None) -> Any:
        raise AssertionError("pyarrow is asked first")


@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("datasets", lambda: read_splits("hf://owner/name")),
        ("pyarrow", lambda: Hub("bleu").evaluate(ArrowOnly())),
    ],
)
def test_a_part_names_the_package_that_it_lacks(
    monkeypatch: pytest.MonkeyPatch, package: str, call: Callable[[], object]
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependency, match=f": pip install {package}$"):
        call()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two samples in a folder from which the source tree can't be imported by accident."""
    file = tmp_path / "data.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return file


def run(data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "metrichub", *arguments]
    return subprocess.run(command, cwd=data.parent, capture_output=True, text=True, check=False)


def shown(data: Path, *arguments: str) -> str:
    ran = run(data, *arguments)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.light
def test_nothing_that_only_datasets_and_evaluate_bring_is_there() -> None:
    heavy = {
        *OPTIONAL_USES,
        "aiohttp",
        "fsspec",
        "huggingface_hub",
        "pandas",
        "pyarrow",
        "requests",
    }
    assert [name for name in heavy if find_spec(name)] == []


@pytest.mark.light
def test_it_scores_and_compares(data: Path) -> None:
    chosen = ("-m", "bleu", "-m", "rouge", "-m", "chrf", "-m", "ter", "-m", "wer")
    scores = json.loads(shown(data, "score", data.name, *chosen))["scores"]
    # A substitution in six words; a substitution and a deletion in four.
    assert scores["wer"]["score"] == pytest.approx(3 / 10)
    assert set(scores) == {"bleu", "rouge", "chrf", "ter", "wer"}
    other = data.with_name("other.jsonl")
    other.write_text(data.read_text(encoding="utf-8").replace("Rain in", "It rained in"))
    result = json.loads(shown(data, "compare", data.name, other.name, "-m", "wer"))["comparisons"]
    assert result["other"]["wer"]["score"]["difference"] == pytest.approx(-2 / 10)


@pytest.mark.light
def test_it_lists_shows_and_checks_metrics(data: Path) -> None:
    assert len(json.loads(shown(data, "list", "--format", "json"))) > 60
    assert shown(data, "card", "bleu").startswith("---\nname: bleu\n")
    assert "bleu" in shown(data, "check", "bleu")


@pytest.mark.light
def test_a_judge_offline_judges_and_a_report_is_written(data: Path) -> None:
    command = ("score", data.name, "-m", "faithfulness", "--judge", "offline", "--report", "r.html")
    assert json.loads(shown(data, *command))["scores"]["faithfulness"]["score"] >= 0
    assert (data.parent / "r.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.light
def test_the_doctor_says_what_is_left_out_and_finds_nothing_broken(data: Path) -> None:
    document = json.loads(shown(data, "doctor", "--format", "json"))
    for name, part in OPTIONAL_USES.items():
        assert document["dependencies"][name] == f"not installed; only {part} need it"


@pytest.mark.light
@pytest.mark.parametrize(
    ("arguments", "package"),
    [
        (["score", "data.parquet", "-m", "chrf"], "pyarrow"),
        (["score", "data.jsonl.zst", "-m", "chrf"], "pyarrow"),
        (["score", "hf://owner/name", "-m", "chrf"], "datasets"),
        (["score", "data.jsonl", "-m", "evaluate:accuracy"], "evaluate"),
        (["score", "data.jsonl", "-m", "readability"], "metrichub[readability]"),
        (["serve"], "metrichub[app]"),
        (["site", "build", "site"], "metrichub[site]"),
    ],
)
def test_what_needs_more_names_the_package(data: Path, arguments: list[str], package: str) -> None:
    for name in ("data.parquet", "data.jsonl.zst"):
        (data.parent / name).write_bytes(b"PAR1")
    ran = run(data, *arguments)
    assert ran.returncode == 5
    assert package in ran.stderr.partition("pip install ")[2]
