"""Encoders: texts in, the vectors of their tokens out, shared by all metrics of a process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple, Protocol, cast

import numpy as np

from metrichub.authoring import LocalPath
from metrichub.errors import ParameterError
from metrichub.text import Flags, Integers
from metrichub_neural.engine import full, light
from metrichub_neural.engine.batching import FloatArray, distinct, forwarded
from metrichub_neural.engine.flaws import CUT, flaws_of
from metrichub_neural.engine.machine import budget, device
from metrichub_neural.engine.models import LOCK, loaded_once
from metrichub_neural.engine.reduction import Reduction
from metrichub_neural.engine.settings import origin_of, read_config
from metrichub_neural.engine.store import Store
from metrichub_neural.engine.tokens import Encoded, Tokenizer, load_tokenizer
from metrichub_neural.local_models import ModelFiles, find_model

Engine = Literal["auto", "full", "light"]
Dtype = Literal["float32", "bfloat16", "float16"]
ModelName = Annotated[str, LocalPath()]
_LAYERS = ("num_hidden_layers", "num_layers", "n_layers", "n_layer", "encoder_layers")


class TokenVectors(NamedTuple):
    """One text's tokens and their vectors.

    Attributes:
        ids: The tokens, (n,).
        vectors: (n, d).
        added: Which tokens were added to the text, (n,).
        flaws: Whether the text was cut, or has control or unknown tokens; see `engine.flaws`.
    """

    ids: Integers
    vectors: FloatArray
    added: Flags
    flaws: int


class TextVector(NamedTuple):
    """One text's vector.

    Attributes:
        vector: (d,).
        blank: Whether the text has no tokens but those that are added to it.
        flaws: Whether the text was cut, or has control or unknown tokens; see `engine.flaws`.
    """

    vector: FloatArray
    blank: bool
    flaws: int


class Runner(Protocol):
    """The interface of an encoder in either engine.

    Attributes:
        most: How many texts a batch may have; None for any number.
    """

    most: int | None

    def forward(self, ids: Integers, mask: Integers) -> FloatArray:
        """The vectors of every token of a batch, (b, l, d)."""
        ...

    def reduced(self, ids: Integers, mask: Integers, reduction: Reduction) -> FloatArray:
        """One vector for each text of a batch, (b, d)."""
        ...


@dataclass(frozen=True)
class Choice:
    """A model as it will be run: its files, the engine, the layer and the numbers' type."""

    files: ModelFiles
    engine: str
    layer: int
    dtype: str

    @property
    def resolved(self) -> dict[str, object]:
        """The facts for a signature, by the names of a metric's parameters."""
        return {
            "model": self.files.name,
            "revision": self.files.revision,
            "layer": self.layer,
            "engine": self.engine,
            "dtype": self.dtype,
            **origin_of(self.files),
        }


def choose(  # the parameters of every metric with an encoder
    model: str,
    revision: str | None,
    layer: int | None,
    engine: str,
    dtype: str,
    needed_by: str,
) -> Choice:
    """How a model will be run; nothing is loaded. Without a layer, it is the last.

    Raises:
        MissingModel, ModelError: it isn't on this machine, or can't be read.
        ParameterError: it has no such layer, or the engine can't give it.
    """
    files = find_model(model, revision, needed_by=needed_by)
    layers = _layers_of(read_config(files))
    if engine == "auto":
        engine = "light" if light.has_only_onnx(files) else "full"
    last = layers if layer is None else layer
    if layer is not None and layers and layer > layers:
        raise ParameterError(needed_by, "layer", layer, f"from 0 to {layers}, which {model} has")
    if engine == "light" and last != layers:
        raise ParameterError(
            needed_by, "layer", layer, f"{layers}, the last, as an ONNX file has no other"
        )
    if engine == "light" and dtype != "float32":
        raise ParameterError(needed_by, "dtype", dtype, "'float32' for an ONNX file")
    return Choice(files, engine, last, dtype)


def encoder_of(choice: Choice) -> Encoder:
    """The encoder of a choice; those of several layers share the model, which is loaded once.

    Raises:
        MissingDependency: what runs it isn't installed.
        ModelError: it can't be read.
    """
    with LOCK:
        model = _encoder_model(choice.files, choice.engine, choice.dtype)
        if choice.layer not in model.encoders:
            runner = model.runner
            if choice.engine == "full":
                runner = full.TorchEncoder(runner.model, choice.files.name, choice.layer)
            encoder = Encoder(choice.files.name, model.tokenizer, runner)
            model.encoders[choice.layer] = encoder
        return model.encoders[choice.layer]


class _EncoderModel(NamedTuple):
    """A model whose layers are encoders."""

    tokenizer: Tokenizer
    runner: Any
    encoders: dict[int, Encoder]


