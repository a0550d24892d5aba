"""Classifiers whose files transformers has no class for: AlignScore's three heads."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from metrichub.authoring import ModelFiles
from metrichub.errors import ModelError
from metrichub.text import Integers
from metrichub_neural.engine.batching import FloatArray
from metrichub_neural.engine.classifier import Classifier, Probabilities, softmax
from metrichub_neural.engine.full import TorchModel, load_model
from metrichub_neural.engine.tokens import load_tokenizer, read_config

_HEADS = ("reg_layer", "bin_layer", "tri_layer")
REGRESSION, BINARY, THREE_WAY = slice(0, 1), slice(1, 3), slice(3, 6)
"""Where the outputs of AlignScore's heads are in what its classifier gives."""
ALIGNED, CONTRADICTED = 3, 5
"""Of three ways; between them stands neither, as in MultiNLI."""


class PooledEncoder(TorchModel):
    """An encoder with a pooler, and nothing on top of it."""

    def forward(self, ids: Integers, mask: Integers, types: Integers | None) -> FloatArray:
        """The pooled vectors, (b, d)."""
        inputs = {"input_ids": self.tensor(ids), "attention_mask": self.tensor(mask)}
        if types is not None:
            inputs["token_type_ids"] = self.tensor(types)
        return self.run(lambda model: model(**inputs).pooler_output)


@lru_cache(maxsize=2)
def alignment_of(files: ModelFiles, dtype: str) -> Classifier:
    """AlignScore's model, whose one pass gives all three heads; loaded once a process.

    Raises:
        ModelError: its files aren't such a model.
    """
    config = read_config(files)
    model = load_model("AutoModel", files, dtype, key_mapping={r"^base_model\.": ""})
    matrix, bias = _heads(files)

    def outputs(pooled: Probabilities) -> Probabilities:
        scores = pooled @ matrix.T + bias
        ways = softmax(scores[:, BINARY]), softmax(scores[:, THREE_WAY])
        return np.concatenate([scores[:, REGRESSION], *ways], axis=1)

    tokenizer = load_tokenizer(files, config)
    runner = PooledEncoder(model, files.name)
    return Classifier(files.name, tokenizer, runner, config, outputs)


def _heads(files: ModelFiles) -> tuple[Probabilities, Probabilities]:
    """The three layers as one: a matrix, (outputs, d), and what is added, (outputs,)."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(files.folder / "model.safetensors", "pt") as weights:
            rows, biases = (
                [weights.get_tensor(f"{head}.{kind}").double().numpy() for head in _HEADS]
                for kind in ("weight", "bias")
            )
    except (SafetensorError, OSError) as error:
        raise ModelError(f"{files.name} has no heads of AlignScore ({error})") from error
    return np.concatenate(rows), np.concatenate(biases)
