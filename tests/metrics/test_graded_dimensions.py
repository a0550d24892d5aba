"""Coherence, consistency, fluency, relevance and conciseness: one grade of 1 to 5 each."""

from collections.abc import Mapping
from typing import Any

import pytest

from metrichub import Hub, load_metric
from metrichub.testing import Scripted
from tests import judge_toys
from tests.judge_stub import Stub

SUMMARY: dict[str, Any] = {"predictions": ["It opened."], "sources": ["The bridge opened in 1912."]}
COLUMNS: Mapping[str, dict[str, Any]] = {
    "coherence": SUMMARY,
    "consistency": SUMMARY,
    "fluency": {"predictions": ["It opened."]},
    "relevance": SUMMARY,
    "conciseness": {"predictions": ["It opened."], "questions": ["Did it open?"]},
}

every = pytest.mark.parametrize("name", COLUMNS)


@every
@pytest.mark.parametrize(
    ("answer", "grade", "score"),
    [
        (1, 1, 0.0),
        (2, 2, 0.25),
        (5, 5, 1.0),
        # Liu et al. (2023), equation 1: 0.2 * 4 + 0.8 * 5 = 4.8; (4.8 - 1) / 4 = 0.95.
        ({4: 0.2, 5: 0.8}, 4.8, 0.95),
    ],
)
def test_the_score_is_the_place_of_the_grade_from_1_to_5(
    name: str, answer: object, grade: float, score: float
) -> None:
    hub = Hub(load_metric(name, judge=Scripted({name: answer})))
    assert hub(**COLUMNS[name])[name] == {
        "score": pytest.approx(score),
        "grade": pytest.approx(grade),
    }


@every
def test_the_prompt_describes_every_score_and_names_what_it_is_given(name: str, stub: Stub) -> None:
    hub = Hub(load_metric(name, judge=judge_toys.spec(stub)))(**COLUMNS[name])
    # The stub gives the middle of 1 to 5, which is 3, half of the way.
    assert hub == {name: {"score": 0.5, "grade": 3.0}}
    (asked,) = stub.asked
    assert all(f"\n- {score}: " in asked.system for score in (1, 2, 3, 4, 5))
    assert all(f'"{field}"' in asked.system for field in asked.data)
    assert list(asked.data.values()) == [texts[0] for texts in COLUMNS[name].values()]
    assert "{{" not in asked.system


@every
def test_several_answers_are_asked_for_where_the_weighting_says_so(name: str, stub: Stub) -> None:
    judge = judge_toys.spec(stub)
    Hub(load_metric(name, judge=judge, samples=3))(**COLUMNS[name])
    assert len(stub.asked) == 1
    Hub(load_metric(name, judge=judge, weighting="samples", samples=3))(**COLUMNS[name])
    # The first of the three is the one that was asked for before.
    assert len(stub.asked) == 1 + 2


@every
def test_the_explanation_has_the_reason(name: str) -> None:
    hub = Hub(load_metric(name, judge=Scripted({name: 4})))
    step = hub.evaluate(**COLUMNS[name]).explain(name, 0).steps[0]
    assert step == {"grade": {"score": 4.0, "reason": "as scripted", "weights": {}}}


def test_a_corpus_is_the_mean_of_its_samples_that_have_a_grade() -> None:
    judge = Scripted({"fluency": lambda fields: len(str(fields["prediction"]))})
    hub = Hub(load_metric("fluency", judge=judge))
    # Grades 1, 2 and 5 make the mean 8 / 3; their places 0, 1/4 and 1 make 5 / 12.
    report = hub.evaluate(predictions=["a", "bb", "", "ccccc"])
    assert report["fluency"]["grade"] == pytest.approx(8 / 3)
    assert report["fluency"]["score"] == pytest.approx(5 / 12)
    assert report.counts()["fluency"]["unanswered"] == 1
