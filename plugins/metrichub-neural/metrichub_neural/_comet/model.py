"""COMET's regression models: an encoder, the mix of its layers, and a feed-forward head.

Rei et al. (2020), section 2; the layer norm, the order of features and what hyperparameters mean
are those of unbabel-comet 2.2.7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from metrichub.authoring import Array
from metrichub.errors import ModelError
from metrichub_neural.convert import HYPERPARAMETERS
from metrichub_neural.engine.batching import FloatArray
from metrichub_neural.engine.classifier import softmax
from metrichub_neural.engine.encoder import Encoder, TextVector
from metrichub_neural.engine.full import TorchEncoder, load_encoder
from metrichub_neural.engine.machine import device
from metrichub_neural.engine.models import loaded_once
from metrichub_neural.engine.reduction import Reduction
from metrichub_neural.engine.settings import read_config, read_json
from metrichub_neural.engine.store import Store
from metrichub_neural.engine.tokens import load_tokenizer
from metrichub_neural.local_models import ModelFiles

_ENCODER = "encoder.model."
_LAYERS = "layerwise_attention."
_HEAD = "estimator.ff."
_TAGS = "hidden2tag"
UNIFIED = "unified_metric"
"""The class of models that read a translation with its source or reference as one text."""
XCOMET = "xcomet_metric"
"""The class of those that also label the translation's tokens."""
_POOLING: Mapping[str, Any] = {"avg": "mean", "cls": "first"}
_ROWS = 4_096
"""How many samples the head reads at a time."""


class Settings(NamedTuple):
    """The hyperparameters of a model.

    Attributes:
        kind: The class of the model.
        layer: The layer that is read, or "mix".
        sparse: Whether the shares of layers are a sparsemax; a softmax if not.
        normalizes: Whether layers are normalized before they are mixed.
        pool: How tokens become one vector.
        activations: The function behind each layer of the head but the last.
        final: The function behind the last, if any.
        limit: How many tokens of a text are read.
        segments: What a unified model was trained to read together: "mt", "src" and "ref".
        tag_layer: The layer that tokens are labelled from, by a model that does.
    """

    kind: str
    layer: int | str
    sparse: bool
    normalizes: bool
    pool: str
    activations: str
    final: str | None
    limit: int
    segments: tuple[str, ...] = ()
    tag_layer: int | None = None


def settings_of(files: ModelFiles) -> Settings:
    """The hyperparameters in a model's files; the defaults are the program's.

    Raises:
        ModelError: there are none.
    """
    both = read_json(files, HYPERPARAMETERS)
    if not both:
        raise ModelError(
            f"{files.name} has no {HYPERPARAMETERS} in {files.folder}, which 'metrichub convert' "
            "writes for a checkpoint of COMET"
        )
    file, checkpoint = both.get("file", {}), both.get("checkpoint", {})
    settings = {**file, **checkpoint}
    # The program reads the checkpoint's, except for these two.
    patched = file.get("layer_transformation") == "sparsemax_patch"
    kind = str(file.get("class_identifier") or settings.get("class_identifier"))
    unified = kind in (UNIFIED, XCOMET)
    return Settings(
        kind=kind,
        layer=settings.get("sent_layer" if unified else "layer", "mix"),
        sparse=settings.get("layer_transformation", unified and "sparsemax") == "sparsemax"
        and not patched,
        normalizes=bool(settings.get("layer_norm", kind != XCOMET)),
        pool="cls" if unified else str(settings.get("pool", "avg")),
        activations=str(settings.get("activations", "Tanh")),
        final=settings.get("final_activation"),
        # Two fewer than the model's positions without the padding's.
        limit=int(read_config(files).get("max_position_embeddings", 514)) - 4,
        segments=tuple(settings.get("input_segments") or ("mt", "src", "ref")) if unified else (),
        tag_layer=int(settings.get("word_layer", 36)) if kind == XCOMET else None,
    )


