"""The full engine: models in PyTorch, by their architecture in transformers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from metrichub.errors import MissingDependency, ModelError
from metrichub.text import Integers
from metrichub_neural.convert import other_than_weights
from metrichub_neural.engine.batching import FloatArray, OutOfMemory, check_finite, most_texts
from metrichub_neural.engine.machine import device, threads
from metrichub_neural.engine.models import LOCK
from metrichub_neural.engine.reduction import Reduction
from metrichub_neural.local_models import ModelFiles, gguf_of

REQUIRES = ("torch>=2.4", "transformers>=5.6.2,<6")
_ONLY_ENCODERS = ("bert", "camembert", "mobilebert", "roberta", "xlm-roberta", "xlm-roberta-xl")
"""Kinds of models whose class would add a layer on top that no metric here reads."""
_LAYER = re.compile(r"\.\d+\.")
"""The first number in a weight's name, which is its layer's."""
_DISTANCES = ".distance_embedding."
_STACKS = (
    *("encoder.layer", "encoder.block", "encoder.layers", "transformer.layer"),
    *("layers", "layer", "block", "h"),
)
"""Where models have their layers."""
_CUT_OFF = ("cannot reshape array", "requires a buffer", "is out of bounds")
"""How the reader of GGUF files says that one ends too early."""
_MEMORY = ("out of memory", "defaultcpuallocator", "_status_alloc_failed")
"""How PyTorch and the libraries of a GPU say that memory ran out."""


class TorchModel:
    """A model in PyTorch on this machine's device, which runs a batch at a time.

    Attributes:
        most: How many texts a batch may have; None for any number.
    """

    def __init__(self, model: Any, name: str) -> None:
        import torch

        if (few := threads()) is not None:
            torch.set_num_threads(few)
        self.model, self.name = model.eval().to(device()), name
        self.nbytes = sum(part.nbytes for part in (*model.parameters(), *model.buffers()))
        self.most = most_texts(model.config.model_type)
        self._torch = torch

    def tensor(self, array: Integers) -> Any:
        """An array on the device."""
        return self._torch.from_numpy(array).to(device())

    def run(self, forward: Callable[[Any], Any]) -> FloatArray:
        """The result of `forward` for the model; raises what `run_there` raises."""
        return np.asarray(self.run_there(forward).cpu().numpy(), np.float32)

    def run_there(self, forward: Callable[[Any], Any]) -> Any:
        """The same as a tensor on the device, computed again in 32 bits if it isn't finite.

        Raises:
            OutOfMemory: it doesn't fit.
            ModelError: it isn't finite in 32 bits either.
        """
        with LOCK:
            outputs, narrow = self._once(forward), self.model.dtype
            is_finite = bool(self._torch.isfinite(outputs).all())
            if not is_finite and narrow != self._torch.float32:
                try:
                    with within_memory():
                        self.model.float()
                    outputs = self._once(forward)
                finally:
                    self.model.to(narrow)
                is_finite = bool(self._torch.isfinite(outputs).all())
            check_finite(is_finite, self.name)
            return outputs

    def rows_there(self, forward: Callable[[Any], Any], mask: Integers) -> list[Any]:
        """The outputs of each text's tokens on the device, (l, d) each, without the padding."""
        outputs = self.run_there(forward)
        with within_memory():
            # Copies, so that the batch's memory can go.
            return [row[:n].clone() for row, n in zip(outputs, mask.sum(1).tolist(), strict=True)]

    def _once(self, forward: Callable[[Any], Any]) -> Any:
        with within_memory(), self._torch.inference_mode():
            return forward(self.model).float()


@contextmanager
def within_memory() -> Iterator[None]:
    """Raise `OutOfMemory` where PyTorch says in its ways that memory ran out."""
    import torch

    try:
        yield
    except RuntimeError as error:
        said = any(word in str(error).lower() for word in _MEMORY)
        if not said and not isinstance(error, torch.OutOfMemoryError):
            raise
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        raise OutOfMemory(str(error)) from error


