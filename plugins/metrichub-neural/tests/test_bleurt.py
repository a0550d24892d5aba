"""BLEURT: the port's scores with the same weights, for models of both forms."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import toys
from metrichub_neural.engine import classifier
from metrichub_neural.engine.heads import bleurt_config, bleurt_of
from metrichub_neural.engine.models import forget
from metrichub_neural.engine.tokens import load_tokenizer
from metrichub_neural.local_models import find_model
from neural_vectors import SETUP, rows, torch, transformers, weights, write_words
from safetensors.torch import save_file
from test_convert import metrichub

from metrichub import Hub, ModelError, Report, load_metric
from metrichub.testing import MetricContract

ROWS = rows("bleurt ")
NAMES = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


# config.json of razasju/aissmeditext, commit d7f87f6, which was trained from
# lucadiliello/BLEURT-20-D12 and has its configuration.
D12 = {
    "_name_or_path": "lucadiliello/BLEURT-20-D12",
    "architectures": ["BleurtForSequenceClassification"],
    "attention_probs_dropout_prob": 0,
    "classifier_dropout": None,
    "embedding_dropout_prob": 0,
    "embedding_size": 128,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0,
    "hidden_size": 1024,
    "id2label": {"0": "LABEL_0"},
    "initializer_range": 0.02,
    "intermediate_size": 4096,
    "label2id": {"LABEL_0": 0},
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 512,
    "model_type": "bleurt",
    "num_attention_heads": 16,
    "num_hidden_layers": 12,
    "output_embedding_size": 2048,
    "pad_token_id": 0,
    "position_embedding_type": "absolute",
    "tie_word_embeddings": False,
    "torch_dtype": "float32",
    "transformers_version": "4.41.0.dev0",
    "type_vocab_size": 2,
    "use_cache": False,
    "vocab_size": 120300,
}


def write_port(folder: Path, row: Mapping[str, Any]) -> Path:
    """A model as the port saves it: its own names, pickled, with a configuration of its own."""
    special = dict(zip(NAMES, row["special"], strict=True))
    write_words(
        folder,
        [*row["special"], *SETUP["words"]],
        special,
        "[CLS] $A [SEP]",
        "[CLS] $A [SEP] $B:1 [SEP]:1",
    )
    (folder / "config.json").write_text(json.dumps(D12 | row["config"]))
    state = weights(row["state_keys"], row)
    positions = torch.arange(row["config"]["max_position_embeddings"]).expand((1, -1))
    torch.save(state | {"bleurt.embeddings.position_ids": positions}, folder / "pytorch_model.bin")
    return folder


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The converted model of each row."""
    folders = {}
    for number, row in enumerate(ROWS):
        folder = write_port(tmp_path_factory.mktemp("bleurt") / f"model{number}", row)
        metrichub("convert", str(folder))
        folders[row["metric"]] = folder
    return folders


def scored(folder: Path, row: Mapping[str, Any], order: list[int] | None = None) -> Report:
    columns = {"predictions": row["candidates"], "references": row["references"]}
    if order:
        columns = {name: [texts[at] for at in order] for name, texts in columns.items()}
    return Hub(load_metric("bleurt", model=str(folder))).evaluate(columns)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["metric"])
@pytest.mark.parametrize("budget", [1, 80, 4096])
def test_scores_are_those_of_the_port(
    models: dict[str, Path], row: dict[str, Any], budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classifier, "budget", lambda: budget)
    forget()
    order = random.Random(budget).sample(range(5), 5)
    report = scored(models[row["metric"]], row, order)
    expected = np.array(row["scores_one_by_one"])[order]
    # Sums in 32 bits differ by processor: the scores by 1.6e-6 between an Intel and an AMD one.
    np.testing.assert_allclose(report.samples()["bleurt"]["score"], expected, atol=3e-6)
    # The last pair has 28 tokens of one text and 42 of the other, and 64 fit, with three between.
    assert "1 of 5 predictions were cut at 64 tokens" in report.notes()["bleurt"][-1]


def test_its_sentencepiece_file_gives_the_port_s_tokens(
    models: dict[str, Path], tmp_path: Path
) -> None:
    pytest.importorskip("sentencepiece", reason="needs the extra sentencepiece")
    (row,) = rows("sentencepiece of bleurt")
    (tmp_path / "spm.model").write_bytes(base64.b64decode(row["model"]))
    # As lucadiliello/BLEURT-20 has it (commit 34ccd00).
    settings = {name: row_token for name, row_token in zip(NAMES, PIECES, strict=True)}
    settings |= {"tokenizer_class": "BleurtSPTokenizer", "do_lower_case": False}
    settings |= {"sp_model_kwargs": {}, "split_by_punct": False, "model_max_length": 10**30}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    config = json.loads((models["bleurt RemBERT"] / "config.json").read_text())
    config["vocab_size"] = len(base64.b64decode(row["model"]))  # More than it has pieces.
    (tmp_path / "config.json").write_text(json.dumps(config))
    tokenizer = load_tokenizer(find_model(str(tmp_path), needed_by="test", weights=False), config)
    encoded = tokenizer.encode_pairs([(text, row["second"]) for text in row["texts"]])
    assert [text.ids.tolist() for text in encoded] == row["input_ids"]
    assert encoded[0].types.tolist().index(1) == row["input_ids"][0].index(3) + 1


def test_a_published_configuration_has_the_parameters_that_its_authors_state() -> None:
    kind, config = bleurt_config(D12)
    with torch.device("meta"):
        model = getattr(transformers, f"{kind}ForSequenceClassification")(config)
    # checkpoints.md of google-research/bleurt at 48764ec: BLEURT-20-D12 has 167M.
    assert sum(weight.numel() for weight in model.parameters()) // 10**6 == 167


def test_the_reference_comes_first(models: dict[str, Path]) -> None:
    row = ROWS[0]
    swapped = {**row, "candidates": row["references"], "references": row["candidates"]}
    folder = models[row["metric"]]
    first, other = (scored(folder, each).samples()["bleurt"]["score"] for each in (row, swapped))
    assert np.abs(first - other).min() > 1e-3


def test_a_model_of_transformers_own_classes_has_the_same_score(
    models: dict[str, Path], tmp_path: Path
) -> None:
    row = ROWS[1]
    folder = models[row["metric"]]
    forget()
    expected = scored(folder, row).samples()["bleurt"]["score"]
    runner: Any = bleurt_of(find_model(str(folder), needed_by="test"), "float32").runner
    runner.model.config.save_pretrained(tmp_path)
    save_file(runner.model.state_dict(), tmp_path / "model.safetensors")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    score = scored(tmp_path, row).samples()["bleurt"]["score"]
    np.testing.assert_allclose(score, expected, atol=1e-6)


def test_a_classifier_of_several_labels_is_refused(tmp_path: Path) -> None:
    labels = {0: "a", 1: "b"}
    folder = toys.write_model(tmp_path, auto="AutoModelForSequenceClassification", id2label=labels)
    with pytest.raises(ModelError, match="has 2 outputs, and BLEURT one"):
        scored(folder, ROWS[0])


class TestBleurt(MetricContract):
    metric = "bleurt"
    parameters: ClassVar[Mapping[str, Any]] = {}

    @pytest.fixture(autouse=True)
    def _model(self, models: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(type(self), "parameters", {"model": str(models["bleurt RemBERT"])})
