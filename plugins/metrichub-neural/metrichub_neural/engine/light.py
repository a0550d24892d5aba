"""The light engine: encoders as ONNX files, run by onnxruntime, without PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from metrichub.authoring import ModelFiles
from metrichub.errors import ModelError
from metrichub.text import Integers
from metrichub_neural.engine.batching import FloatArray, OutOfMemory, finite
from metrichub_neural.engine.machine import threads

REQUIRES = ("onnxruntime>=1.20",)
FILES = ("model.onnx", "onnx/model.onnx")


class OnnxEncoder:
    """An encoder whose file gives the vectors of its last layer."""

    def __init__(self, path: Path, name: str) -> None:
        import onnxruntime

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
            raise ModelError(f"{name} can't be read from {path}: {reason}") from error
        self.name = name
        self._inputs = {entry.name for entry in self._session.get_inputs()}
        outputs = [output for output in self._session.get_outputs() if len(output.shape) == 3]
        if not outputs:
            raise ModelError(f"{path} gives no vectors of tokens")
        self._output = outputs[0].name

    def forward(self, ids: Integers, mask: Integers) -> FloatArray:
        """The vectors of every token, (b, l, d)."""
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        inputs = {name: array for name, array in inputs.items() if name in self._inputs}
        try:
            vectors = self._session.run([self._output], inputs)[0]
        except Exception as error:
            if "alloc" in str(error).lower():
                raise OutOfMemory(str(error)) from error
            raise
        return finite(np.asarray(vectors, np.float32), None, self.name)


def load_encoder(files: ModelFiles) -> OnnxEncoder:
    """The encoder of a model's ONNX file.

    Raises:
        ModelError: there is none, or it can't be read.
    """
    path = files.file(*FILES)
    if path is None:
        raise ModelError(f"{files.name} has no {FILES[0]} in {files.folder}")
    return OnnxEncoder(path, files.name)
