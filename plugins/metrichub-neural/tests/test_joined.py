"""MiniCheck as a classifier: the official program's probabilities with the same weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import neural_vectors
import numpy as np
import pytest
from metrichub_neural.engine import classifier, joined
from metrichub_neural.engine.joined import chunks_of, supported
from neural_vectors import rows

from metrichub.authoring import find_model

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
    classifier.classifier_of.cache_clear()
    files = find_model(str(model), needed_by="test")
    loaded = classifier.classifier_of(files, "float32")
    # In an order of its own.
    claims = list(zip(row["documents"], row["claims"], strict=True))[::-1] * 2
    answers = supported(loaded, claims, row["chunk_size"])[2:][::-1]
    found = [answer.probability for answer in answers]
    np.testing.assert_allclose(found, row["support"], atol=1e-7)
    assert all(answer.chunk in own for answer, own in zip(answers, row["chunks"], strict=True))
    count = lambda parts: [len(ids) for ids in loaded.tokenizer.bare(parts)]  # noqa: E731
    chunks = [chunks_of(text, row["chunk_size"], count) for text in row["documents"]]
    assert chunks == row["chunks"]


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
