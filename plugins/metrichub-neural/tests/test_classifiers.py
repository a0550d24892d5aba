"""Classifiers: the probabilities of transformers' own pipeline, whatever the batch."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import toys
from metrichub_neural.engine import classifier
from metrichub_neural.engine.models import forget
from metrichub_neural.local_models import find_model
from toys import texts

from metrichub import Hub, MissingDependency, MissingModel, ModelError, Report, load_metric
from metrichub.testing import MetricContract

TEXTS = [*texts(24, 8), "", "  a cat \n", "cat " * 60, "a [SEP] cat"]
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "softmax": ("bert", {"id2label": {0: "Fine", 1: "HATE", 2: "x"}}),
    "several at once": (
        "distilbert",
        {"id2label": {0: "hate", 1: "threat"}, "problem_type": "multi_label_classification"},
    ),
    "one alone": ("electra", {"id2label": {0: "hate"}}),
    "by the last end token": ("bart", {"id2label": {0: "hate", 1: "fine"}}),
}
AUTO = "AutoModelForSequenceClassification"


def write(folder: Path, kind: str, id2label: Mapping[int, str], **more: Any) -> Path:
    label2id = {name: place for place, name in id2label.items()}
    return toys.write_model(folder, kind, AUTO, id2label=id2label, label2id=label2id, **more)


@pytest.fixture(scope="module", params=KINDS)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random classifier, each with another head, with a label that means hate."""
    kind, more = KINDS[request.param]
    return write(tmp_path_factory.mktemp("classifiers") / kind, kind, **more)