def sparsemax(scores: Array) -> Array:
    """The point of the simplex that is nearest to the scores (Martins and Astudillo, 2016)."""
    falling = np.sort(scores)[::-1]
    sums, ranks = np.cumsum(falling), np.arange(1, len(scores) + 1)
    support = int(np.sum(1 + ranks * falling > sums))
    return np.asarray(np.maximum(scores - (sums[support - 1] - 1) / support, 0))


class Tagged(NamedTuple):
    """The output of a model that labels tokens for a row of texts that it reads as one.

    Attributes:
        score: The score of the first text.
        labels: The logits of the labels of its tokens, (n, labels).
        flaws: Those of the texts together; see `engine.flaws`.
    """

    score: float
    labels: FloatArray
    flaws: int


class Comet:
    """A regression model."""

    def __init__(
        self,
        encoder: Encoder,
        reduction: Reduction,
        settings: Settings,
        head: Sequence[Any],
        tags: Sequence[Any],
    ) -> None:
        import torch

        self._torch, self._encoder, self._reduction = torch, encoder, reduction
        self.runner = cast(TorchEncoder, encoder.runner)
        self._settings, self._head, self._tags = settings, head, tags
        self._tagged = Store()

    def read(self, texts: Sequence[str]) -> list[TextVector]:
        """The vector of each text; equal ones are run once."""
        return self._encoder.reduced(texts, self._reduction, self._settings.limit)

    def forget(self) -> None:
        """Free the memory of all vectors that were kept."""
        self._encoder.forget()
        self._tagged.clear()

    def read_together(self, rows: Sequence[Sequence[str]]) -> list[TextVector]:
        """The vector of each row of texts, read as one."""
        each = self._settings.limit
        reduced = lambda ids, mask: self.runner.reduced(ids, mask, self._reduction)
        return [
            TextVector(vector, bool(text.added.all()), text.flaws)
            for text, vector in self._encoder.joined(rows, reduced, each, each + 2)
        ]

    def read_tagged(self, rows: Sequence[tuple[str, ...]]) -> list[Tagged]:
        """The score and labels of each row of texts, read as one; kept for explanations."""
        return self._tagged.get(rows, self._tag)

    def spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """Where in its text each token is."""
        return self._encoder.tokenizer.spans(texts, self._settings.limit)

    def _tag(self, rows: Sequence[tuple[str, ...]]) -> list[Tagged]:
        each = self._settings.limit
        firsts = dict.fromkeys(row[0] for row in rows)
        sizes = {text: len(ends) for text, ends in zip(firsts, self.spans([*firsts]), strict=True)}

        def tagged_logits(layers: Sequence[Any], mask: Any) -> Any:
            """The labels' logits of each token, and behind them the score of its text."""
            score = self._activated(self._reduction.of(layers, mask))[:, None]
            tagged = layers[self._settings.tag_layer or 0].float()
            logits = self._torch.nn.functional.linear(tagged, *self._tags)
            return self._torch.cat([logits, score.expand(-1, logits.shape[1], -1)], -1)

        run = lambda ids, mask: self.runner.of_layers(ids, mask, tagged_logits)
        outputs = self._encoder.joined(rows, run, each, each + 2)
        return [
            Tagged(float(output[0, -1]), output[: sizes[row[0]], :-1].copy(), text.flaws)
            for row, (text, output) in zip(rows, outputs, strict=True)
        ]

    def scores(self, vectors: Sequence[Sequence[Any]]) -> Array:
        """The score of each sample from the vectors of its texts, the prediction's first, (N,)."""
        columns = [np.array(column, np.float32) for column in vectors]
        parts = [
            self._scores([column[start : start + _ROWS] for column in columns])
            for start in range(0, len(columns[0]), _ROWS)
        ]
        return np.concatenate([np.zeros(0), *parts])

    def _scores(self, columns: Sequence[Array]) -> Array:
        torch = self._torch
        with torch.inference_mode():
            prediction, *others = [torch.from_numpy(column).to(device()) for column in columns]
            pairs = [[prediction * other, (prediction - other).abs()] for other in others]
            # With a reference, the source itself isn't read.
            parts = [prediction, *others[:1], *(part for pair in pairs for part in pair)]
            values = self._activated(torch.cat(parts, 1))
            return np.asarray(values[:, 0].cpu().numpy(), np.float64)

    def _activated(self, values: Any) -> Any:
        """The head's output for features, (b, 1)."""
        for number, (weight, bias) in enumerate(self._head, 1):
            values = self._torch.nn.functional.linear(values, weight, bias)
            last = number == len(self._head)
            if name := self._settings.final if last else self._settings.activations:
                values = getattr(self._torch, name.lower())(values)
        return values


