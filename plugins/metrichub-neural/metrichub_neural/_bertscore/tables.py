"""Default models and layers, and the scores of unrelated sentences, as bert-score has them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from metrichub.errors import ParameterError
from metrichub_neural.engine.settings import read_config
from metrichub_neural.local_models import ModelFiles, folder_of

_FOLDER = Path(__file__).parent
_MODELS = {
    "en": "roberta-large",
    "en-sci": "allenai/scibert_scivocab_uncased",
    "tr": "dbmdz/bert-base-turkish-cased",
    "zh": "bert-base-chinese",
}
_OTHERS = "bert-base-multilingual-cased"
_OWNERS = (
    *("FacebookAI", "albert", "distilbert", "google-bert", "google-t5", "openai-community"),
    "xlnet",
)
"""Whose models have names without an owner in the tables, as the hub's models once had."""
_CACHED = re.compile(r"models--([^/\\]+)")
"""A folder of the hub's cache, wherever it was copied to."""


class Baseline(NamedTuple):
    """The mean scores of unrelated sentences: precision, recall and F1."""

    precision: float
    recall: float
    f1: float


def default_model(language: str) -> str:
    """The model for a language where none is named."""
    return _MODELS.get(language, _OTHERS)


def default_layer(model: str, needed_by: str) -> int:
    """The layer that agrees best with people on WMT16.

    Raises:
        ParameterError: the model wasn't tried.
    """
    layer = _layers().get(name_of(model))
    if layer is None:
        allowed = f"the layer of {model} that is compared: which one agrees best wasn't measured"
        raise ParameterError(needed_by, "layer", None, allowed)
    return layer


def baseline_of(language: str, model: str, layer: int | None) -> Baseline | None:
    """The baseline of a layer, or of the best one, in a language; None where nobody measured it."""
    name = name_of(model)
    place = _layers().get(name) if layer is None else layer
    layers = _baselines().get((language, name), ())
    return None if place is None or place >= len(layers) else layers[place]


def name_of(model: str) -> str:
    """The name that the tables have for a model; for a folder, for what it was copied from."""
    if folder := folder_of(model):
        cached = _CACHED.search(str(folder))
        origin = read_config(ModelFiles(model, folder, "")).get("_name_or_path")
        model = cached[1].replace("--", "/") if cached else str(origin)
    owner, _, name = model.rpartition("/")
    return name if owner in _OWNERS else model


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
