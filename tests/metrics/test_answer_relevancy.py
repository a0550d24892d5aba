"""Answer relevancy: cosines of generated questions with the one asked."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from metrichub import Hub, Report, load_metric
from metrichub.errors import JudgeUnavailable
from metrichub.models.embedders import Vectors
from metrichub.testing import Scripted

NAME = "answer_relevancy"


@dataclass(frozen=True)
class Angles:
    """An embedder on the unit circle: a text is its angle to the question in degrees."""

    label: str = "angles"

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors (n, 2); "nowhere" is the zero vector."""
        turns = [math.radians(float(text)) if text != "nowhere" else None for text in texts]
        return np.array([(0, 0) if t is None else (math.cos(t), math.sin(t)) for t in turns])


def evaluated(
    questions: list[str], evaded: Sequence[str] = (), asked: str = "0", **parameters: Any
) -> Report:
    judge = Scripted({"questions": questions, "evaded": evaded})
    hub = Hub(load_metric(NAME, judge=judge, embedder=Angles(), **parameters))
    return hub.evaluate(questions=[asked], predictions=["an answer"])


def score(*columns: Any, **parameters: Any) -> float:
    return evaluated(*columns, **parameters).scores()[NAME]["score"]


@pytest.mark.parametrize(
    ("questions", "expected"),
    [
        (["0", "60", "90"], 0.5),  # cosines 1, 1/2, 0
        (["60"], 0.5),
        (["180", "180"], -1.0),
        (["0", "0", "0"], 1.0),
        (["0", "0", "0", "180"], 1.0),  # n = 3: the fourth isn't used
    ],
)
def test_the_score_is_the_mean_cosine(questions: list[str], expected: float) -> None:
    assert score(questions) == pytest.approx(expected)


@pytest.mark.parametrize(("n", "expected"), [(1, 1.0), (2, 0.75), (4, 0.125)])
def test_n_says_how_many_questions_count(n: int, expected: float) -> None:
    # Cosines 1, 1/2, 0, -1: their first n have these means.
    assert score(["0", "60", "90", "180"], n=n) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("noncommittal", "evaded", "expected"),
    [
        ("all", ["yes", "yes"], 0.0),
        ("all", ["yes", "no"], 0.5),
        ("any", ["yes", "no"], 0.0),
        ("any", ["no", "no"], 0.5),
        (None, ["yes", "yes"], 0.5),
    ],
)
def test_an_evasive_answer_scores_0_where_that_is_asked_for(
    noncommittal: str | None, evaded: list[str], expected: float
) -> None:
    value = score(["60", "60"], evaded, noncommittal=noncommittal)
    assert value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("questions", "asked", "reason"),
    [
        ([], "0", "the answer gives rise to no question"),
        (["0"], "nowhere", "a question has no vector"),
        (["0", "nowhere"], "0", "a question has no vector"),
    ],
)
def test_without_questions_or_vectors_it_is_undefined(
    questions: list[str], asked: str, reason: str
) -> None:
    report = evaluated(questions, asked=asked)
    status = "unscored" if "vector" in reason else "unanswered"
    assert report.explain(NAME, 0)[:2] == (status, reason)
    assert math.isnan(report.scores()[NAME]["score"])


def test_every_question_has_its_cosine_and_verdict() -> None:
    step = evaluated(["0", "60"], ["no", "yes"], noncommittal="all").explain(NAME, 0).steps[0]
    assert [q["question"] for q in step["questions"]] == ["0", "60"]
    assert [q["cosine"] for q in step["questions"]] == pytest.approx([1.0, 0.5])
    assert [v["verdict"] for v in step["evaded"]] == ["no", "yes"]


def test_offline_evasion_cannot_be_told() -> None:
    with pytest.raises(JudgeUnavailable, match="the offline judge can't answer the prompt"):
        Hub(load_metric(NAME, noncommittal="all"), judge="offline", embedder="offline")
