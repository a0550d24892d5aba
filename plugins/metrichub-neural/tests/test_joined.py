"""MiniCheck as a classifier: the official program's probabilities with the same weights."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import neural_vectors
import numpy as np
import pytest
import toys
from metrichub_neural.engine import classifier, joined
from metrichub_neural.engine.joined import chunks_of, supported
from metrichub_neural.engine.models import forget
from metrichub_neural.local_models import find_model
from metrichub_neural.minicheck.checking import is_classifier
from metrichub_neural.minicheck_judge import MiniCheckJudge
from neural_vectors import rows

from metrichub import Hub, JudgeUnavailable, ModelError, load_metric
from metrichub.authoring import Prompt

ROWS = rows("minicheck roberta-large")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The classifier of all rows."""
    folder = neural_vectors.write_setup_words(tmp_path_factory.mktemp("minicheck") / "model")
    auto = "AutoModelForSequenceClassification"
    return neural_vectors.write_model(folder, auto, "roberta", ROWS[0])


@pytest.mark.parametrize("budget", [1, 60, 4096])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["chunk_size"])
def test_probabilities_are_those_of_the_official_program(
    model: Path, row: dict[str, Any], budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Sentences end at " .", as where the rows were made, and keep the space before them.
    def cut(line: str) -> list[str]:
        return [f"{part} ." for part in line.split(" .") if part.strip()]

    monkeypatch.setattr(joined, "sentences", cut)
    monkeypatch.setattr(classifier, "budget", lambda: budget)
    forget()
    files = find_model(str(model), needed_by="test")
    loaded = classifier.classifier_of(files, "float32")
    # In an order of its own.
    claims = list(zip(row["documents"], row["claims"], strict=True))[::-1] * 2
    answers = supported(loaded, claims, row["chunk_size"])[2:][::-1]
    probabilities = [answer.probability for answer in answers]
    np.testing.assert_allclose(probabilities, row["support"], atol=1e-7)
    assert all(answer.chunk in chunk for answer, chunk in zip(answers, row["chunks"], strict=True))
    count = lambda parts: [len(ids) for ids in loaded.tokenizer.bare(parts)]
    chunks = [chunks_of(text, row["chunk_size"], count) for text in row["documents"]]
    assert chunks == row["chunks"]


def test_the_metric_and_the_judge_take_the_form_that_a_model_has(model: Path) -> None:
    files = find_model(str(model), needed_by="test")
    text = "The old man saw a dog. It is cold today."
    claims = ["He saw the dog.", "The bank is in the river."]
    expected = [
        answer.probability
        for answer in supported(
            classifier.classifier_of(files, "float32"), [(text, claim) for claim in claims], 8
        )
    ]
    hub = Hub(load_metric("minicheck", model=str(model), chunk=8))
    report = hub.evaluate(predictions=claims, sources=[text] * 2)
    np.testing.assert_allclose(report.samples()["minicheck"]["score"], expected, atol=1e-7)
    judge = MiniCheckJudge(model=str(model), chunk=8, threshold=float(np.mean(expected)))
    prompt = Prompt("supported", "Is it so?", "supported")
    verdicts = asyncio.run(judge.verify(prompt, claims, {"evidence": [text]}, ("yes", "no")))
    assert [verdict.verdict == "yes" for verdict in verdicts] == [
        score > np.mean(expected) for score in expected
    ]
    # All in one chunk, unless it is told how much to read.
    full = Hub(load_metric("minicheck", model=str(model)))
    again = full.evaluate(predictions=claims, sources=[text] * 2).samples()["minicheck"]["score"]
    assert np.abs(again - expected).max() > 1e-4


def test_deberta_reads_a_chunk_and_a_claim_as_one_text(tmp_path: Path) -> None:
    auto = "AutoModelForSequenceClassification"
    folder = toys.write_model(tmp_path, "deberta-v2", auto, architectures=["DebertaV2" + auto[4:]])
    chunk, claim = "the cat sat on the mat", "it is a dog"
    hub = Hub(load_metric("minicheck", model=str(folder)))
    report = hub.evaluate(predictions=[claim], sources=[f"{chunk}."])
    wide = toys.transformers.AutoModelForSequenceClassification.from_pretrained(folder).double()
    ids = toys.ids_of(folder, f"{chunk}.[SEP]{claim}")
    # The token between them is the one that ends them.
    assert ids.count(3) == 2
    with toys.torch.no_grad():
        truth = float(wide.eval()(toys.torch.tensor([ids])).logits.softmax(-1)[0, 1])
    assert report.scores()["minicheck"]["score"] == pytest.approx(truth, abs=1e-6)


def test_what_a_classifier_cuts_is_counted(model: Path) -> None:
    hub = Hub(load_metric("minicheck", model=str(model)))
    long = "The cat sat on the mat in the house of the old man " * 8
    report = hub.evaluate(predictions=["The cat ran."] * 2, sources=[long, "The cat sat."])
    (note,) = [note for note in report.notes()["minicheck"] if "cut" in note]
    assert "1 of 2 predictions were cut at 62 tokens" in note


def test_a_sentence_longer_than_a_chunk_stands_alone() -> None:
    def words(parts: Any) -> list[int]:
        return [len(part.split()) for part in parts]

    text = "One two three four five six.\n\nAnd a few. More words."
    assert chunks_of(text, 5, words) == [
        "One two three four five six.",
        "And a few. More words.",
    ]
    assert chunks_of(" \n ", 5, words) == []


def test_a_document_without_a_sentence_supports_nothing(model: Path) -> None:
    loaded = classifier.classifier_of(find_model(str(model), needed_by="test"), "float32")
    assert supported(loaded, [("", "the cat sat")]) == [(0.0, "", False)]


def test_labels_are_numbers_as_in_the_published_models(model: Path, tmp_path: Path) -> None:
    named = {"0": "0", "1": "1"}
    shutil.copytree(model, tmp_path, dirs_exist_ok=True)
    config = json.loads((model / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"id2label": named}))
    given = {"predictions": ["The cat ran."], "sources": ["The cat sat."]}
    scores = [Hub(load_metric("minicheck", model=str(path)))(given) for path in (model, tmp_path)]
    assert scores[0] == scores[1]
    # A file that names no head, but labels.
    del config["architectures"]
    (tmp_path / "config.json").write_text(json.dumps(config | {"id2label": named}))
    assert is_classifier(find_model(str(tmp_path), needed_by="test"))


@pytest.mark.parametrize(
    "labels",
    [
        ["contradiction", "neutral", "entailment"],
        ["not_entailment", "entailment"],
        ["toxic", "fine"],
        ["SUPPORTED", "UNSUPPORTED"],
        ["LABEL_0"],
    ],
)
def test_a_classifier_of_something_else_is_refused(labels: list[str], tmp_path: Path) -> None:
    named = dict(enumerate(labels))
    places = {label: place for place, label in named.items()}
    auto = "AutoModelForSequenceClassification"
    folder = toys.write_model(tmp_path / "other", auto=auto, id2label=named, label2id=places)
    says = rf"other has the labels {', '.join(labels)}, .* take nli_faithfulness".lower()
    with pytest.raises(ModelError, match=f"(?i){says}"):
        Hub(load_metric("minicheck", model=str(folder)))(predictions=["a."], sources=["b."])
    hub = Hub("faithfulness", judge=f"minicheck(model='{folder}')")
    with pytest.raises(JudgeUnavailable, match=f"(?i){says}"):
        hub(predictions=["A cat."], contexts=[["A dog."]])
