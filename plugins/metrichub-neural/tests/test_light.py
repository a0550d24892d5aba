"""The light engine beside the full one, on real pairs of texts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from metrichub import Hub, load_metric

ROOT = Path(__file__).parents[3]
WMT16 = ROOT.parent / "shared/data/mt_wmt16_deen_uedin-syntax.jsonl"
CUT = ROOT / "tests/data"
Pairs = tuple[list[str], list[str]]


def rows_of(path: Path) -> list[dict[str, object]]:
    if not path.exists():
        pytest.skip(f"needs {path.name}")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def summaries() -> Pairs:
    """120 pairs of SummEval: six systems' summaries of 20 articles, each with a reference."""
    documents = {row["doc_id"]: row for row in rows_of(CUT / "summeval_docs.jsonl")}
    rows = rows_of(CUT / "summeval_outputs.jsonl")[::2]
    return [row["hyp"] for row in rows], [documents[row["doc_id"]]["refs"][0] for row in rows]


def translations() -> Pairs:
    rows = rows_of(WMT16)[:2000]
    return [row["hyp"] for row in rows], [row["ref"] for row in rows]


def differences(pairs: Pairs, onnx: Path, minilm: str) -> np.ndarray:
    """Score, precision and recall by 8 bits less those by 32, (3, N)."""
    both = {"predictions": pairs[0], "references": pairs[1]}
    light, full = (
        Hub(load_metric("bertscore", model=str(name), layer=6)).evaluate(**both)
        for name in (onnx, minilm)
    )
    assert "engine='light'" in light.signatures()["bertscore"]
    assert "engine='full'" in full.signatures()["bertscore"]
    first, other = (report.samples()["bertscore"] for report in (light, full))
    return np.array([first[name] - other[name] for name in ("score", "precision", "recall")])


def test_the_light_engine_is_within_a_hundredth_on_120_summaries(onnx: Path, minilm: str) -> None:
    result = differences(summaries(), onnx, minilm)
    assert result.shape == (3, 120)
    assert 0 < np.abs(result).max() < 0.01


@pytest.mark.slow
def test_the_light_engine_is_within_a_hundredth_on_2000_translations(
    onnx: Path, minilm: str
) -> None:
    result = differences(translations(), onnx, minilm)
    assert result.shape == (3, 2000)
    assert 0 < np.abs(result).max() < 0.01