@pytest.fixture(scope="module")
def regarding(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random classifier with the labels of regard, in an order of its own."""
    labels = dict(enumerate(["neutral", "other", "positive", "negative"]))
    return write(tmp_path_factory.mktemp("classifiers") / "regard", "bert", labels)


@pytest.fixture(autouse=True)
def _fresh() -> None:
    """Nothing that another test made is at hand."""
    forget()


@cache
def by_pipeline(folder: Path) -> list[list[dict[str, Any]]]:
    """Each text's labels with their probabilities, by transformers, one text at a time."""
    tokenizer = toys.transformers.AutoTokenizer.from_pretrained(folder)
    ask = toys.transformers.pipeline("text-classification", str(folder), tokenizer=tokenizer)
    return list(ask(TEXTS, truncation=True, top_k=None))


def truth(folder: Path, label: str) -> list[float]:
    """The label's probability for each text."""
    return [
        next(entry["score"] for entry in rows if entry["label"] == label)
        for rows in by_pipeline(folder)
    ]


def scored(name: str, folder: Path, predictions: list[str], **more: Any) -> Report:
    return Hub(load_metric(name, model=str(folder), **more)).evaluate(predictions=predictions)


@pytest.mark.parametrize("budget", [1, 60, 4096])
def test_a_label_has_the_probability_that_the_pipeline_gives(
    model: Path, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classifier, "budget", lambda: budget)
    label = "HATE" if model.name == "bert" else "hate"
    report = scored("toxicity_classifier", model, TEXTS)
    expected = truth(model, label)
    scores = report.samples()["toxicity_classifier"]
    np.testing.assert_allclose(scores["score"], expected, atol=1e-6)
    assert np.ptp(expected) > 0.05
    # The ratio of evaluate 0.4.6 is sum(i >= threshold for i in scores) / len(scores).
    share = sum(value >= 0.5 for value in expected) / len(expected)
    total = report.scores()["toxicity_classifier"]
    assert total == pytest.approx({"score": np.mean(expected), "share": share}, abs=1e-6)


@pytest.mark.parametrize(
    ("kind", "padding"), [("gpt2", 7), ("gpt2", None), ("llama", None), ("xlnet", 0)]
)
def test_a_decoder_reads_the_last_token_of_each_text(
    kind: str, padding: int | None, tmp_path: Path
) -> None:
    auto = "AutoModelForSequenceClassification"
    toys.write_model(tmp_path, kind, auto, pad_token_id=padding)
    path = tmp_path / "tokenizer_config.json"
    settings = json.loads(path.read_text())
    del settings["pad_token"]
    path.write_text(json.dumps(settings))
    model = classifier.classifier_of(find_model(str(tmp_path), needed_by="test"), "float32")
    alone = getattr(toys.transformers, auto).from_pretrained(tmp_path).eval()
    texts = ["the cat", "the cat sat on the mat", "dog, is it a dog?"]
    for text, classified in zip(texts, model.of_texts(texts), strict=True):
        ids = toys.torch.tensor([model.tokenizer.encode_as_given([text])[0].ids])
        with toys.torch.no_grad():
            truth = alone(ids).logits.softmax(-1)[0].numpy()
        assert classified.probabilities == pytest.approx(truth, abs=1e-5)


def test_the_threshold_belongs_to_the_share(model: Path) -> None:
    label = "HATE" if model.name == "bert" else "hate"
    rows = sorted(truth(model, label))
    # Halfway between two probabilities, the larger of which are counted.
    middle = next(place for place in range(9, len(rows)) if rows[place] - rows[place - 1] > 1e-4)
    threshold = (rows[middle - 1] + rows[middle]) / 2
    report = scored("toxicity_classifier", model, TEXTS, threshold=threshold)
    share = (len(rows) - middle) / len(rows)
    assert report.scores()["toxicity_classifier"]["share"] == pytest.approx(share)
    every = scored("toxicity_classifier", model, TEXTS, threshold=0.0)
    assert every.scores()["toxicity_classifier"]["share"] == 1


def test_labels_are_read_by_name_in_any_case(tmp_path: Path) -> None:
    folder = write(tmp_path / "one", "bert", {0: "Calm", 1: "HATE"})
    shutil.copytree(folder, tmp_path / "other")
    path = tmp_path / "other/config.json"
    path.write_text(
        json.dumps(json.loads(path.read_text()) | {"id2label": {"0": "hate", "1": "calm"}})
    )
    here, score = (
        scored("text_classifier", place, TEXTS, target="hate").samples()["text_classifier"]["score"]
        for place in (folder, tmp_path / "other")
    )
    np.testing.assert_allclose(here, truth(folder, "HATE"), atol=1e-6)
    np.testing.assert_allclose(score, truth(folder, "Calm"), atol=1e-6)


def test_systems_are_ranked_by_a_label_only_with_a_direction(regarding: Path) -> None:
    for preset, expected in (("fluency", "higher"), ("toxicity", "lower"), ("regard", "neither")):
        spec = f"text_classifier({preset}, model='{regarding}', target='positive')"
        better = {load_metric(spec).card.better(output) for output in ("score", "share")}
        assert better == {expected}
    # With candidates, "best" is the one with the wanted label.
    low, high = sorted(TEXTS[:2], key=truth_of(regarding, "positive"))
    for better, text in (("higher", high), ("lower", low)):
        metric = load_metric(
            "text_classifier", model=str(regarding), target="positive", better=better
        )
        score = Hub(metric)(predictions=[TEXTS[:2]], reduce="best")["text_classifier"]["score"]
        assert score == pytest.approx(truth_of(regarding, "positive")(text), abs=1e-6)


def truth_of(folder: Path, label: str) -> Callable[[str], float]:
    scores = dict(zip(TEXTS, truth(folder, label), strict=True))
    return lambda text: scores[text]


def test_a_model_that_names_no_labels_has_two(tmp_path: Path) -> None:
    # As that of the preset `fluency` does.
    folder = toys.write_model(tmp_path / "toy", "bert", AUTO)
    path = folder / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps({k: v for k, v in config.items() if "label" not in k}))
    score = scored("text_classifier", folder, TEXTS[:9]).samples()["text_classifier"]["score"]
    np.testing.assert_allclose(score, truth(folder, "LABEL_1")[:9], atol=1e-6)


