"""Tiny models with random weights, written to a folder as those of the hub are."""

from __future__ import annotations

import json
import random
import shutil
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install 'metrichub-neural[torch]'")
transformers = pytest.importorskip("transformers", reason="needs transformers")
tokenizers = pytest.importorskip("tokenizers", reason="needs tokenizers")

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,!?'"
WORDS = [
    "the",
    "a",
    "cat",
    "dog",
    "sat",
    "on",
    "mat",
    "it",
    "is",
    "not",
    "rains",
    "to",
    "day",
    "of",
    "and",
    "was",
    "in",
    "by",
    "river",
    "house",
]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LIMIT = 48
_SIZE: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 37,
    "max_position_embeddings": LIMIT,
}
ARCHITECTURES: dict[str, dict[str, Any]] = {
    "bert": _SIZE,
    "electra": {**_SIZE, "embedding_size": 32},
    "convbert": {**_SIZE, "embedding_size": 32},
    "mobilebert": {**_SIZE, "intra_bottleneck_size": 32, "normalization_type": "layer_norm"},
    "fnet": _SIZE,
    "nystromformer": {**_SIZE, "segment_means_seq_len": 64, "num_landmarks": 64},
    "albert": {**_SIZE, "embedding_size": 16},
    "mpnet": {**_SIZE, "max_position_embeddings": LIMIT + 2},
    "deberta-v2": {**_SIZE, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    "roberta": {**_SIZE, "max_position_embeddings": LIMIT + 2},
    "xlm-roberta": {**_SIZE, "max_position_embeddings": LIMIT + 2},
    "distilbert": {
        "dim": 32,
        "n_layers": 3,
        "n_heads": 4,
        "hidden_dim": 37,
        "max_position_embeddings": LIMIT,
    },
    "t5": {"d_model": 32, "d_kv": 8, "d_ff": 37, "num_layers": 3, "num_heads": 4},
    "mt5": {"d_model": 32, "d_kv": 8, "d_ff": 37, "num_layers": 3, "num_heads": 4},
    "bart": {
        "d_model": 32,
        "encoder_layers": 3,
        "decoder_layers": 2,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "encoder_ffn_dim": 37,
        "decoder_ffn_dim": 37,
        "max_position_embeddings": LIMIT,
    },
}

CAUSAL: dict[str, dict[str, Any]] = {
    "gpt2": {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": LIMIT},
    "llama": {**_SIZE, "num_key_value_heads": 2},
}
XLNET = {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 37}


def write_tokenizer(folder: Path, limit: int = LIMIT) -> None:
    """A tokenizer of pieces of words that knows every letter."""
    pieces = [*SPECIAL, *WORDS, *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    backend = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]"))
    backend.normalizer = tokenizers.normalizers.BertNormalizer()
    backend.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    backend.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    backend.add_special_tokens(SPECIAL)
    backend.save(str(folder / "tokenizer.json"))
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    message = dict(zip(names, SPECIAL, strict=True)) | {"tokenizer_class": "BertTokenizerFast"}
    (folder / "tokenizer_config.json").write_text(json.dumps(message | {"model_max_length": limit}))


def write_bytes(folder: Path) -> Callable[[str], list[int]]:
    """A tokenizer of bytes, as RoBERTa's, written to a folder; returns what it makes of a text."""
    letters = sorted({*LETTERS, "\u0120"})
    vocabulary = {piece: number for number, piece in enumerate([*SPECIAL, *letters])}
    backend = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, [], unk_token="[UNK]"))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    backend.add_special_tokens(SPECIAL)
    backend.save(str(folder / "tokenizer.json"))
    return lambda text: list(backend.encode(text).ids)