@loaded_once
def _encoder_model(files: ModelFiles, engine: str, dtype: str) -> _EncoderModel:
    config = read_config(files)
    tokenizer = load_tokenizer(files, config)
    if engine == "light":
        return _EncoderModel(tokenizer, light.OnnxEncoder(files), {})
    model = full.load_encoder(files, config, dtype)
    return _EncoderModel(tokenizer, full.TorchModel(model, files.name), {})


class Encoder:
    """A model that gives a vector for each token of a text.

    Equal texts are run once, as long as memory holds what came of them.
    """

    def __init__(self, name: str, tokenizer: Tokenizer, runner: Runner) -> None:
        self.name, self.tokenizer, self.runner = name, tokenizer, runner
        self._store = Store()
        self.forget = self._store.clear

    def vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """The tokens of each text with their vectors."""
        make = partial(self._token_vectors, self.runner.forward)
        return self._store.get(texts, make, self.tokenizer.encode, "vectors")

    def reduced(
        self, texts: Sequence[str], reduction: Reduction, limit: int | None = None
    ) -> list[TextVector]:
        """One vector for each text, made on the device of all its layers and tokens."""

        def make(encoded: Sequence[Encoded]) -> list[TextVector]:
            vectors = self._run(
                encoded, lambda ids, mask: self.runner.reduced(ids, mask, reduction)
            )
            return [
                TextVector(vector, bool(text.added.all()), text.flaws)
                for text, vector in zip(encoded, vectors, strict=True)
            ]

        tokens = self.tokenizer
        encode = tokens.encode_as_given if reduction.as_given else tokens.encode
        return self._store.get(texts, make, partial(encode, limit=limit), (reduction, limit))

    def joined(
        self,
        rows: Sequence[Sequence[str]],
        forward: Callable[[Integers, Integers], Any],
        each: int,
        limit: int,
    ) -> list[tuple[Encoded, Any]]:
        """The tokens of each row of texts that the model reads as one, and what `forward` gives.

        A text is cut to `each` tokens, and a row to `limit`, from its end. Equal rows are run once.
        """
        unique, places = distinct([tuple(row) for row in rows])
        texts = list(dict.fromkeys(text for row in unique for text in row))
        encoded = dict(zip(texts, self.tokenizer.encode_as_given(texts, each), strict=True))
        between = self.tokenizer.encode_pairs([("", "")])[0].ids[1:-1]
        joined = [_joined([encoded[text] for text in row], between, limit) for row in unique]
        outputs = self._run(joined, forward)
        return [(joined[place], outputs[place]) for place in places.tolist()]

    @property
    def stays(self) -> bool:
        """Whether vectors stay on the device, a GPU, and are compared there."""
        return isinstance(self.runner, full.TorchEncoder) and device() != "cpu"

    def units(self, texts: Sequence[str]) -> list[TokenVectors]:
        """The tokens of each text with unit vectors, which are tensors on the device."""
        make = partial(self._token_vectors, cast(full.TorchEncoder, self.runner).units)
        return self._store.get(texts, make, self.tokenizer.encode, "units")

    def _token_vectors(
        self, forward: Callable[[Integers, Integers], Any], encoded: Sequence[Encoded]
    ) -> list[TokenVectors]:
        return [
            TokenVectors(text.ids, rows, text.added, text.flaws)
            for text, rows in zip(encoded, self._run(encoded, forward), strict=True)
        ]

    def _run(
        self, encoded: Sequence[Encoded], forward: Callable[[Integers, Integers], Any]
    ) -> list[Any]:
        """The result of `forward` for each text, without the padding: arrays or tensors."""

        def run(ids: Integers, mask: Integers, _: Integers) -> Sequence[Any]:
            outputs = forward(ids, mask)
            if not isinstance(outputs, np.ndarray) or outputs.ndim < 3:
                return list(outputs)
            return [row[:n] for row, n in zip(outputs, mask.sum(axis=1).tolist(), strict=True)]

        rows = [text.ids for text in encoded]
        most, padding = self.runner.most, self.tokenizer.padding
        return forwarded(rows, padding, budget(), run, self.name, most=most)


def _joined(texts: Sequence[Encoded], between: Integers, limit: int) -> Encoded:
    """Texts as one, with what stands between the texts of a pair."""
    ids, added = texts[0].ids, texts[0].added
    for text in texts[1:]:
        ids = np.concatenate([ids[:-1], between, text.ids[1:]])
        added = np.concatenate([added[:-1], between >= 0, text.added[1:]])
    flaws = CUT * (len(ids) > limit) | flaws_of(texts)
    return Encoded(ids[:limit], added[:limit], np.zeros(min(limit, len(ids)), np.int64), flaws)


def _layers_of(config: Mapping[str, Any]) -> int:
    return next((int(config[name]) for name in _LAYERS if isinstance(config.get(name), int)), 0)
