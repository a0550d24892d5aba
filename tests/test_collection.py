"""Whoever collects the tests, wherever and whenever, finds the same names in the same order."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import COLLECTED

ROOT = Path(__file__).resolve().parents[1]


def collected(folder: Path, seed: str, zone: str) -> list[str]:
    """The names that a process finds that starts in another folder, which is its home, too."""
    folder.mkdir()
    places = {"HOME": str(folder), "TMPDIR": str(folder), "LC_ALL": "C.UTF-8"}
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", ""]
    command += ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT), str(ROOT / "tests")]
    ran = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **places, "PYTHONHASHSEED": seed, "TZ": zone},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-2000:]
    names, _, _ = ran.stdout.partition("\n\n")
    return names.splitlines()


def test_the_names_of_tests_depend_on_no_hash_clock_or_place(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    # The first collection was over before this test began, so the clock has gone on: where all
    # tests were collected it is the one of this process, whose hashes are other ones.
    if request.config.args == request.config.getini("testpaths"):
        first = request.config.stash[COLLECTED]
    else:
        first = collected(tmp_path / "first", "1", "Pacific/Kiritimati")
    seed = "2" if os.environ.get("PYTHONHASHSEED") != "2" else "3"
    second = collected(tmp_path / "second", seed, "Pacific/Pago_Pago")
    assert len(first) > 5000
    assert second == first
