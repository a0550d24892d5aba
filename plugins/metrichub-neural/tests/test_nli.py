"""Entailment: pairs one at a time in 64 bits are the truth; labels by name; windows that fit."""

from __future__ import annotations

import asyncio
import itertools
import json
import pickle
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import toys
from metrichub_neural.engine import classifier
from metrichub_neural.engine.entailment import Entailment, Question, entailment_of
from metrichub_neural.engine.flaws import CUT
from metrichub_neural.engine.models import forget
from metrichub_neural.local_models import find_model
from metrichub_neural.nli import NliJudge
from toys import texts

from metrichub import Hub, JudgeUnavailable, ModelError, ParameterError, load_metric
from metrichub.authoring import Prompt, Verdict
from metrichub.testing import MetricContract

LABELS = {0: "NEUTRAL", 1: "CONTRADICTION", 2: "Entailment"}
PAIRS = list(zip(texts(30, 5), [text[:40] for text in texts(30, 6)], strict=True))
STORY = (
    "The cat sat on the mat. The dog was in the house. It rains by the river. A day is not a mat."
)


@pytest.fixture(scope="module")
def nli(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random classifier of pairs."""
    folder = tmp_path_factory.mktemp("models") / "nli"
    toys.write_model(
        folder,
        auto="AutoModelForSequenceClassification",
        id2label=LABELS,
        label2id={name: place for place, name in LABELS.items()},
    )
    return folder


@cache
def wide(folder: Path) -> Any:
    auto = toys.transformers.AutoModelForSequenceClassification
    return auto.from_pretrained(folder, dtype=toys.torch.float64).eval()


def alone(folder: Path, first: str, other: str) -> np.ndarray:
    """The probabilities of one pair: unpadded, in 64 bits."""
    backend = toys.tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    backend.enable_truncation(toys.LIMIT)
    result = backend.encode(first, other)
    tensor = toys.torch.tensor
    with toys.torch.no_grad():
        logits = wide(folder)(tensor([result.ids]), token_type_ids=tensor([result.type_ids])).logits
    return np.asarray(logits.softmax(-1)[0].numpy())


def entailment(folder: Path) -> Entailment:
    return entailment_of(find_model(str(folder), needed_by="test"), "float32")


@pytest.mark.parametrize("budget", [60, 4096])
def test_a_pair_has_the_probabilities_that_it_has_alone(
    nli: Path, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classifier, "budget", lambda: budget)
    # What another test asked isn't at hand.
    forget()
    model = classifier.classifier_of(find_model(str(nli), needed_by="test"), "float32")
    probabilities = [classified.probabilities for classified in model.of_pairs(PAIRS * 2)]
    truth = [alone(nli, *pair) for pair in PAIRS]
    np.testing.assert_allclose(probabilities, truth * 2, atol=1e-6)
    assert np.ptp(np.array(truth), axis=0).min() > 0.01


@pytest.mark.parametrize("kind", ["bert", "distilbert"])
@pytest.mark.parametrize(
    "listed",
    [
        {},
        {"model_input_names": ["input_ids", "attention_mask"]},
        {"model_input_names": ["input_ids", "token_type_ids"]},
        {"tokenizer_class": "TokenizersBackend"},
    ],
)
def test_a_model_gets_the_inputs_that_its_tokenizers_settings_list(
    kind: str, listed: dict[str, Any], tmp_path: Path
) -> None:
    auto = toys.transformers.AutoModelForSequenceClassification
    toys.write_model(tmp_path, kind, auto.__name__)
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | listed))
    tokenizer = toys.transformers.AutoTokenizer.from_pretrained(tmp_path)
    ask = toys.transformers.pipeline("text-classification", str(tmp_path), tokenizer=tokenizer)
    truth = ask([{"text": first, "text_pair": other} for first, other in PAIRS[:4]], top_k=None)
    model = classifier.classifier_of(find_model(str(tmp_path), needed_by="test"), "float32")
    for rows, classified in zip(truth, model.of_pairs(PAIRS[:4]), strict=True):
        for row in rows:
            place = int(row["label"].removeprefix("LABEL_"))
            assert classified.probabilities[place] == pytest.approx(row["score"], abs=1e-5)


@pytest.mark.parametrize("limit", [None, 20])
def test_the_first_text_alone_is_cut_if_the_second_leaves_it_room(
    nli: Path, limit: int | None
) -> None:
    most = limit or toys.LIMIT
    tokenizer = classifier.classifier_of(
        find_model(str(nli), needed_by="test"), "float32"
    ).tokenizer
    story, short = "the cat sat on the mat " * 20, "a dog"
    # 3 tokens frame a pair: the second leaves the first one token, none, and none at all.
    full, brim = " ".join(["cat"] * (most - 4)), " ".join(["cat"] * (most - 3))
    pairs = [(story, short), (story, full), (story, brim), (story, story), (short, story)]
    encoded = tokenizer.encode_pairs(pairs, limit, only_first=True)
    lengths = [(int((text.types == 0).sum()), int((text.types == 1).sum())) for text in encoded]
    # [CLS] and [SEP] count for the first text, [SEP] for the second. Where the first can't make
    # room, the longer is cut, as by transformers' own strategy "longest_first".
    longest = tokenizer.encode_pairs(pairs, limit)
    assert lengths[:2] == [(most - 3, 3), (3, most - 3)]
    for first, other in zip(encoded[2:], longest[2:], strict=True):
        assert first.ids.tolist() == other.ids.tolist()
    assert all(text.flaws == CUT and len(text.ids) == most for text in encoded)
    assert longest[1].ids.tolist() != encoded[1].ids.tolist()


def test_equal_pairs_are_run_once_for_all_metrics(
    nli: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget()
    model = classifier.classifier_of(find_model(str(nli), needed_by="test"), "float32")
    runs: list[int] = []
    run = classifier.Classifier._run

    def counted(self: Any, encoded: Any) -> Any:
        runs.append(len(encoded))
        return run(self, encoded)

    monkeypatch.setattr(classifier.Classifier, "_run", counted)
    model.of_pairs(PAIRS[:3] * 2)
    model.of_pairs(PAIRS[:4])
    # Other tokens are another pair.
    model.of_pairs(PAIRS[:4], 20, only_first=True)
    assert runs == [len(set(PAIRS[:3])), len(set(PAIRS[:4])) - len(set(PAIRS[:3])), 4]


def test_labels_are_read_by_name(nli: Path, tmp_path: Path) -> None:
    shutil.copytree(nli, tmp_path / "nli")
    path = tmp_path / "nli/config.json"
    config = json.loads(path.read_text())
    (here,) = entailment(nli).answers([Question("a cat", ("The dog sat on it.",))])
    path.write_text(json.dumps(config | {"id2label": {"0": "entailment", "1": "x", "2": "y"}}))
    (answer,) = entailment(tmp_path / "nli").answers([Question("a cat", ("The dog sat on it.",))])
    truth = alone(nli, "The dog sat on it.", "a cat")
    assert (here.entailed, here.contradicted) == pytest.approx((truth[2], truth[1]), abs=1e-6)
    assert (answer.entailed, answer.contradicted) == pytest.approx((truth[0], 0), abs=1e-6)
    path.write_text(json.dumps(config | {"id2label": {"0": "LABEL_0", "1": "not_entailment"}}))
    with pytest.raises(ModelError, match=r"no label for entailment \(it has: LABEL_0, not_entail"):
        entailment(tmp_path / "nli")


def test_a_model_without_a_label_for_contradiction_has_no_score_of_it(
    nli: Path, tmp_path: Path
) -> None:
    shutil.copytree(nli, tmp_path / "nli")
    path = tmp_path / "nli/config.json"
    names = {"0": "not_entailment", "1": "x", "2": "entailment"}
    path.write_text(json.dumps(json.loads(path.read_text()) | {"id2label": names}))
    columns = {"predictions": ["It is a cat.", "A dog."], "sources": ["It is a cat."] * 2}
    with_label, without = (
        Hub(load_metric("nli_faithfulness", model=str(folder))).evaluate(columns)
        for folder in (nli, tmp_path / "nli")
    )
    told = "the model has no label for contradiction"
    assert told in without.notes()["nli_faithfulness"]
    assert not with_label.notes()
    assert without["nli_faithfulness"]["score"] == with_label["nli_faithfulness"]["score"]
    assert np.isnan(without.scores()["nli_faithfulness"]["contradicted"])
    assert with_label["nli_faithfulness"]["contradicted"] > 0


def test_windows_are_whole_sentences_that_fit_and_share_one(nli: Path) -> None:
    model = entailment(nli)
    sentences = [part for part in STORY.replace(". ", ".|").split("|")]
    windows = model._windows(Question("a cat sat", (STORY * 3,)))
    assert len(windows) > 2
    backend = toys.tokenizers.Tokenizer.from_file(str(nli / "tokenizer.json"))
    for window in windows:
        assert len(backend.encode(window, "a cat sat").ids) <= toys.LIMIT
    for first, other in itertools.pairwise(windows):
        assert any(first.endswith(part) and other.startswith(part) for part in sentences)


def test_the_best_window_decides(nli: Path) -> None:
    model = entailment(nli)
    question = Question("a cat sat", (STORY, "It is a house."))
    rows = [alone(nli, window, question.item) for window in model._windows(question)]
    (answer,) = model.answers([question])
    assert answer.entailed == pytest.approx(max(row[2] for row in rows), abs=1e-6)
    assert answer.contradicted == pytest.approx(max(row[1] for row in rows), abs=1e-6)


def test_no_evidence_is_neither(nli: Path) -> None:
    (answer,) = entailment(nli).answers([Question("a cat", ("", " ... "))])
    assert answer == (0, 0, 1, "", 0)


# The judge.

SUPPORTED = Prompt("supported", "Is it so?", "supported")
ITEMS = ["A cat sat on the mat.", "It rains.", "The dog is a river."]


def verdicts(nli: Path, words: tuple[str, ...], **more: Any) -> list[Verdict]:
    judge = NliJudge(model=str(nli), **more)
    return asyncio.run(judge.verify(SUPPORTED, ITEMS, {"evidence": [STORY]}, words))


def test_a_verdict_follows_the_probabilities(nli: Path) -> None:
    answers = entailment(nli).answers([Question(item, (STORY,)) for item in ITEMS])
    words = ("yes", "no", "idk")
    assert {verdict.verdict for verdict in verdicts(nli, words, threshold=0.0)} == {"yes"}
    expected = ["no" if answer.contradicted > answer.entailed else "idk" for answer in answers]
    result = verdicts(nli, words, threshold=1.0)
    assert [verdict.verdict for verdict in result] == expected
    assert [(verdict.index, verdict.item) for verdict in result] == list(enumerate(ITEMS))
    assert [entry.verdict for entry in verdicts(nli, ("yes", "no"), threshold=1.0)] == ["no"] * 3
    middle = sorted(answer.entailed for answer in answers)[1]
    at = verdicts(nli, words, threshold=float(middle))
    assert sum(verdict.verdict == "yes" for verdict in at) == 2


def test_the_reason_is_the_window_and_the_probabilities(nli: Path) -> None:
    (answer, *_) = entailment(nli).answers([Question(ITEMS[0], (STORY,))])
    (verdict, *_) = verdicts(nli, ("yes", "no", "idk"))
    numbers = f"entailed {answer.entailed:.2f}, contradicted {answer.contradicted:.2f}"
    assert verdict.reason.startswith(numbers)
    assert answer.window[:40] in verdict.reason


def test_claims_of_many_samples_are_one_run(nli: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    answers = Entailment.answers

    def counted(self: Entailment, questions: Any) -> Any:
        runs.append(len(questions))
        return answers(self, questions)

    monkeypatch.setattr(Entailment, "answers", counted)
    hub = Hub("faithfulness", judge=f"nli(model='{nli}')")
    report = hub.evaluate(predictions=["It rains. A cat sat."] * 20, contexts=[[STORY]] * 20)
    assert runs == [40]
    assert "judge=\"nli(model='nli', revision='sha256:" in report.signatures()["faithfulness"]
    assert 0 <= report.scores()["faithfulness"]["score"] <= 1


def test_what_it_cannot_answer_is_refused_before_anything_is_scored(nli: Path) -> None:
    with pytest.raises(JudgeUnavailable, match="nli"):
        Hub("coherence", judge=f"nli(model='{nli}')")
    judge = NliJudge(model=str(nli))
    with pytest.raises(JudgeUnavailable, match="the judge nli can't grade"):
        asyncio.run(judge.grade(SUPPORTED, {}, (1, 5)))
    with pytest.raises(JudgeUnavailable, match="the judge nli can't choose"):
        asyncio.run(judge.choose(SUPPORTED, [], {}))


def test_a_model_that_is_not_here_ends_the_run_with_the_command() -> None:
    hub = Hub("faithfulness", judge="nli(model='toys/none')")
    with pytest.raises(JudgeUnavailable, match="metrichub fetch toys/none"):
        hub(predictions=["It rains."], contexts=[["It rains."]])


def test_without_a_model_an_example_is_shown() -> None:
    message = r"nli needs a value for model, as in \"nli\(model='…'\)\"\. .*roberta-large-mnli.*MIT"
    with pytest.raises(ParameterError, match=message):
        Hub("faithfulness", judge="nli")
    with pytest.raises(JudgeUnavailable, match=r"or \"nli\(model='…'\)\" \(installed\)"):
        Hub("faithfulness")
    # It can't grade, and isn't offered where grades are asked for.
    with pytest.raises(JudgeUnavailable) as caught:
        Hub("coherence")
    assert "nli" not in str(caught.value)


def test_the_judge_survives_a_pickle(nli: Path) -> None:
    judge = NliJudge(model=str(nli), threshold=0.25)
    assert pickle.loads(pickle.dumps(judge)) == judge


# The metric.


def test_faithfulness_is_the_mean_over_sentences_of_the_best_window(nli: Path) -> None:
    prediction = "A cat sat on the mat. It rains."
    metric = load_metric("nli_faithfulness", model=str(nli))
    scores = Hub(metric)(predictions=[prediction], sources=[STORY])["nli_faithfulness"]
    answers = entailment(nli).answers(
        [Question(part, (STORY,)) for part in ("A cat sat on the mat.", "It rains.")]
    )
    for output, name in (("score", "entailed"), ("contradicted", "contradicted")):
        mean = np.mean([getattr(answer, name) for answer in answers])
        assert scores[output] == pytest.approx(mean, abs=1e-6)


def test_predictions_that_were_cut_are_counted(nli: Path) -> None:
    long = "it rains by the river and " * 20
    hub = Hub(load_metric("nli_faithfulness", model=str(nli)))
    # A claim that is too long beside any window, a sentence of the source that is, and neither.
    report = hub.evaluate(
        predictions=[f"{long}.", "It rains.", "It rains. A cat sat."],
        sources=["It rains.", f"{long}.", STORY],
    )
    (note,) = report.notes()["nli_faithfulness"]
    assert f"2 of 3 predictions were cut at {toys.LIMIT} tokens" in note
    assert not hub.evaluate(predictions=["It rains."], sources=[STORY]).notes()


def test_a_verdict_s_reason_says_that_its_texts_were_cut(nli: Path) -> None:
    judge = NliJudge(model=str(nli))
    long = "it rains by the river and " * 20
    items = ["It rains.", f"{long}."]
    words = ("yes", "no", "idk")
    result = asyncio.run(judge.verify(SUPPORTED, items, {"evidence": [STORY]}, words))
    message = "claim and evidence were longer than the model takes"
    assert [verdict.reason.endswith(message) for verdict in result] == [False, True]


def test_without_a_sentence_there_is_nothing_to_entail(nli: Path) -> None:
    hub = Hub(load_metric("nli_faithfulness", model=str(nli)))
    report = hub.evaluate(predictions=["", "It rains.", "It rains."], sources=["a", "", "It is."])
    result = report.results["nli_faithfulness"]
    assert dict(result.unanswered) == {"no_claims": 1}
    assert dict(result.reasons) == {"the prediction has no sentence": 1, "the source is empty": 1}


# The light engine.


@pytest.fixture(scope="module")
def light(nli: Path) -> Path:
    """The same classifier in an ONNX file alone."""
    return toys.write_onnx(nli, nli.parent / "light")


def test_a_pair_has_the_same_probabilities_in_an_onnx_file(nli: Path, light: Path) -> None:
    model = classifier.classifier_of(find_model(str(light), needed_by="test"), "float32")
    probabilities = [classified.probabilities for classified in model.of_pairs(PAIRS)]
    np.testing.assert_allclose(probabilities, [alone(nli, *pair) for pair in PAIRS], atol=1e-5)


def test_an_onnx_file_has_its_engine_in_the_signature(nli: Path, light: Path) -> None:
    columns = {"predictions": ["It rains. A cat sat."], "sources": [STORY]}
    reports = [
        Hub(load_metric("nli_faithfulness", model=str(folder))).evaluate(**columns)
        for folder in (nli, light)
    ]
    full, only = (report.scores()["nli_faithfulness"]["score"] for report in reports)
    assert only == pytest.approx(full, abs=1e-5)
    signatures = [report.signatures()["nli_faithfulness"] for report in reports]
    assert ["engine='light'" in signature for signature in signatures] == [False, True]
    assert "engine='light'" in NliJudge(model=str(light)).label
    metric = load_metric("nli_faithfulness", model=str(light))
    assert not any("torch" in name for name in metric.requires())
    assert not metric.one_process()


def test_an_onnx_file_has_one_type_of_numbers(light: Path) -> None:
    with pytest.raises(ModelError, match="light is an ONNX file, which takes dtype='float32' only"):
        Hub(load_metric("nli_faithfulness", model=str(light), dtype="bfloat16"))(
            predictions=["It rains."], sources=[STORY]
        )


def test_an_onnx_file_without_scores_of_labels_is_one_line(onnx: Path, tmp_path: Path) -> None:
    shutil.copytree(onnx, tmp_path / "encoder")
    path = tmp_path / "encoder/config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"id2label": {"0": "entailment"}}))
    with pytest.raises(ModelError, match=r"model\.onnx gives no scores of labels"):
        entailment(tmp_path / "encoder")


def test_the_judge_needs_no_torch(light: Path) -> None:
    program = """
import sys
sys.modules["torch"] = sys.modules["transformers"] = None
from metrichub import Hub
report = Hub("faithfulness", judge=f"nli(model='{sys.argv[1]}')").evaluate(
    predictions=["It rains. A cat sat."], contexts=[["It rains by the river."]])
assert 0 <= report["faithfulness"]["score"] <= 1
"""
    command = [sys.executable, "-c", program, str(light)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr


class TestNliFaithfulness(MetricContract):
    metric = "nli_faithfulness"
    parameters: ClassVar[Mapping[str, Any]] = {}

    @pytest.fixture(autouse=True)
    def _model(self, nli: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(type(self), "parameters", {"model": str(nli)})
