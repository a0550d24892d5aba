"""MetricX: what it reads, without the end; its tokenizer elsewhere; and what can't be asked."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import toys
from metrichub_neural.engine.seq2seq import TorchSeq2Seq
from toys import texts

from metrichub import Hub, MissingModel, ParameterError, load_metric
from metrichub.testing import MetricContract

TOKEN = 250_089
FACTOR = 500
PREDICTIONS, REFERENCES, SOURCES = (texts(20, seed) for seed in (3, 4, 5))


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random mT5 without a tokenizer."""
    folder = tmp_path_factory.mktemp("models") / "mt5"
    small = {"d_model": 8, "d_kv": 4, "d_ff": 16, "num_layers": 2, "num_heads": 2}
    toys.write_seq2seq(folder, "mt5", vocab_size=250_112, **small)
    words = folder.parent / "words"
    words.mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.move(folder / name, words / name)
    shutil.copy(folder / "config.json", words)
    return folder


def metric(toy: Path, **more: Any) -> Any:
    settings = {"model": str(toy), "tokenizer": str(toy.parent / "words"), **more}
    return load_metric("metricx", **settings)


def truth(toy: Path, text: str, limit: int = 1536) -> float:
    """The score of one text in 64 bits, before it is clipped."""
    backend = toys.tokenizers.Tokenizer.from_file(str(toy.parent / "words/tokenizer.json"))
    backend.enable_truncation(limit)
    ids = backend.encode(text).ids[:-1]
    auto = toys.transformers.AutoModelForSeq2SeqLM
    model = auto.from_pretrained(toy, dtype=toys.torch.float64).eval()
    with toys.torch.no_grad():
        start = toys.torch.tensor([[0]])
        outputs = model(input_ids=toys.torch.tensor([ids]), decoder_input_ids=start)
    return float(outputs.logits[0, 0, TOKEN])


@pytest.mark.parametrize(
    ("version", "against", "form"),
    [
        ("24", "both", "source: {s} candidate: {p} reference: {r}"),
        ("24", "reference", "source:  candidate: {p} reference: {r}"),
        ("24", "source", "source: {s} candidate: {p}"),
        ("23", "reference", "candidate: {p} reference: {r}"),
        ("23", "source", "candidate: {p} source: {s}"),
    ],
)
def test_a_score_is_that_of_the_official_text(
    toy: Path, version: str, against: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = Hub(metric(toy, version=version, against=against))
    texts_of = {"predictions": PREDICTIONS, "sources": SOURCES, "references": REFERENCES}
    columns = {name: texts_of[name] for name in hub.needs()}
    read = zip(PREDICTIONS, SOURCES, REFERENCES, strict=True)
    raw = [truth(toy, form.format(p=p, s=s, r=r)) for p, s, r in read]
    # Random scores are too near to each other for any to be clipped.
    first, middle = TorchSeq2Seq.first, float(np.median(raw))
    monkeypatch.setattr(
        TorchSeq2Seq, "first", lambda *arguments: 12 + FACTOR * (first(*arguments) - middle)
    )
    spread = 12 + FACTOR * (np.array(raw) - middle)
    assert spread.min() < 0
    assert spread.max() > 25
    score = hub.evaluate(**columns).samples()["metricx"]["score"]
    np.testing.assert_allclose(score, np.clip(spread, 0, 25), atol=FACTOR * 1e-5)


def test_what_lacks_what_it_is_held_against_is_unscored(toy: Path) -> None:
    columns = {
        "predictions": ["a cat"] * 3,
        "sources": ["", "a", "a"],
        "references": ["a", "", "a"],
    }
    result = Hub(metric(toy)).evaluate(**columns).results["metricx"]
    assert dict(result.reasons) == {"the reference is empty": 1}
    result = Hub(metric(toy, against="source")).evaluate(
        predictions=["a cat"] * 2, sources=["", "a"]
    )
    assert dict(result.results["metricx"].reasons) == {"the source is empty": 1}


def test_the_signature_names_the_tokenizer_where_it_is_another_s(toy: Path, tmp_path: Path) -> None:
    columns = {"predictions": ["a cat"], "sources": ["a dog"], "references": ["a cat"]}
    report = Hub(metric(toy)).evaluate(**columns)
    assert "tokenizer='words@sha256:" in report.signatures()["metricx"]
    path = tmp_path / "mt5"
    shutil.copytree(toy, path)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(toy.parent / "words" / name, path)
    evaluated = Hub(load_metric("metricx", model=str(path))).evaluate(**columns)
    assert "tokenizer='google/mt5-xl'" in evaluated.signatures()["metricx"]
    assert evaluated["metricx"]["score"] == pytest.approx(report["metricx"]["score"], abs=1e-6)
    with pytest.raises(MissingModel, match=r"metrichub fetch --no-weights google/mt5-xl$"):
        Hub(load_metric("metricx", model=str(toy))).evaluate(**columns)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"version": "23"}, "against='both' is not allowed; choose 'reference' or 'source' with"),
        ({"model": "google/metricx-23-xl-v2p0"}, "version='24' is not allowed; choose '23' for"),
        (
            {"model": "google/metricx-24-hybrid-xl-v2p6", "version": "23", "against": "source"},
            "version='23' is not allowed; choose '24' for",
        ),
        (
            {"model": "google/metricx-23-qe-xl-v2p0", "version": "23", "against": "reference"},
            "against='reference' is not allowed; choose 'source' for",
        ),
        (
            {"model": "google/metricx-23-xl-v2p0", "version": "23", "against": "source"},
            "against='source' is not allowed; choose 'reference' for",
        ),
    ],
)
def test_a_model_is_not_given_what_it_does_not_read(settings: dict[str, str], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        load_metric("metricx", **settings)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({}, "google/metricx-24-hybrid-large-v2p6"),
        ({"against": "source"}, "google/metricx-24-hybrid-large-v2p6"),
        ({"version": "23", "against": "source"}, "google/metricx-23-qe-large-v2p0"),
        ({"version": "23", "against": "reference"}, "google/metricx-23-large-v2p0"),
    ],
)
def test_every_version_has_its_default(settings: dict[str, str], name: str) -> None:
    with pytest.raises(MissingModel, match=name):
        load_metric("metricx", **settings).resolved()


def test_predictions_that_were_cut_are_counted(toy: Path) -> None:
    columns = {
        "predictions": ["a cat"] * 2,
        "references": ["a cat", "it rains by the river " * 300],
    }
    report = Hub(metric(toy, version="23", against="reference")).evaluate(**columns)
    (note,) = [note for note in report.notes()["metricx"] if "cut" in note]
    assert "1 of 2 predictions were cut at 1024 tokens" in note


class TestMetricX(MetricContract):
    metric = "metricx"
    parameters: ClassVar[Mapping[str, Any]] = {}

    @pytest.fixture(autouse=True)
    def _model(self, toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        settings = {"model": str(toy), "tokenizer": str(toy.parent / "words")}
        monkeypatch.setattr(type(self), "parameters", settings)
