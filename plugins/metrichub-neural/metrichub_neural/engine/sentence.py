"""Sentence models: one unit vector a text, by the modules that sentence-transformers lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from metrichub.authoring import Array
from metrichub.errors import ModelError
from metrichub_neural.engine.encoder import Choice, encoder_of
from metrichub_neural.engine.reduction import Pooling, Reduction
from metrichub_neural.engine.settings import limit_of, read_config, read_json
from metrichub_neural.local_models import MODULES, ModelFiles, modules_of, whole_again

_MODES: dict[str, Pooling] = {"mean": "mean", "cls": "first", "max": "max"}
_FLAG = "pooling_mode_"
"""What the names begin with that older versions have for each way to pool."""
_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "Identity": lambda values: values,
    "Tanh": np.tanh,
}
_FIRST = ("Transformer", "Pooling")
"""The modules that each model begins with."""
_INPUT = "sentence_embedding"
_ARGUMENTS = (
    *("config_args", "config_kwargs", "processing_kwargs", "processor_kwargs", "tokenizer_args"),
)
"""Settings that change what transformers makes of the files."""
_REMOTE = "trust_remote_code"
"""The only one of them that means nothing here."""
_ENCODERS = ("t5", "mt5", "umt5")
"""Kinds of models with a decoder of which sentence-transformers runs the encoder alone."""
_Step = Callable[[Array], Array]


class SentenceVector(NamedTuple):
    """One text's unit vector, (d,), 0 for a text without tokens, and its flaws."""

    vector: Array
    blank: bool
    flaws: int


def pooling_of(files: ModelFiles) -> Pooling:
    """How a model's own files pool tokens; the mean where they don't say.

    Raises:
        ModelError: in another way.
    """
    settings = _pooling_settings(files)
    older = [
        name.removeprefix(_FLAG).removesuffix("_tokens").removesuffix("_token")
        for name, on in settings.items()
        if name.startswith(_FLAG) and on is True
    ]
    named = settings.get("pooling_mode", older or "mean")
    modes = [named] if isinstance(named, str) else list(named)
    if len(modes) != 1 or modes[0] not in _MODES:
        names = ", ".join(map(str, modes))
        raise ModelError(f"{files.name} pools by {names}; the embedder local takes pooling='mean'")
    return _MODES[modes[0]]


def sentence_limit(files: ModelFiles) -> int:
    """How many tokens of a text are read."""
    return limit_of(files, longest=_reading_of(files).get("max_seq_length"))


def _settings(files: ModelFiles, name: str) -> dict[str, Any]:
    """The content of one of the JSON files of a whole sentence model; empty without it."""
    return read_json(files._replace(folder=files.root), name)


def _pooling_settings(files: ModelFiles) -> dict[str, Any]:
    places = [path for kind, path in modules_of(files.root) if kind.endswith(".Pooling")]
    return _settings_of(files, (places or ["1_Pooling"])[0])


def _settings_of(files: ModelFiles, place: str) -> dict[str, Any]:
    """The settings of a module; of one that isn't listed, they may be missing."""
    path = files.root / place / "config.json"
    if not path.is_file() and place in [listed for _, listed in modules_of(files.root)]:
        raise ModelError(f"{path}, which {MODULES} lists, is missing: {whole_again(files)}")
    return _settings(files, f"{place}/config.json")


def _reading_of(files: ModelFiles) -> dict[str, Any]:
    """The settings of the part that reads tokens: sentence_bert_config.json, or of its kind.

    Raises:
        ModelError: they have arguments for transformers.
    """
    names = sorted(path.name for path in files.folder.glob("sentence_*_config.json"))
    settings = read_json(files, names[0]) if names else {}
    for name in _ARGUMENTS:
        if set(settings.get(name) or {}) - {_REMOTE}:
            raise ModelError(f"{files.name} has {name} in {names[0]}, which isn't known")
    return settings


def _prompt_of(files: ModelFiles) -> str:
    """What the files put before each text; "" for nothing.

    Raises:
        ModelError: they name a prompt that they don't have, or that isn't pooled.
    """
    settings = _settings(files, "config_sentence_transformers.json")
    name, prompts = settings.get("default_prompt_name"), settings.get("prompts") or {}
    if name is not None and name not in prompts:
        raise ModelError(f"{files.name} has no prompt {name!r}, its default_prompt_name")
    if name is not None and _pooling_settings(files).get("include_prompt") is False:
        raise ModelError(f"{files.name} leaves its prompt out of the pooling, which isn't known")
    return "" if name is None else str(prompts[name])


