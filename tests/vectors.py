"""The conformance vectors beside the project: inputs and values that official tools publish."""

import json
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[1] / ".." / "shared"
_PATH = SHARED / "conformance" / "vectors.jsonl"


def vectors(*metrics: str) -> list[Any]:
    """The vectors of some metrics as pytest parameters; one skipped parameter without the file."""
    if not _PATH.exists():
        reason = "needs ../shared/conformance/vectors.jsonl"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason))]
    rows = [json.loads(line) for line in _PATH.read_text(encoding="utf-8").splitlines()]
    return [pytest.param(row, id=row["id"]) for row in rows if row["metric"] in metrics]


def corpus(name: str) -> list[dict[str, Any]]:
    """The rows of a real corpus beside the project; skips the test where it isn't there."""
    path = SHARED / "data" / name
    if not path.exists():
        pytest.skip(f"needs ../shared/data/{name}")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
