"""Default models and layers, and the scores of unrelated sentences, as bert-score has them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

_FOLDER = Path(__file__).parent
_MODELS = {
    "en": "roberta-large",
    "en-sci": "allenai/scibert_scivocab_uncased",
    "tr": "dbmdz/bert-base-turkish-cased",
    "zh": "bert-base-chinese",
}
_OTHERS = "bert-base-multilingual-cased"


class Baseline(NamedTuple):
    """The mean scores of unrelated sentences: precision, recall and F1."""

    precision: float
    recall: float
    f1: float


def default_model(language: str) -> str:
    """The model for a language where none is named."""
    return _MODELS.get(language, _OTHERS)


def default_layer(model: str) -> int | None:
    """The layer that agrees best with people on WMT16; None for a model that wasn't tried."""
    return _layers().get(model)


def baseline_of(language: str, model: str, layer: int) -> Baseline | None:
    """The baseline of a model's layer in a language; None where nobody measured it."""
    layers = _baselines().get((language, model), ())
    return layers[layer] if layer < len(layers) else None


@cache
def _layers() -> Mapping[str, int]:
    rows = (line.split("\t") for line in _lines("layers.tsv"))
    return {model: int(layer) for model, layer in rows}


@cache
def _baselines() -> Mapping[tuple[str, str], tuple[Baseline, ...]]:
    rows = (line.split("\t") for line in _lines("baselines.tsv"))
    return {
        (language, model): tuple(Baseline(*map(float, cell.split("/"))) for cell in cells)
        for language, model, *cells in rows
    }


def _lines(name: str) -> list[str]:
    return (_FOLDER / name).read_text(encoding="utf-8").splitlines()
