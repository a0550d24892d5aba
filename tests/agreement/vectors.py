"""Values of the official tools for agreement, and matrices of them."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

DATA = Path(__file__).resolve().parents[1] / "data"


@cache
def all_vectors() -> list[dict[str, Any]]:
    """Every vector in the repository."""
    text = (DATA / "agreement_vectors.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def starting(name: str) -> list[dict[str, Any]]:
    """The vectors whose id starts so.

    Raises:
        LookupError: there is none.
    """
    rows = [row for row in all_vectors() if row["id"].startswith(name)]
    if not rows:
        raise LookupError(f"no vector is called {name}")
    return rows


def array(values: Any) -> NDArray[np.float64]:
    """Values with `nan` for None."""
    return np.array(values, np.float64)