class SentenceModel:
    """A model that gives each text a unit vector."""

    def __init__(self, choice: Choice, pooling: Pooling) -> None:
        files = choice.files
        config = read_config(files)
        kind = config.get("model_type")
        if config.get("is_encoder_decoder") and kind not in _ENCODERS:
            raise ModelError(
                f"{files.name} is a {kind}, whose decoder sentence-transformers runs too, which "
                "isn't done here"
            )
        self._encoder, self._reduction = encoder_of(choice), Reduction(pooling, as_given=True)
        self._limit, self._steps = sentence_limit(files), _steps_of(files)
        self._prompt = _prompt_of(files)
        self._lowers = bool(_reading_of(files).get("do_lower_case"))
        settings = _settings(files, "config_sentence_transformers.json")
        self._dimensions: int | None = settings.get("truncate_dim")

    def vectors(self, texts: Sequence[str]) -> list[SentenceVector]:
        """The vector of each text; equal ones are run once."""
        read = self._encoder.reduced(list(map(self._ready, texts)), self._reduction, self._limit)
        return [
            SentenceVector(self._finished(text.vector) * (not text.blank), text.blank, text.flaws)
            for text in read
        ]

    def _ready(self, text: str) -> str:
        """A text as the model reads it; "" if it is blank."""
        ready = f"{self._prompt}{text}" if text.strip() else ""
        return ready.lower() if self._lowers else ready

    def _finished(self, vector: Array) -> Array:
        wide = vector.astype(np.float64)
        for step in self._steps:
            wide = step(wide)
        return _unit(wide[: self._dimensions])


def _unit(vector: Array) -> Array:
    return np.asarray(vector / (np.linalg.norm(vector) or 1.0))


def sentences_of(choice: Choice, pooling: Pooling | None = None) -> SentenceModel:
    """The sentence model of a choice; its own pooling unless given.

    Raises:
        MissingDependency: what runs it isn't installed.
        ModelError: it can't be read, or has a module that isn't known here.
    """
    return SentenceModel(choice, pooling or pooling_of(choice.files))


@lru_cache(maxsize=4)
def _steps_of(files: ModelFiles) -> list[_Step]:
    """What the modules behind the pooling do, in their order."""
    steps: list[_Step] = []
    for number, (kind, place) in enumerate(modules_of(files.root)):
        package, _, name = kind.rpartition(".")
        if package.partition(".")[0] != "sentence_transformers" or (
            name != _FIRST[number] if number < len(_FIRST) else name not in ("Dense", "Normalize")
        ):
            raise ModelError(
                f"{files.name} has the module {kind} in place {number}, which isn't known"
            )
        if name == "Dense":
            steps.append(_read_dense(files, place))
        elif name == "Normalize":
            steps.append(_unit)
    return steps


def _read_dense(files: ModelFiles, place: str) -> _Step:
    from safetensors.numpy import load_file

    weights = files._replace(folder=files.root).file(f"{place}/model.safetensors")
    if weights is None:
        raise ModelError(
            f"{files.name} has no {place}/model.safetensors in {files.root}: 'metrichub fetch "
            "--convert' gets it, or 'metrichub convert' makes it of the pickle"
        )
    settings, tensors = _settings_of(files, place), load_file(weights)
    activation = str(settings.get("activation_function", "Tanh")).rpartition(".")[2]
    if activation not in _ACTIVATIONS:
        raise ModelError(f"{files.name} has the activation {activation!r}, which isn't known")
    if settings.get("use_residual") or settings.get("module_input_name", _INPUT) != _INPUT:
        raise ModelError(f"{files.name} has a dense layer in {place} that isn't of whole vectors")
    weight = tensors["linear.weight"].astype(np.float64)
    bias = tensors.get("linear.bias", np.zeros(len(weight))).astype(np.float64)
    return lambda values: _ACTIVATIONS[activation](weight @ values + bias)
