"""SummEval's summaries with three experts' ratings: the cut in the repository, or all of it."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.vectors import SHARED, SUMMEVAL, _rows, corpus

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")


@cache
def cut() -> list[dict[str, Any]]:
    """12 systems on 20 documents."""
    return corpus(SUMMEVAL)


@cache
def experts() -> list[dict[str, Any]]:
    """16 systems on 100 documents, without their texts; skips the test where it isn't there."""
    path = SHARED / "data" / "summ_summeval_experts.jsonl"
    if not path.exists():
        pytest.skip("needs ../shared/data/summ_summeval_experts.jsonl")
    return _rows(path)


@cache
def all_rows() -> list[dict[str, Any]]:
    """The 1,600 outputs with their references and single ratings; skips without them."""
    references = {row["doc_id"]: row["refs"] for row in corpus("summ_summeval_docs.jsonl")}
    ratings = {(row["doc_id"], row["system"]): row for row in experts()}
    return [
        {**row, **ratings[row["doc_id"], row["system"]], "refs": references[row["doc_id"]]}
        for row in corpus("summ_summeval_outputs.jsonl")
    ]


def labels(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The item and the system of every row, as `correlate` takes them."""
    return {"item": [r["doc_id"] for r in rows], "system": [r["system"] for r in rows]}


def rated(rows: list[dict[str, Any]], *dimensions: str) -> dict[str, Any]:
    """The three ratings of every row for the dimensions."""
    return {name: [row[name] for row in rows] for name in dimensions or DIMENSIONS}


def lengths(rows: list[dict[str, Any]]) -> list[float]:
    """A metric that is there in every clone: the number of words."""
    return [float(len(row["hyp"].split())) for row in rows]


def noisy(rows: list[dict[str, Any]], dimension: str, noise: float, seed: int) -> list[float]:
    """A metric that knows the mean rating but for some noise."""
    random = np.random.default_rng(seed)
    return [float(np.mean(row[dimension]) + noise * random.normal()) for row in rows]
