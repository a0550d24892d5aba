"""Classifiers whose files transformers has no class for: AlignScore's three heads, and BLEURT."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from metrichub.errors import ModelError
from metrichub_neural.engine.classifier import Classifier, Probabilities, TorchClassifier, softmax
from metrichub_neural.engine.full import load_model
from metrichub_neural.engine.models import loaded_once
from metrichub_neural.engine.settings import read_config
from metrichub_neural.engine.tokens import load_tokenizer
from metrichub_neural.local_models import ModelFiles

_HEADS = ("reg_layer", "bin_layer", "tri_layer")
REGRESSION, BINARY, THREE_WAY = slice(0, 1), slice(1, 3), slice(3, 6)
"""Where the outputs of AlignScore's heads are in what its classifier gives."""
ALIGNED, CONTRADICTED = 3, 5
"""Of three ways; between them stands neither, as in MultiNLI."""


class PooledEncoder(TorchClassifier):
    """An encoder with a pooler, and nothing on top of it: its pooled vectors, (b, d)."""

    output = "pooler_output"


@loaded_once
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


@loaded_once
def bleurt_of(files: ModelFiles, dtype: str) -> Classifier:
    """BLEURT's model, which gives a pair its score; loaded once a process.

    BLEURT-20 is a RemBERT, older checkpoints are BERTs, and both may come under names of their own.

    Raises:
        ModelError: its files aren't such a model.
    """
    config = read_config(files)
    more: dict[str, Any] = {}
    auto = "AutoModelForSequenceClassification"
    if config.get("model_type") == "bleurt":
        kind, more["config"] = bleurt_config(config)
        more["key_mapping"] = {
            r"^bleurt\.": f"{kind.lower()}.",
            r"encoder\.embedding_projection": "encoder.embedding_hidden_mapping_in",
        }
        auto = f"{kind}ForSequenceClassification"
    model = load_model(auto, files, dtype, **more)
    if model.config.num_labels != 1:
        raise ModelError(f"{files.name} has {model.config.num_labels} outputs, and BLEURT one")
    tokenizer = load_tokenizer(files, config)
    runner = TorchClassifier(model, files.name)
    return Classifier(files.name, tokenizer, runner, config, lambda scores: scores)


def bleurt_config(config: Mapping[str, Any]) -> tuple[str, Any]:
    """The kind of a model of the port, and its configuration as transformers has it."""
    import transformers

    width = config.get("embedding_size")
    kind = "Bert" if width is None else "RemBert"
    settings = {name: config[name] for name in config if name not in _NOT_SETTINGS}
    more = {"input_embedding_size": width, "classifier_dropout_prob": 0.0, "num_labels": 1}
    return kind, getattr(transformers, f"{kind}Config")(**settings, **more)


_NOT_SETTINGS = ("architectures", "id2label", "label2id", "model_type", "num_labels")
"""What BLEURT's configuration says that is its own, or that the classes derive."""