@loaded_once
def comet_of(files: ModelFiles, dtype: str) -> Comet:
    """The model in some files, loaded once a process.

    Raises:
        MissingDependency: PyTorch isn't installed.
        ModelError: it can't be read, or is built as none of the program's are.
    """
    settings, config = settings_of(files), read_config(files)
    if settings.pool not in _POOLING:
        raise ModelError(f"{files.name} pools by {settings.pool!r}, not by {' or '.join(_POOLING)}")
    for name in filter(None, (settings.activations, settings.final)):
        if name.lower() not in ("tanh", "sigmoid", "relu"):
            raise ModelError(f"{files.name} has the activation {name!r}, which isn't known here")
    layers = int(config["num_hidden_layers"])
    layer = layers if settings.layer == "mix" else int(settings.layer) % (layers + 1)
    runner = TorchEncoder(load_encoder(files, config, dtype, _ENCODER), files.name, layer)
    encoder = Encoder(files.name, load_tokenizer(files, config), runner)
    tensors = _beside(files)
    head = _head(files, tensors)
    reduction = Reduction(_POOLING[settings.pool], as_given=True)
    if settings.layer == "mix":
        scores = [
            float(tensors[f"{_LAYERS}scalar_parameters.{number}"]) for number in range(layers + 1)
        ]
        shares = sparsemax(np.array(scores)) if settings.sparse else softmax(np.array([scores]))[0]
        mix = tuple((float(tensors[f"{_LAYERS}gamma"]) * shares).tolist())
        reduction = reduction._replace(mix=mix, normalizes=settings.normalizes)
    return Comet(encoder, reduction, settings, head, _tags(files, settings, layers, tensors))


def _beside(files: ModelFiles) -> dict[str, Any]:
    """The tensors beside the encoder's, in 32 bits."""
    from safetensors import safe_open

    tensors: dict[str, Any] = {}
    for path in sorted(files.folder.glob("*.safetensors")):
        with safe_open(path, "pt") as file:
            for name in file.keys():  # noqa: SIM118  # not a mapping
                if not name.startswith(_ENCODER):
                    tensors[name] = file.get_tensor(name).float().to(device())
    return tensors


def _tags(
    files: ModelFiles, settings: Settings, layers: int, tensors: Mapping[str, Any]
) -> Sequence[Any]:
    """The weights and the biases that label tokens; none for a model that doesn't."""
    if settings.tag_layer is None:
        return ()
    if settings.layer != "mix" or not 0 <= settings.tag_layer <= layers:
        raise ModelError(
            f"{files.name} reads layers {settings.layer} and {settings.tag_layer} of {layers}, "
            "not a mix of all and one of them, as XCOMET does"
        )
    names = [f"{_TAGS}.weight", f"{_TAGS}.bias"]
    for name in names:
        if name not in tensors:
            raise ModelError(f"{files.name} has no weights for {name}, which labels tokens")
    return [tensors[name] for name in names]


def _head(files: ModelFiles, tensors: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """The weights and biases of the head's layers, from the first."""
    numbers = sorted(
        int(name.removeprefix(_HEAD).removesuffix(".weight"))
        for name in tensors
        if name.startswith(_HEAD) and name.endswith(".weight")
    )
    if not numbers:
        raise ModelError(f"{files.name} has no weights for {_HEAD}0, the head of a COMET model")
    return [(tensors[f"{_HEAD}{n}.weight"], tensors[f"{_HEAD}{n}.bias"]) for n in numbers]