class TorchEncoder(TorchModel):
    """An encoder that ends after one layer; the embeddings are layer 0.

    Others may run the same model to another layer.
    """

    def __init__(self, model: Any, name: str, layer: int) -> None:
        super().__init__(model, name)
        # DeBERTa's encoder can't do without a layer.
        kind = model.config.model_type
        self._embeddings = layer == 0 and kind in ("deberta", "deberta-v2")
        self._owner, self._attribute = _stack(model, name)
        self._whole = getattr(self._owner, self._attribute)
        last = max(1, layer) if self._embeddings else layer
        self._part = last if isinstance(self._whole, int) else self._whole[:last]

    def forward(self, ids: Integers, mask: Integers) -> FloatArray:
        """The vectors of every token, (b, l, d)."""
        return self.run(self._vectors(ids, mask))

    def units(self, ids: Integers, mask: Integers) -> list[Any]:
        """The same at the length of 1 for each text, (n, d), on the device."""
        vectors, unit = self._vectors(ids, mask), self._torch.nn.functional.normalize
        return self.rows_there(lambda model: unit(vectors(model).float(), dim=-1), mask)

    def _vectors(self, ids: Integers, mask: Integers) -> Callable[[Any], Any]:
        inputs = {"input_ids": self.tensor(ids), "attention_mask": self.tensor(mask)}
        if self._embeddings:
            return lambda model: model(**inputs, output_hidden_states=True)[1][0]
        return lambda model: model(**inputs)[0]

    def _once(self, forward: Callable[[Any], Any]) -> Any:
        setattr(self._owner, self._attribute, self._part)
        try:
            return super()._once(forward)
        finally:
            setattr(self._owner, self._attribute, self._whole)

    def reduced(self, ids: Integers, mask: Integers, reduction: Reduction) -> FloatArray:
        """One vector for each text, (b, d); only these leave the device."""
        if reduction.mix is not None:
            return self.of_layers(ids, mask, reduction.of)
        vectors = self._vectors(ids, mask)
        return self.run(lambda model: reduction.of((vectors(model),), self.tensor(mask)))

    def of_layers(
        self, ids: Integers, mask: Integers, make: Callable[[Sequence[Any], Any], Any]
    ) -> FloatArray:
        """The result of `make` for all layers, (b, l, d) each, the embeddings first, and the mask.

        Only this leaves the device.
        """
        inputs = {"input_ids": self.tensor(ids), "attention_mask": self.tensor(mask)}

        def run(model: Any) -> Any:
            output = model(**inputs, output_hidden_states=True)
            return make(output.hidden_states, inputs["attention_mask"])

        return self.run(run)


def load_encoder(files: ModelFiles, config: Mapping[str, Any], dtype: str, prefix: str = "") -> Any:
    """The encoder of a model, with all of its layers; raises what `load_model` raises.

    `prefix` is what its weights' names start with, where the file has more than the encoder.
    """
    kind = config.get("model_type", "")
    extra: dict[str, Any] = {"add_pooling_layer": False} if kind in _ONLY_ENCODERS else {}
    if prefix:
        extra["key_mapping"] = {f"^{re.escape(prefix)}": ""}
    name = "T5EncoderModel" if kind in ("t5", "mt5", "umt5") else "AutoModel"
    model = load_model(name, files, dtype, **extra)
    both = hasattr(model, "decoder") and hasattr(model, "encoder")
    return model.encoder if both else model


def libraries(name: str) -> tuple[Any, Any]:
    """PyTorch and transformers, which run the model of this name.

    Raises:
        MissingDependency: one of them isn't installed.
    """
    try:
        import torch
        import transformers
    except ImportError as error:
        extra = "pip install 'metrichub-neural[torch]'"
        raise MissingDependency(name, str(error.name), extra) from error
    return torch, transformers


