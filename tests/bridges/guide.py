"""The lines of code of docs/BRIDGES.md, for the tests that run them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import metrichub
from metrichub import Hub, bridges

PAGE = Path(metrichub.__file__).parents[1] / "docs" / "BRIDGES.md"


def lines() -> list[str]:
    """The code in the last cell of every row of the table."""
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    cells = [row.strip("| ").rpartition(" | ")[2] for row in rows]
    return [cell.strip("`") for cell in cells if cell.startswith("`")]


def run(start: str, **names: Any) -> Any:
    """What the only line that has `start` in it gives, with these names beside Hub and bridges."""
    (line,) = [line for line in lines() if start in line]
    return eval(line, {"Hub": Hub, "bridges": bridges, **names})  # our own page
