"""The light engine: encoders and classifiers as ONNX files, run by onnxruntime, without PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np

from metrichub.errors import ModelError
from metrichub.text import Integers
from metrichub_neural.engine.batching import FloatArray, OutOfMemory, check_finite, most_texts
from metrichub_neural.engine.machine import threads
from metrichub_neural.engine.reduction import Reduction
from metrichub_neural.engine.settings import read_config
from metrichub_neural.local_models import ONNX, SAFETENSORS, ModelFiles

REQUIRES = ("onnxruntime>=1.20",)
_MEMORY = ("bad_alloc", "failed to allocate memory")


class OnnxModel:
    """A model in an ONNX file, of whose outputs the first with a number of axes is read."""

    def __init__(self, files: ModelFiles, axes: int, what: str) -> None:
        import onnxruntime

        path = files.file(*ONNX)
        if path is None:
            raise ModelError(f"{files.name} has no {ONNX[0]} in {files.folder}")
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        if (few := threads()) is not None:
            options.intra_op_num_threads = few
        try:
            self._session: Any = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        # The library's exceptions share no class of their own.
        except Exception as error:
            reason = " ".join(str(error).split())
            raise ModelError(f"{files.name} can't be read from {path}: {reason}") from error
        self.name, self.most = files.name, most_texts(read_config(files).get("model_type"))
        # Large models have their numbers in a file beside it.
        self.nbytes = sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))
        self._inputs = {entry.name for entry in self._session.get_inputs()}
        outputs = [output for output in self._session.get_outputs() if len(output.shape) == axes]
        if not outputs:
            raise ModelError(f"{path} gives no {what}")
        self._output = outputs[0].name

    def run(self, ids: Integers, mask: Integers, types: Integers | None = None) -> FloatArray:
        """The output for a batch, in 32 bits."""
        types = np.zeros_like(ids) if types is None else types
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        inputs = {name: array for name, array in inputs.items() if name in self._inputs}
        try:
            output = self._session.run([self._output], inputs)[0]
        except Exception as error:
            if any(word in str(error).lower() for word in _MEMORY):
                raise OutOfMemory(str(error)) from error
            raise
        check_finite(bool(np.isfinite(output).all()), self.name)
        return np.asarray(output, np.float32)


class OnnxEncoder(OnnxModel):
    """An encoder whose file gives the vectors of its last layer."""

    def __init__(self, files: ModelFiles) -> None:
        super().__init__(files, 3, "vectors of tokens")

    def forward(self, ids: Integers, mask: Integers) -> FloatArray:
        """The vectors of every token, (b, l, d)."""
        return self.run(ids, mask)

    def reduced(self, ids: Integers, mask: Integers, reduction: Reduction) -> FloatArray:
        """One vector for each text, (b, d), of the last layer."""
        return np.asarray(reduction.of((self.run(ids, mask),), mask), np.float32)


class OnnxClassifier(OnnxModel):
    """A classifier of texts or of pairs of texts."""

    def __init__(self, files: ModelFiles) -> None:
        super().__init__(files, 2, "scores of labels")

    def forward(self, ids: Integers, mask: Integers, types: Integers | None) -> FloatArray:
        """The score of each label before it is a probability, (b, labels)."""
        return self.run(ids, mask, types)


def has_only_onnx(files: ModelFiles) -> bool:
    """Whether a model comes as an ONNX file and not for PyTorch."""
    others = files.file(*SAFETENSORS) or files.name.endswith(".gguf")
    return files.file(*ONNX) is not None and not others
