"""Scripts of the report that need no page: marks, orders, ranges and files, in Node."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def test_what_the_scripts_compute_is_right() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node on the path")
    command = [node, "--test", str(Path(__file__).with_name("scripts.mjs"))]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
