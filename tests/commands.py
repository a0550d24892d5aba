"""Running the command line in tests, on two small systems whose scores are known."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from metrichub.cli import main

# Two samples. abstractness: "c" of "a b c" is new, 1 of 3; nothing of "d" is, 0 of 1; together
# 1 of 4. wer: one replaced of 3 words, none of 1; together 1 of 4.
ROWS = [
    {"id": "x", "prediction": "a b c", "reference": "a b d"},
    {"id": "y", "prediction": "d", "reference": "d"},
]
BOTH = ("-m", "abstractness", "-m", "wer")
JSON = ("--format", "json")
# Before 8.2, click writes errors into the output unless told not to.
SEPARATE: dict[str, Any] = (
    {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
)


def write_systems() -> None:
    """Write a.jsonl with ROWS, and b.jsonl where every prediction is wrong."""
    write("a.jsonl", ROWS)
    write("b.jsonl", [{**row, "prediction": "z"} for row in ROWS])


def write_ranked_systems() -> None:
    """The same eight times over, which is enough for a test to tell them apart."""
    rows = [row | {"id": number} for number, row in enumerate(ROWS * 8)]
    write("a.jsonl", rows)
    write("b.jsonl", [{**row, "prediction": "z"} for row in rows])


def write(name: str, rows: Sequence[object]) -> None:
    Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def run(*arguments: str, stdin: str | None = None, **options: Any) -> Result:
    return CliRunner(**SEPARATE).invoke(main, arguments, input=stdin, **options)


def scored(*arguments: str, stdin: str | None = None) -> Any:
    result = run("score", *arguments, *JSON, stdin=stdin)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def program(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "metrichub", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def error(result: Result, status: int) -> str:
    """The one line of an error, after checking that it is one."""
    assert result.exit_code == status, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("metrichub: error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix("metrichub: error: ").rstrip("\n")
