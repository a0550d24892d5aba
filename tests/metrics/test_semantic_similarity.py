"""Semantic similarity: the cosine of two embeddings."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrichub import Hub, Report, load_metric
from metrichub.models.embedders import Vectors
from tests.judge_stub import Stub
from tests.judge_toys import spec

NAME = "semantic_similarity"
NUMBERS = st.integers(-1000, 1000)
TEXTS = st.text("ab c.é日", max_size=12)


@dataclass(frozen=True)
class Written:
    """An embedder that reads the vector in the text: "3 4"."""

    label: str = "written"

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector a text, (n, 2)."""
        return np.array([[float(number) for number in text.split()] for text in texts])


def evaluated(prediction: str, reference: str, **parameters: Any) -> Report:
    hub = Hub(load_metric(NAME, embedder=Written(), **parameters))
    return hub.evaluate(predictions=[prediction], references=[reference])


def score(*texts: str, **parameters: Any) -> float:
    return evaluated(*texts, **parameters).scores()[NAME]["score"]


@pytest.mark.parametrize(
    ("prediction", "reference", "expected"),
    [
        ("3 4", "4 3", 24 / 25),  # (12 + 12) / (5 · 5)
        ("1 0", "0 7", 0.0),
        ("1 0", "1 1", 1 / math.sqrt(2)),
        ("2 2", "-1 -1", -1.0),
        ("2 6", "1 3", 1.0),
    ],
)
def test_the_score_is_the_cosine(prediction: str, reference: str, expected: float) -> None:
    assert score(prediction, reference) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("threshold", "expected"), [(None, 0.96), (-1, 1), (0.95, 1), (0.96, 1), (0.97, 0), (1.0, 0)]
)
def test_with_a_threshold_a_prediction_scores_1_or_0(
    threshold: float | None, expected: float
) -> None:
    assert score("3 4", "4 3", threshold=threshold) == pytest.approx(expected)


@pytest.mark.parametrize("text", ["1 1", "1 2", "3 5"])
def test_a_rounding_error_does_not_fail_equal_texts(text: str) -> None:
    # In float64 (1/√2)² + (1/√2)² is below 1, and so are the others.
    assert score(text, text) == pytest.approx(1.0)
    assert score(text, text, threshold=1.0) == 1.0


def test_the_cosine_is_in_the_explanation_with_a_threshold_too() -> None:
    [step] = evaluated("3 4", "4 3", threshold=0.5).explain(NAME, 0).steps
    assert step == {"cosine": pytest.approx(0.96)}


@pytest.mark.parametrize(
    ("prediction", "reference", "reason"),
    [
        ("0 0", "1 0", "the prediction has no vector"),
        ("1 0", "0 0", "the reference has no vector"),
    ],
)
@pytest.mark.parametrize("threshold", [None, 0.5])
def test_without_two_vectors_it_is_undefined(
    prediction: str, reference: str, reason: str, threshold: float | None
) -> None:
    report = evaluated(prediction, reference, threshold=threshold)
    status = "unscored" if "reference" in reason else "unanswered"
    assert report.explain(NAME, 0)[:2] == (status, reason)
    assert math.isnan(report.scores()[NAME]["score"])


def test_a_corpus_is_the_mean_and_with_a_threshold_the_share_that_passes() -> None:
    columns = {"predictions": ["3 4", "1 0", " "], "references": ["4 3", "0 1", "1 1"]}
    for threshold, expected in ((None, 0.48), (0.9, 0.5)):
        hub = Hub(load_metric(NAME, embedder=Written(), threshold=threshold))
        report = hub.evaluate(**columns)
        assert report[NAME] == {"score": pytest.approx(expected)}
        assert report.counts()[NAME] == {"unanswered": 1}


def test_of_several_references_the_nearest_counts() -> None:
    hub = Hub(load_metric(NAME, embedder=Written()))
    scores = hub(predictions=["3 4"], references=[["-1 0", "4 3"]])
    assert scores[NAME]["score"] == pytest.approx(0.96)


def test_a_model_is_asked_once_for_both_texts(stub: Stub) -> None:
    hub = Hub(load_metric(NAME, embedder=f"openai(model='e', base_url='{stub.url}')"))
    scores = hub(predictions=["abc"], references=["a b c d"])
    # The stub's vectors are (characters, words): (3, 1) and (7, 4).
    assert scores[NAME]["score"] == pytest.approx(25 / math.sqrt(10 * 65))
    assert [asked.body["input"] for asked in stub.asked] == [["a b c d", "abc"]]


def test_the_vectors_are_shared_with_answer_correctness(stub: Stub) -> None:
    embedder = f"openai(model='e', base_url='{stub.url}')"
    names = (NAME, "answer_correctness")
    judge = {NAME: {}, "answer_correctness": {"judge": spec(stub), "weights": (0, 1)}}
    hub = Hub([load_metric(name, embedder=embedder, **judge[name]) for name in names])
    scores = hub(predictions=["abc"], references=["a b c d"])
    assert len(stub.asked) == 1
    assert scores[NAME]["score"] == scores["answer_correctness"]["similarity"]


@given(TEXTS)
@settings(max_examples=50)
def test_offline_a_text_equals_itself_or_has_no_vector(text: str) -> None:
    score = Hub(NAME, embedder="offline")(predictions=[text], references=[text])[NAME]["score"]
    assert score == pytest.approx(1.0 if any(c.isalnum() for c in text) else math.nan, nan_ok=True)