def test_regard_is_the_mean_of_each_label_and_groups_differ_by_it(regarding: Path) -> None:
    groups = ["women", "men"] * (len(TEXTS) // 2)
    metric = load_metric("regard", model=str(regarding))
    report = Hub(metric).evaluate({"predictions": TEXTS, "group": groups})
    labels = ("positive", "negative", "neutral", "other")
    rows = {label: np.array(truth(regarding, label)) for label in labels}
    expected = {label: row.mean() for label, row in rows.items()}
    expected["score"] = expected["positive"] - expected["negative"]
    assert report.scores()["regard"] == pytest.approx(expected, abs=1e-6)
    # regard_difference of evaluate 0.4.6: the mean of one group less that of the other.
    parts = {name: part.scores()["regard"] for name, part in report.by("group").items()}
    for label, row in rows.items():
        difference = parts["women"][label] - parts["men"][label]
        assert difference == pytest.approx(row[0::2].mean() - row[1::2].mean(), abs=1e-6)


def test_texts_that_are_cut_are_counted(model: Path) -> None:
    # 48 tokens, two of which frame the text.
    report = scored("toxicity_classifier", model, ["cat " * 46, "cat " * 47, "cat " * 99, "a"])
    message = "2 of 4 predictions were cut at 48 tokens"
    assert message in report.notes()["toxicity_classifier"]


def test_several_labels_of_a_model_are_one_run(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    forward = classifier.TorchClassifier.forward

    def counted(self: Any, ids: np.ndarray, *arguments: Any) -> np.ndarray:
        seen.append(len(ids))
        return forward(self, ids, *arguments)

    monkeypatch.setattr(classifier.TorchClassifier, "forward", counted)
    both = [
        load_metric("toxicity_classifier", model=str(model)),
        f"again = text_classifier(model='{model}', target='hate')",
    ]
    report = Hub(both).evaluate(predictions=["a cat", "a dog", "a cat"])
    assert sum(seen) == 2
    assert report.scores()["again"] == report.scores()["toxicity_classifier"]


@pytest.mark.parametrize(
    ("config", "message"),
    [("BertModel", "toy isn't a classifier: it has BertModel"), ("", "it has no config.json$")],
)
def test_labels_of_what_is_no_classifier_are_not_invented(
    config: str, message: str, tmp_path: Path
) -> None:
    folder = toys.write_model(tmp_path / "toy")
    if not config:
        (folder / "config.json").unlink()
    for metric in ("toxicity_classifier", "text_classifier", "regard"):
        with pytest.raises(ModelError, match=message):
            scored(metric, folder, ["a"])


def test_what_is_no_such_classifier_is_one_line(tmp_path: Path, regarding: Path) -> None:
    with pytest.raises(ModelError, match=r"regard has no label 'hate' \(it has: neutral, other,"):
        scored("toxicity_classifier", regarding, ["a"])
    folder = write(tmp_path / "toy", "bert", {0: "positive", 1: "negative"})
    with pytest.raises(ModelError, match="toy has no label 'neutral'"):
        scored("regard", folder, ["a"])
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"problem_type": "regression"}))
    with pytest.raises(ModelError, match="toy is a regression, which has no probabilities"):
        scored("text_classifier", folder, ["a"], target="positive")
    with pytest.raises(
        MissingModel, match=r"text_classifier\(model='distilbert/.*POSITIVE'\) \(Apache"
    ):
        Hub("text_classifier")(predictions=["a"])


# Tokenizers of the time before tokenizer.json, as that of the default model of toxicity.


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A RoBERTa with vocab.json and merges.txt."""
    trained = toys.tokenizers.ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained.train_from_iterator(TEXTS, vocab_size=300, special_tokens=special, show_progress=False)
    folder = tmp_path_factory.mktemp("classifiers") / "older"
    labels = {0: "nothate", 1: "hate"}
    write(folder, "roberta", labels, vocab_size=300, pad_token_id=1, bos_token_id=0, eos_token_id=2)
    (folder / "tokenizer.json").unlink()
    fields = {"tokenizer_class": "RobertaTokenizer", "model_max_length": toys.LIMIT}
    (folder / "tokenizer_config.json").write_text(json.dumps(fields))
    trained.save_model(str(folder))
    return folder


def test_files_of_an_older_tokenizer_give_the_same_tokens(older: Path) -> None:
    score = scored("toxicity_classifier", older, TEXTS).samples()["toxicity_classifier"]["score"]
    expected = truth(older, "hate")
    np.testing.assert_allclose(score, expected, atol=1e-6)
    assert np.ptp(expected) > 0.05


def test_an_older_tokenizer_needs_transformers(
    older: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from metrichub_neural.engine.tokens import load_tokenizer
    from metrichub_neural.local_models import find_model

    monkeypatch.setitem(sys.modules, "transformers", None)
    message = r"older, which has no tokenizer\.json needs transformers.*metrichub-neural\[torch\]"
    with pytest.raises(MissingDependency, match=message):
        load_tokenizer(find_model(str(older), needed_by="test"), {})


def test_half_a_file_of_an_older_tokenizer_is_one_line(older: Path, tmp_path: Path) -> None:
    folder = tmp_path / "half"
    shutil.copytree(older, folder)
    (folder / "vocab.json").write_text('{"<s>": 0,')
    with pytest.raises(ModelError, match=r"the tokenizer in .*half can't be read") as caught:
        scored("toxicity_classifier", folder, ["a"])
    assert "\n" not in str(caught.value)


class _Contract(MetricContract):
    parameters: ClassVar[Mapping[str, Any]] = {}

    @pytest.fixture(autouse=True)
    def _model(self, regarding: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        label = {} if self.metric == "regard" else {"target": "negative"}
        monkeypatch.setattr(type(self), "parameters", {"model": str(regarding), **label})


class TestTextClassifier(_Contract):
    metric = "text_classifier"


class TestToxicityClassifier(_Contract):
    metric = "toxicity_classifier"


class TestRegard(_Contract):
    metric = "regard"