def write_model(
    folder: Path, kind: str = "bert", auto: str = "AutoModel", limit: int = LIMIT, **more: Any
) -> Path:
    """A random model of a kind; its weights are large enough for texts to differ."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(7)
    special = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "vocab_size": 120}
    shape = {**ARCHITECTURES, **CAUSAL, "xlnet": XLNET}[kind]
    config = transformers.AutoConfig.for_model(kind, **{**special, **shape, **more})
    model = getattr(transformers, auto).from_config(config)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim > 1:
                weight.normal_(0, 0.4 if "embed" in name else 0.2)
    model.eval().save_pretrained(folder)
    write_tokenizer(folder, limit)
    return folder


def write_onnx(source: Path, folder: Path) -> Path:
    """A folder's classifier of pairs as an ONNX file, without its safetensors."""
    from torch.onnx._internal.torchscript_exporter import onnx_proto_utils

    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    auto = transformers.AutoModelForSequenceClassification
    model = auto.from_pretrained(source, attn_implementation="eager").eval()

    class Logits(torch.nn.Module):  # type: ignore[misc]  # torch may be absent
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, ids: Any, mask: Any, types: Any) -> Any:
            return self.model(input_ids=ids, attention_mask=mask, token_type_ids=types).logits

    inputs = ["input_ids", "attention_mask", "token_type_ids"]
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        # The exporter that isn't to go needs packages that nothing else does.
        warnings.simplefilter("ignore", DeprecationWarning)
        # The one step that needs the package onnx, for operators that no model here has.
        patch.setattr(onnx_proto_utils, "_add_onnxscript_fn", lambda model_bytes, _: model_bytes)
        torch.onnx.export(
            Logits(),
            (torch.ones(2, 7, dtype=torch.long),) * 3,
            str(folder / "model.onnx"),
            input_names=inputs,
            output_names=["logits"],
            dynamic_axes={name: {0: "batch", 1: "length"} for name in inputs},
            dynamo=False,
        )
    return folder


def write_gguf(gguf: Any, path: Path) -> Path:
    """A random Llama of one layer as a GGUF file, with a tokenizer beside it."""
    write_tokenizer(path.parent)
    writer, size, words = gguf.GGUFWriter(path, "llama"), 32, 120
    writer.add_block_count(1)
    writer.add_context_length(LIMIT)
    writer.add_embedding_length(size)
    writer.add_feed_forward_length(size)
    writer.add_head_count(4)
    writer.add_head_count_kv(4)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(words)
    squares = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
    shapes: dict[str, tuple[int, ...]] = {
        **dict.fromkeys(("token_embd", "output"), (words, size)),
        **{f"blk.0.{name}": (size, size) for name in squares},
        **dict.fromkeys(("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"), (size,)),
    }
    draw = np.random.default_rng(7)
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", draw.normal(size=shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def texts(number: int, seed: int = 3) -> list[str]:
    """Texts of very different lengths, some of them equal, some longer than the models take."""
    draw = random.Random(seed)
    drawn = [
        " ".join(draw.choices([*WORDS, "zebra", "x9"], k=draw.randint(1, 30)))
        for _ in range(number)
    ]
    return [drawn[draw.randrange(number)] if draw.random() < 0.2 else text for text in drawn]


def ids_of(folder: Path, text: str) -> list[int]:
    """The tokens of a text, cut at the limit, by the tokenizer's own file."""
    backend = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    backend.enable_truncation(LIMIT)
    return list(backend.encode(text.strip()).ids)


@cache
def _wide(folder: Path) -> Any:
    return transformers.AutoModel.from_pretrained(folder, dtype=torch.float64).eval()


def hidden(folder: Path, text: str, layer: int) -> Any:
    """One text's vectors (n, d) at a layer: alone, unpadded, in 64 bits."""
    return hidden_of(folder, ids_of(folder, text), layer)


def hidden_of(folder: Path, tokens: list[int], layer: int = -1) -> Any:
    """The same of the tokens, which are given; of the last layer, unless one is named."""
    model = _wide(folder)
    kind = model.config.model_type
    if kind in ("t5", "mt5", "bart"):
        model = model.encoder
    ids = torch.tensor([tokens])
    with torch.no_grad():
        hidden_states = model(input_ids=ids, output_hidden_states=True).hidden_states
        # Of T5's hidden states, all but the last stand before the norm that ends the encoder.
        vectors = hidden_states[layer]
        if kind in ("t5", "mt5") and layer < len(hidden_states) - 1:
            vectors = model.final_layer_norm(vectors)
    return vectors[0].numpy()


def unit(vectors: Any) -> Any:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def write_seq2seq(folder: Path, kind: str = "t5", limit: int = LIMIT, **more: Any) -> Path:
    """A random sequence-to-sequence model whose tokenizer ends a text, and knows `</s>` in it."""
    write_model(
        folder,
        kind,
        "AutoModelForSeq2SeqLM",
        limit,
        **{"decoder_start_token_id": 0, "tie_word_embeddings": False, **more},
    )
    path = folder / "tokenizer.json"
    path.write_text(path.read_text().replace("[SEP]", "</s>"))
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text()) | {"sep_token": "</s>", "eos_token": "</s>"}
    path.write_text(json.dumps(settings))
    return folder
