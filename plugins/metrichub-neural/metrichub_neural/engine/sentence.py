"""Sentence models: one unit vector a text, by the modules that sentence-transformers lists."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from metrichub.authoring import Array
from metrichub.errors import ModelError
from metrichub_neural.engine.encoder import Choice, encoder_of
from metrichub_neural.engine.reduction import Pooling, Reduction
from metrichub_neural.engine.tokens import limit_of, read_json
from metrichub_neural.local_models import ModelFiles

_MODES: dict[str, Pooling] = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "first",
}
_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "Identity": lambda values: values,
    "Tanh": np.tanh,
}


class SentenceVector(NamedTuple):
    """One text's unit vector, (d,), 0 for a text without tokens, and whether it was cut."""

    vector: Array
    blank: bool
    cut: bool


class _Dense(NamedTuple):
    """A layer behind the pooling: (m, d), (m,), and the name of a function."""

    weight: Array
    bias: Array
    activation: str


def pooling_of(files: ModelFiles) -> Pooling:
    """How a model's own files pool tokens; the mean where they don't say.

    Raises:
        ModelError: in another way.
    """
    settings = read_json(files, "1_Pooling/config.json")
    modes = [mode for key, mode in _MODES.items() if settings.get(key)]
    every = [k for k, v in settings.items() if k.startswith("pooling_mode") and v is True]
    if every and len(modes) != len(every):
        raise ModelError(
            f"{files.name} pools by {', '.join(every)}; choose pooling='mean' or 'first'"
        )
    return modes[0] if modes else "mean"


def sentence_limit(files: ModelFiles) -> int:
    """How many tokens of a text are read."""
    longest = read_json(files, "sentence_bert_config.json").get("max_seq_length")
    return min(limit_of(files), int(longest or limit_of(files)))


class SentenceModel:
    """A model that gives each text a unit vector."""

    def __init__(self, choice: Choice, pooling: Pooling) -> None:
        self._encoder, self._reduction = encoder_of(choice), Reduction(pooling)
        self._limit, self._dense = sentence_limit(choice.files), _dense_of(choice.files)

    def vectors(self, texts: Sequence[str]) -> list[SentenceVector]:
        """The vector of each text; equal ones are run once."""
        read = self._encoder.reduced(texts, self._reduction, self._limit)
        return [
            SentenceVector(self._finished(text.vector) * (not text.blank), text.blank, text.cut)
            for text in read
        ]

    def _finished(self, vector: Array) -> Array:
        wide = vector.astype(np.float64)
        for dense in self._dense:
            wide = _ACTIVATIONS[dense.activation](dense.weight @ wide + dense.bias)
        return np.asarray(wide / (np.linalg.norm(wide) or 1.0))


def sentences_of(choice: Choice, pooling: Pooling | None = None) -> SentenceModel:
    """The sentence model of a choice; its own pooling unless given.

    Raises:
        MissingDependency: what runs it isn't installed.
        ModelError: it can't be read, or has a module that isn't known here.
    """
    return SentenceModel(choice, pooling or pooling_of(choice.files))


@lru_cache(maxsize=4)
def _dense_of(files: ModelFiles) -> list[_Dense]:
    """The layers behind the pooling; a normalization changes no unit vector."""
    path = files.folder / "modules.json"
    listed = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    layers = []
    for module in listed:
        kind = str(module.get("type")).rpartition(".")[2]
        if kind == "Dense":
            layers.append(_read_dense(files, str(module.get("path"))))
        elif kind not in ("Transformer", "Pooling", "Normalize"):
            raise ModelError(f"{files.name} has the module {module.get('type')}, which isn't known")
    return layers


def _read_dense(files: ModelFiles, place: str) -> _Dense:
    from safetensors.numpy import load_file

    weights = files.file(f"{place}/model.safetensors")
    if weights is None:
        raise ModelError(
            f"{files.name} has no {place}/model.safetensors in {files.folder}: 'metrichub fetch "
            "--convert' gets it, or 'metrichub convert' makes it of the pickle"
        )
    settings, tensors = read_json(files, f"{place}/config.json"), load_file(weights)
    activation = str(settings.get("activation_function", "Tanh")).rpartition(".")[2]
    if activation not in _ACTIVATIONS:
        raise ModelError(f"{files.name} has the activation {activation!r}, which isn't known")
    weight = tensors["linear.weight"].astype(np.float64)
    bias = tensors.get("linear.bias", np.zeros(len(weight))).astype(np.float64)
    return _Dense(weight, bias, activation)
