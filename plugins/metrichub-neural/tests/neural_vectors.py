"""Scores that official programs gave with random weights, and models with the same weights.

Each row of neural_vectors.jsonl names the program. Weights follow from a seed and the name of each
tensor, so that no weight file is needed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install 'metrichub-neural[torch]'")
transformers = pytest.importorskip("transformers", reason="needs transformers")
tokenizers = pytest.importorskip("tokenizers", reason="needs tokenizers")

ROWS: list[dict[str, Any]] = [
    json.loads(line)
    for line in Path(__file__).with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
]
SETUP = ROWS[0]
_NORMS = ("LayerNorm.weight", "layer_norm.weight", "layernorm.weight", "ln_f.weight")


def rows(start: str) -> list[dict[str, Any]]:
    """The rows whose metric's name starts so."""
    return [row for row in ROWS if row["metric"].startswith(start)]


def weights(shapes: Mapping[str, Sequence[int]], row: Mapping[str, Any]) -> dict[str, Any]:
    """The tensors of a row's model, by name; their sums are those of the official program's."""
    seed, scale = row["weights"]["seed"], row["weights"]["scale"]
    tensors: dict[str, Any] = {}
    for name, shape in shapes.items():
        draw = np.random.default_rng([seed, crc32(name.encode())])
        normal = draw.standard_normal(tuple(shape)).astype(np.float32)
        norm = name.endswith(_NORMS) or ("layernorm" in name and name.endswith(".weight"))
        tensors[name] = torch.from_numpy(1 + np.float32(0.1) * normal if norm else normal * scale)
    for name, total in row["weights"]["check"].items():
        assert float(tensors[name].double().sum()) == pytest.approx(total, abs=1e-3), name
    return tensors


def shapes(model: Any) -> dict[str, Sequence[int]]:
    """The float tensors of a model by name; of tied ones the first."""
    tensors: dict[int, str] = {}
    state = {
        name: tensor for name, tensor in model.state_dict().items() if tensor.is_floating_point()
    }
    for name, tensor in state.items():
        tensors.setdefault(tensor.data_ptr(), name)
    return {name: state[name].shape for name in tensors.values()}


def write_model(folder: Path, auto: str, kind: str, row: Mapping[str, Any], **more: Any) -> Path:
    """A row's model and its configuration, in a folder as the hub has them."""
    config = transformers.AutoConfig.for_model(kind, **{**row["config"], **more})
    model = getattr(transformers, auto).from_config(config)
    if not row["config"].get("tie_word_embeddings", True):
        # transformers 5 ties it all the same, and mT5's configuration says so.
        model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.clone())
    model.load_state_dict(weights(shapes(model), row), strict=False)
    if row.get("final_logits_bias") == 0:
        model.final_logits_bias.zero_()
    model.save_pretrained(folder)
    return folder


def write_words(
    folder: Path,
    words: Sequence[str],
    special: Mapping[str, str],
    single: str = "<s> $A </s>",
    pair: str = "<s> $A </s> </s> $B </s>",
    limit: int = 64,
) -> Path:
    """A tokenizer of whole words; `special` has "pad_token" and the like."""
    folder.mkdir(parents=True, exist_ok=True)
    ids = {word: number for number, word in enumerate(words)}
    backend = tokenizers.Tokenizer(tokenizers.models.WordLevel(ids, unk_token=special["unk_token"]))
    backend.normalizer = tokenizers.normalizers.Lowercase()
    backend.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    backend.post_processor = tokenizers.processors.TemplateProcessing(
        single=single,
        pair=pair,
        special_tokens=[(token, ids[token]) for token in dict.fromkeys(special.values())],
    )
    backend.add_special_tokens(list(dict.fromkeys(special.values())))
    backend.save(str(folder / "tokenizer.json"))
    settings = {**special, "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": limit}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


def write_setup_words(folder: Path, limit: int = 64) -> Path:
    """The tokenizer of all rows that name no vocabulary of their own."""
    special = {
        "bos_token": "<s>",
        "cls_token": "<s>",
        "pad_token": "<pad>",
        "eos_token": "</s>",
        "sep_token": "</s>",
        "unk_token": "<unk>",
        "mask_token": "<mask>",
    }
    return write_words(folder, [*SETUP["special"], *SETUP["words"]], special, limit=limit)


def write_t5(folder: Path, row: Mapping[str, Any], limit: int = 64) -> Path:
    """The T5 model of a row with a vocabulary of its own."""
    special = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    write_words(folder, row["vocab"], special, "$A </s>", "$A </s> $B </s>", limit)
    return write_model(folder, "AutoModelForSeq2SeqLM", "t5", row)
