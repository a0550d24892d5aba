"""Readers of logs: what a plugin registers is found, and one that is broken stops no other file."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.plugins import distribution, environment

GUIDE = Path(__file__).parents[2] / "docs" / "OWN.md"
FILES = """
def read(file, path):
    for line in file:
        if line == b"broken":
            raise KeyError("text")
        yield None if line == b"-\\n" else {"predictions": line.decode().strip()}
"""
BROKEN = """
def matches(row):
    return row["task"]["name"] == "x"

def read(rows, path):
    for row in rows:
        yield row
"""
ROWS = [
    {"task": 1, "generations": ["a", "b"], "gold": "a"},
    {"task": 2, "generations": "c", "gold": "d"},
]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A plugin with the reader of the guide, one of files, and two that are broken."""
    code, toml = re.findall(
        r"```(?:python|toml)\n(.*?)```",
        GUIDE.read_text("utf-8").split("## A reader of logs")[1],
        re.DOTALL,
    )[:2]
    group, entry = toml.splitlines()
    assert group == '[project.entry-points."metrichub.readers"]'
    package = tmp_path / "my_plugin"
    package.mkdir()
    (package / "__init__.py").touch()
    for name, text in {"toolkit_logs": code, "files": FILES, "broken": BROKEN}.items():
        (package / f"{name}.py").write_text(text)
    entries = [
        entry.replace('"', ""),
        ".log = my_plugin.files:read",
        "broken = my_plugin.broken",
        "gone = not_there",
    ]
    distribution(tmp_path, "my-plugin", entries, "metrichub.readers")
    return tmp_path


def run(site: Path, program: str) -> subprocess.CompletedProcess[str]:
    program = f"import json, metrichub\nfrom metrichub.data.files import read_batches\n{program}"
    return subprocess.run(
        [sys.executable, "-c", program],
        env=environment(site),
        cwd=site,
        capture_output=True,
        text=True,
        check=False,
    )


def read(site: Path, name: str) -> dict[str, Any]:
    ran = run(site, f"print(json.dumps(dict(metrichub.read({name!r}))))")
    assert ran.returncode == 0, ran.stderr
    document: dict[str, Any] = json.loads(ran.stdout)
    return document


def lines(rows: list[dict[str, Any]]) -> str:
    return "\n".join(map(json.dumps, rows))


def test_a_plugin_reads_the_rows_of_a_tool(site: Path) -> None:
    expected = {"id": [1, 2], "predictions": [["a", "b"], "c"], "references": ["a", "d"]}
    (site / "a.jsonl").write_text(lines(ROWS))
    (site / "a.json").write_text(json.dumps(ROWS))
    assert read(site, "a.jsonl") == read(site, "a.json") == expected


def test_rows_are_read_batch_by_batch_and_know_their_lines(site: Path) -> None:
    (site / "a.jsonl").write_text(lines(ROWS))
    program = "for b in read_batches('a.jsonl', characters=1): print(b['id'], b.lines, b.start)"
    assert run(site, program).stdout == "[1] [1] 0\n[2] [2] 1\n"


def test_an_error_of_a_reader_names_the_file_and_the_line(site: Path) -> None:
    (site / "a.jsonl").write_text(lines([*ROWS, {"task": 3}]).replace('"task": 3', '"task": [3'))
    (site / "b.jsonl").write_text(lines(ROWS))
    (site / "my_plugin" / "toolkit_logs.py").write_text(
        "def matches(row):\n    return 'gold' in row\n"
        "def read(rows, path):\n"
        "    for row in rows:\n"
        "        if row['task'] == 2: raise ValueError('two is too many')\n"
        "        yield row\n"
    )
    assert "a.jsonl:3: broken JSON" in run(site, "metrichub.read('a.jsonl')").stderr
    assert "b.jsonl:2: two is too many" in run(site, "metrichub.read('b.jsonl')").stderr


def test_a_file_with_a_suffix_of_its_own_is_read_and_rows_may_be_left_out(site: Path) -> None:
    (site / "a.log").write_text("a\n-\nb\n")
    (site / "b.txt").write_text("c\n")
    assert read(site, "a.log") == {"predictions": ["a", "b"]}
    program = "print(metrichub.read('b.txt', format='log')['predictions'])"
    assert run(site, program).stdout == "['c']\n"
    (site / "c.log").write_text("a\nbroken")
    error = run(site, "metrichub.read('c.log')").stderr
    assert "c.log: the reader my-plugin/.log failed: KeyError: 'text'" in error


def test_its_suffix_is_listed_with_ours(site: Path) -> None:
    (site / "a.odd").touch()
    assert ", .log, each also with .gz" in run(site, "metrichub.read('a.odd')").stderr
    result = subprocess.run(
        [sys.executable, "-m", "metrichub", "score", "a.odd", "--input-format", "odd"],
        env=environment(site),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert "'log'." in result.stderr


def test_broken_readers_are_named_and_the_file_is_read(site: Path) -> None:
    (site / "a.jsonl").write_text(lines([{"response": "a", "system": "s"}]))
    ran = run(site, "print(dict(metrichub.read('a.jsonl')))")
    assert ran.stdout == "{'response': ['a'], 'system': ['s']}\n"
    assert "the reader my-plugin/broken is left out: KeyError: 'task'" in ran.stderr
    assert "the reader my-plugin/gone is left out: ModuleNotFoundError" in ran.stderr


@pytest.mark.parametrize(("topic", "asked"), [("rain", False), ({"name": "rain"}, True)])
def test_no_reader_is_asked_about_rows_that_need_none(
    site: Path, topic: object, asked: bool
) -> None:
    (site / "a.jsonl").write_text(lines([{"number": 1, "prediction": "a", "topic": topic}]))
    ran = run(site, "metrichub.read('a.jsonl')")
    assert ran.returncode == 0
    assert ("my-plugin/gone" in ran.stderr) is asked
