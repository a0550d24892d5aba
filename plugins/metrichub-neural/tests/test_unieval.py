"""UniEval: official scores of its questions, sentences, and what a dimension needs."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import neural_vectors as vectors
import numpy as np
import pytest
import toys
from metrichub_neural.engine.seq2seq import seq2seq_of
from metrichub_neural.local_models import find_model
from metrichub_neural.unieval.questions import QUESTIONS

from metrichub import Hub, MissingModel, ModelError, load_metric
from metrichub.testing import MetricContract

ROWS = vectors.rows("unieval")
PREDICTIONS = ["the old man saw the cat", "it is cold today"]
OTHERS = [
    "the old man saw a dog in the house .",
    "he said that it would rain today , in the city",
]
COLUMNS = {"sources": OTHERS, "references": OTHERS, "contexts": [[text] for text in OTHERS]}


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The model with which the authors' program gave its scores."""
    return str(vectors.write_t5(tmp_path_factory.mktemp("models") / "unieval", ROWS[0]))


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random T5."""
    return toys.write_seq2seq(tmp_path_factory.mktemp("models") / "t5")


def scored(model: str, dimension: str, predictions: list[str], **columns: Any) -> Any:
    metric = load_metric("unieval", model=model, dimension=dimension)
    needed = {name: columns[name] for name in Hub(metric).needs() if name != "predictions"}
    return Hub(metric).evaluate(predictions=predictions, **needed)


def dimension_of(row: Mapping[str, Any]) -> str:
    task, dimension = str(row["metric"]).removeprefix("unieval ").split()
    return dimension if task == "summarization" else f"{task}_{dimension}"


@pytest.mark.parametrize("row", ROWS, ids=dimension_of)
def test_a_question_has_the_official_text_tokens_and_scores(
    row: Mapping[str, Any], official: str
) -> None:
    dimension = dimension_of(row)
    question = QUESTIONS[dimension]  # type: ignore[index]  # one of the literals
    asked = [
        question.text(text, dict.fromkeys(("source", "reference", "contexts"), other))
        for text, other in zip(PREDICTIONS, OTHERS, strict=True)
    ]
    assert asked == row["inputs"]
    model = seq2seq_of(find_model(official, needed_by="test"), "float32")
    ids = [text.ids.tolist() for text in model.tokenizer.encode_as_given(asked)]
    assert ids == row["input_ids"]
    for order in (1, -1):
        columns = {name: texts[::order] for name, texts in COLUMNS.items()}
        report = scored(official, dimension, PREDICTIONS[::order], **columns)
        score = report.samples()["unieval"]["score"][::order]
        np.testing.assert_allclose(score, row["scores_one_by_one"], atol=2e-6)


def test_sentences_are_averaged_or_summed(official: str) -> None:
    both = ["The old man saw the cat. It is cold today."]
    columns = {name: values[:1] for name, values in COLUMNS.items()}
    parts = {
        dimension: [
            scored(official, dimension, [part], **columns)["unieval"]["score"]
            for part in ("The old man saw the cat.", "It is cold today.")
        ]
        for dimension in ("consistency", "fluency", "fact_consistency", "dialogue_engagingness")
    }
    for dimension, scores in parts.items():
        score = scored(official, dimension, both, **columns)["unieval"]["score"]
        total = np.sum(scores) if dimension == "dialogue_engagingness" else np.mean(scores)
        assert score == pytest.approx(total, abs=1e-6)
    # Others ask about the whole text.
    score = scored(official, "dialogue_naturalness", both, **columns)["unieval"]["score"]
    question = "question: Is this a natural response in the dialogue? </s> response: "
    model = seq2seq_of(find_model(official, needed_by="test"), "float32")
    (answer,) = model.first_tokens([question + both[0]], [61, 62], 1024)
    yes, no = np.exp(answer.logits.astype(float))
    assert score == pytest.approx(yes / (yes + no), abs=1e-6)


def test_a_sum_has_no_upper_bound_and_nothing_to_sum_is_zero(official: str) -> None:
    long = "The old man saw the cat. " * 12
    columns = {name: values[:1] * 2 for name, values in COLUMNS.items()}
    report = scored(official, "dialogue_engagingness", [long, " "], **columns)
    high, zero = report.samples()["unieval"]["score"]
    assert high > 1
    assert zero == 0


def test_samples_without_what_a_question_needs_are_unscored(official: str) -> None:
    contexts = [[], ["the cat"], ["the dog", "the cat"]]
    report = scored(official, "dialogue_groundedness", ["a cat"] * 3, contexts=contexts)
    assert dict(report.results["unieval"].reasons) == {"there is no context": 1}
    report = scored(official, "coherence", ["a cat", ""], sources=["", "a cat"])
    assert dict(report.results["unieval"].reasons) == {"the source is empty": 1}
    assert np.isfinite(report.samples()["unieval"]["score"]).tolist() == [False, True]


def test_every_dimension_names_its_checkpoint_and_how_to_get_it() -> None:
    expected = {
        "relevance": "unieval-sum, .*: metrichub fetch unieval$",
        "data2text_naturalness": "unieval-sum, .*: metrichub fetch unieval$",
        "dialogue_coherence": "unieval-dialog, .*fetch --convert MingZhong/unieval-dialog$",
        "fact_consistency": "unieval-fact, .*fetch --convert MingZhong/unieval-fact$",
    }
    for dimension, message in expected.items():
        with pytest.raises(MissingModel, match=message):
            load_metric("unieval", dimension=dimension).resolved()


def test_a_tokenizer_that_does_not_read_the_end_of_a_part_is_refused(
    official: str, tmp_path: Path
) -> None:
    folder = tmp_path / "t5"
    shutil.copytree(official, folder)
    path = folder / "tokenizer.json"
    path.write_text(path.read_text().replace('"</s>"', '"<end>"'))
    with pytest.raises(ModelError, match="t5 doesn't read </s> as the end of a part"):
        scored(str(folder), "fluency", ["a cat"])


def test_predictions_that_were_cut_are_counted(toy: Path) -> None:
    long = "it rains by the river and " * 300
    report = scored(str(toy), "coherence", ["a cat", "a dog"], sources=[long, "a dog"])
    (note,) = [note for note in report.notes()["unieval"] if "cut" in note]
    assert "1 of 2 predictions were cut at 1024 tokens, what is read with them included" in note


class TestUniEval(MetricContract):
    metric = "unieval"
    parameters: ClassVar[Mapping[str, Any]] = {}

    @pytest.fixture(autouse=True)
    def _model(self, toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(type(self), "parameters", {"model": str(toy)})