def load_model(auto: str, files: ModelFiles, dtype: str, **more: Any) -> Any:
    """A model by a class of transformers; from safetensors or GGUF files alone.

    Raises:
        MissingDependency: PyTorch or transformers isn't installed.
        ModelError: it can't be read, or the weights of a part are missing.
    """
    torch, transformers = libraries(files.name)
    gguf = gguf_of(files)
    masked = auto == "AutoModelForMaskedLM"
    kind = "masked model, such as BERT," if masked else "whole model of the right kind"
    more |= {"gguf_file": gguf} if gguf else {"use_safetensors": True}
    if device() != "cpu" and find_spec("accelerate"):
        # Otherwise the weights are all in the host's memory before they are moved.
        more["device_map"] = {"": device()}
    try:
        with quiet():
            model, loading = getattr(transformers, auto).from_pretrained(
                str(files.folder),
                dtype=getattr(torch, dtype),
                local_files_only=True,
                trust_remote_code=False,
                output_loading_info=True,
                **more,
            )
    # Whatever the libraries raise for files that are cut off, or of an unknown architecture.
    except Exception as error:
        reason = _reason(error, files, kind)
        raise ModelError(f"{files.name} can't be read from {files.folder}: {reason}") from error
    # Weights that aren't in the files would be random ones.
    if missing := sorted(loading["missing_keys"]):
        raise ModelError(f"{files.name} has no weights for {missing[0]}: a {kind} is needed")
    _check_weights(model, sorted(loading["unexpected_keys"]), files.name)
    return model


def _check_weights(model: Any, left: Sequence[str], name: str) -> None:
    """Refuse weights that aren't numbers, and layers or positions that the model is made without.

    `left` are the names of those that it didn't take.
    """
    import torch

    taken = model.state_dict()
    for key in left:
        first = _LAYER.sub(".0.", key, count=1)
        # By its name in the model, and below what a model with a head puts before it.
        if first in taken or first.partition(".")[2] in taken:
            raise ModelError(f"{name} has weights for {key}: more layers than its config.json says")
        # BERT's positions relative to each other, of which transformers 5 knows nothing.
        if _DISTANCES in key:
            raise ModelError(f"{name} has weights for {key}, which transformers 5 leaves out")
    for key, weight in model.named_parameters():
        if not torch.isfinite(weight).all():
            raise ModelError(f"{name} has weights that aren't finite in {weight.dtype}: {key}")


def _reason(error: Exception, files: ModelFiles, kind: str) -> str:
    """Why a model can't be read, where what the libraries say is of no help."""
    text = " ".join(str(error).split())
    if "trust_remote_code" in text:
        return "it needs code of its own, and no model's code is run here"
    if "ignore_mismatched_sizes" in text:
        return "its weights have other shapes than its config.json says"
    if "Unrecognized configuration class" in text:
        return f"a {kind} is needed"
    if any(part in text for part in _CUT_OFF):
        return "the file is cut off; download the weights again"
    for path in sorted(files.folder.glob("*.safetensors")):
        if other := other_than_weights(path):
            return f"{path.name} {other}"
    return text


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers from printing tables and progress bars while it loads."""
    from transformers import modeling_gguf_pytorch_utils
    from transformers.utils import logging as logging_of_transformers

    logging: Any = logging_of_transformers
    # Its bar for files in GGUF heeds no setting.
    gguf: Any = modeling_gguf_pytorch_utils
    bar = gguf.tqdm
    level, shown = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    gguf.tqdm = partial(bar, disable=True)
    try:
        yield
    finally:
        gguf.tqdm = bar
        logging.set_verbosity(level)
        if shown:
            logging.enable_progress_bar()


def _stack(model: Any, name: str) -> tuple[Any, str]:
    """The part of a model that has its layers, and under which name: a list, or their number."""
    import torch

    if hasattr(getattr(model, "encoder", None), "albert_layer_groups"):
        return model.encoder.config, "num_hidden_layers"
    for path in _STACKS:
        part, _, attribute = path.rpartition(".")
        owner = getattr(model, part, None) if part else model
        if isinstance(getattr(owner, attribute, None), torch.nn.ModuleList):
            return owner, attribute
    raise ModelError(f"{name} is a {type(model).__name__}, whose layers can't be told")
