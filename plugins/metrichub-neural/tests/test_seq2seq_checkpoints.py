"""Checkpoints of sequence-to-sequence metrics, laid out and named as those of the hub."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import neural_vectors as vectors
import numpy as np
import pytest
import toys
from hub_on_loopback import COMMIT, serving
from metrichub_neural.engine import tokens
from metrichub_neural.engine.seq2seq import seq2seq_of
from metrichub_neural.local_models import find_model
from test_convert import metrichub

from metrichub import Hub, MissingDependency, load_metric

# pytorch_model.bin.index.json of philschmid/flan-ul2-20b-fp16 (commit main), whose architecture is
# that of UniEval, MiniCheck-Flan-T5 and, as mT5, MetricX: T5 1.1. The names of one layer.
ATTENTION = ("k", "o", "q", "v")
DECODER_LAYER = {
    *(f"layer.0.SelfAttention.{name}.weight" for name in ATTENTION),
    "layer.0.layer_norm.weight",
    *(f"layer.1.EncDecAttention.{name}.weight" for name in ATTENTION),
    "layer.1.layer_norm.weight",
    *(f"layer.2.DenseReluDense.{name}.weight" for name in ("wi_0", "wi_1", "wo")),
    "layer.2.layer_norm.weight",
}
# The names beside the layers: those of the index of Baicai003/tiny-t5, and lm_head.weight, which
# T5 1.1 has because its config.json says tie_word_embeddings: false.
BESIDE = {
    "shared.weight",
    "encoder.embed_tokens.weight",
    "decoder.embed_tokens.weight",
    "encoder.final_layer_norm.weight",
    "decoder.final_layer_norm.weight",
    "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
    "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
    "lm_head.weight",
}
# The modules of facebook/bart-large-cnn, printed in the README of itsadrita/Bart-text-summarizer.
PROJECTIONS = ("k_proj", "v_proj", "q_proj", "out_proj")
BART_DECODER_LAYER = {
    f"{module}.{part}"
    for module in (
        *(f"{of}.{name}" for of in ("self_attn", "encoder_attn") for name in PROJECTIONS),
        *("self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm", "fc1", "fc2"),
    )
    for part in ("weight", "bias")
}
BART_BESIDE = {
    "final_logits_bias",
    "lm_head.weight",
    "model.shared.weight",
    *(f"model.{half}.embed_tokens.weight" for half in ("encoder", "decoder")),
    *(f"model.{half}.embed_positions.weight" for half in ("encoder", "decoder")),
    *(
        f"model.{half}.layernorm_embedding.{part}"
        for half in ("encoder", "decoder")
        for part in ("weight", "bias")
    ),
}


def published(folder: Path, kind: str, row: Any, **message: object) -> Path:
    """A row's model as a pickle with every name of a hub's checkpoint, and its config.json."""
    auto = toys.transformers.AutoModelForSeq2SeqLM
    model = auto.from_pretrained(vectors.write_model(folder, auto.__name__, kind, row))
    (folder / "model.safetensors").unlink()
    # Copies, as the pickles have no tensors that share memory.
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    toys.torch.save(state, folder / "pytorch_model.bin")
    config = {"model_type": kind, "is_encoder_decoder": True, **row["config"], **message}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def names(folder: Path, start: str = "") -> set[str]:
    state = toys.torch.load(folder / "pytorch_model.bin", weights_only=True)
    return {name.removeprefix(start) for name in state if name.startswith(start)}


def converted(folder: Path) -> Path:
    done = metrichub("convert", folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_a_checkpoint_named_as_t5_s_has_the_official_scores(tmp_path: Path) -> None:
    row = vectors.rows("unieval")[0]
    folder = vectors.write_t5(tmp_path / "model", row)
    published(folder, "t5", row, architectures=["T5ForConditionalGeneration"])
    both = {name for name in names(folder) if ".block." not in name}
    both |= {name for name in names(folder) if "relative_attention_bias" in name}
    assert both == BESIDE
    assert names(folder, "decoder.block.1.") == DECODER_LAYER
    hub = Hub(load_metric("unieval", model=str(converted(folder)), dimension="fluency"))
    report = hub.evaluate(predictions=["the old man saw the cat", "it is cold today"])
    fluency = next(row for row in vectors.rows("unieval") if row["metric"].endswith("n fluency"))
    np.testing.assert_allclose(
        report.samples()["unieval"]["score"], fluency["scores_one_by_one"], atol=2e-6
    )
    assert "origin='sha256:" in report.signatures()["unieval"]


def test_a_checkpoint_named_as_metricx_s_has_the_official_scores(tmp_path: Path) -> None:
    row = vectors.rows("metricx")[1]
    folder = vectors.write_setup_words(tmp_path / "model")
    converted(published(folder, "mt5", row, architectures=["MT5ForRegression"]))
    runner = seq2seq_of(find_model(str(folder), needed_by="test"), "float32").runner
    for ids, expected in zip(row["input_ids_without_eos"], row["before_clip"], strict=True):
        array = np.array([ids])
        result = runner.first(array, np.ones_like(array), [row["logit"]])
        assert float(result[0, 0]) == pytest.approx(expected, rel=2e-5)


def test_weights_alone_beside_a_configuration_are_bartscore_s(tmp_path: Path) -> None:
    # As bart.pth of the authors, beside config.json and tokenizer of bart-large-cnn.
    (row,) = vectors.rows("bartscore")
    folder = published(vectors.write_setup_words(tmp_path / "model"), "bart", row)
    assert {name for name in names(folder) if ".layers." not in name} == BART_BESIDE
    assert names(folder, "model.decoder.layers.1.") == BART_DECODER_LAYER
    (folder / "pytorch_model.bin").rename(folder / "bart.pth")
    hub = Hub(load_metric("bartscore", model=str(converted(folder)), direction="precision"))
    report = hub.evaluate(predictions=row["targets"], references=row["sources"])
    score = report.samples()["bartscore"]["score"]
    np.testing.assert_allclose(score, row["scores_batch1"], atol=1e-6)


def test_fetching_metricx_by_its_name_brings_its_tokenizer_and_converts_it(tmp_path: Path) -> None:
    row = vectors.rows("metricx")[1]
    model = tmp_path / "model"
    words = vectors.write_setup_words(tmp_path / "words")
    published(model, "mt5", row, architectures=["MT5ForRegression"])
    shutil.copy(model / "config.json", words)
    shutil.copy(model / "pytorch_model.bin", words)
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"prediction": "a cat", "source": "a dog", "reference": "the cat"}\n')
    folders = {"google/metricx-24-hybrid-large-v2p6": model, "google/mt5-xl": words}
    with serving(folders) as hub:
        at = {"HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path / "hf")}
        at |= {"HF_HUB_DISABLE_XET": "1", "NO_PROXY": "127.0.0.1"}
        fetched = metrichub("fetch", "metricx", "--yes", **at)
        assert fetched.returncode == 0, fetched.stderr
        assert f"google/metricx-24-hybrid-large-v2p6 at {COMMIT}" in fetched.stdout
        # Of the model that lends its tokenizer, the weights stay where they are.
        asked = [line for line in hub.asked if line.endswith("pytorch_model.bin")]
        assert asked
        assert not any("mt5-xl" in line for line in asked)
        hub.asked.clear()
        done = metrichub("score", rows, "-m", "metricx", "--format", "json", **at)
        assert done.returncode == 0, done.stderr
        assert hub.asked == []
    assert 0 <= json.loads(done.stdout)["scores"]["metricx"]["score"] <= 25


def test_a_sentencepiece_file_needs_the_library_that_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spiece.model").write_bytes(b"")
    monkeypatch.setattr(tokens, "find_spec", lambda name: None)
    files = find_model(str(tmp_path), needed_by="test", weights=False)
    with pytest.raises(MissingDependency, match="pip install sentencepiece"):
        tokens.load_tokenizer(files, {"model_type": "mt5"})


def test_published_examples_have_what_their_metric_reads(tmp_path: Path) -> None:
    bart, t5 = (toys.write_seq2seq(tmp_path / kind, kind) for kind in ("bart", "t5"))
    large = toys.write_seq2seq(tmp_path / "large", vocab_size=256)
    for name, folder in (("bartscore", bart), ("unieval", t5), ("minicheck", large)):
        for example in type(load_metric(name)).published:
            metric = load_metric(name, **{**example.parameters, "model": str(folder)})
            samples = Hub(metric).evaluate(example.columns).samples()[name]
            for output, scores in example.scores.items():
                assert np.isfinite(samples[output]).sum() == len(scores)
