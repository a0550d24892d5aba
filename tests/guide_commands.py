"""The commands of the guides: `$ metrichub …` and what it prints, in blocks of console."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
_BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
_STEP = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


class Step(NamedTuple):
    """A command and what stands below it."""

    command: str
    output: str


def steps(text: str) -> Iterator[Step]:
    """The commands of a page, in order."""
    for block in _BLOCK.findall(text):
        yield from (Step(command, output) for command, output in _STEP.findall(block))


def run_step(command: str, folder: Path, last: int) -> tuple[str, int]:
    """What a terminal of 100 columns shows for a command, and the exit status."""
    if command == "echo $?":
        return f"{last}\n", 0
    words = shlex.split(command)
    assert words[0] == "metrichub", command
    if words[1] == "list":
        # A pipe would get a line for each metric, a terminal gets a table.
        words += ["--format", "table"]
    ran = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "COLUMNS": "100", "METRICHUB_JUDGE": ""},
    )  # fmt: skip
    return "".join(
        f"{line.rstrip()}\n" for line in (ran.stdout + ran.stderr).splitlines()
    ), ran.returncode
