"""Rubric: the score whose description fits best, and its place among the descriptions."""

import math
from typing import Any

import pytest

from metrichub import Hub, load_metric
from metrichub.errors import ParameterError
from metrichub.testing import Scripted
from tests import judge_toys
from tests.judge_stub import Stub

THREE = ["No source.", "A source that can't be found.", "A source that can be found."]


def scored(answer: object, **parameters: Any) -> dict[str, float]:
    hub = Hub(load_metric("rubric", judge=Scripted({"rubric": answer}), **parameters))
    return dict(hub(predictions=["It is said."])["rubric"])


@pytest.mark.parametrize(
    ("parameters", "grade", "score"),
    [
        ({}, 1, 0.0),
        ({}, 4, 3 / 4),  # the default has five descriptions, from 1
        ({"levels": THREE}, 2, 1 / 2),
        ({"levels": THREE, "low": 0}, 2, 1.0),
        ({"levels": THREE, "low": -1}, 0, 1 / 2),
        ({"levels": THREE[:2], "low": 0}, 1, 1.0),
    ],
)
def test_the_score_is_the_place_among_the_descriptions(
    parameters: dict[str, Any], grade: int, score: float
) -> None:
    assert scored(grade, **parameters) == {"score": score, "grade": grade}


def test_several_answers_make_their_mean() -> None:
    # One 4 and two 5: 14 / 3, and (14 / 3 - 1) / 4 = 11 / 12.
    scores = scored({4: 1, 5: 2}, weighting="samples", samples=3)
    assert scores == {"score": pytest.approx(11 / 12), "grade": pytest.approx(14 / 3)}


def test_criterion_and_descriptions_are_instructions_and_the_texts_data(stub: Stub) -> None:
    metric = load_metric(
        "rubric",
        judge=judge_toys.spec(stub),
        criterion="Is there a source?",
        levels=THREE,
        low=0,
        sees=("prediction", "question"),
    )
    # The stub gives the middle of the scale 0 to 2, which is 1.
    hub = Hub(metric)(predictions=["It is said."], questions=["Who said it?"])
    assert hub == {"rubric": {"score": 0.5, "grade": 1.0}}
    (asked,) = stub.asked
    assert "Is there a source?" in asked.system
    listed = "- 0: No source.\n- 1: A source that can't be found.\n- 2: A source that can be found."
    assert listed in asked.system
    assert "The score is a whole number from 0 to 2." in asked.system
    assert asked.schema["properties"]["score"]["enum"] == [0, 1, 2]
    assert asked.data == {"prediction": "It is said.", "question": "Who said it?"}


def test_the_first_input_is_the_graded_one(stub: Stub) -> None:
    hub = Hub(load_metric("rubric", judge=judge_toys.spec(stub), sees=("question",)))
    hub(questions=["Who?"])
    assert stub.asked[0].system.startswith('Grade the field "question"')


def test_the_explanation_has_the_reason() -> None:
    hub = Hub(load_metric("rubric", judge=Scripted({"rubric": 4})))
    step = hub.evaluate(predictions=["It is said."]).explain("rubric", 0).steps[0]
    assert step == {"grade": {"score": 4.0, "reason": "as scripted", "weights": {}}}


def test_a_blank_text_is_undefined_and_asks_nothing() -> None:
    hub = Hub(load_metric("rubric", judge=Scripted({}), sees=("prediction", "contexts")))
    report = hub.evaluate(predictions=["a"], contexts=[[" "]])
    assert report.explain("rubric", 0)[:2] == ("unscored", "there are no contexts")
    assert math.isnan(report.scores()["rubric"]["score"])


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"criterion": "Rate it from 1 to 10."}, "'1 to 10' names another"),
        ({"levels": ["bad", "3 out of 10", "good"]}, "'out of 10' names another"),
        # From the highest to the lowest, or from another number than low.
        ({"levels": ["3: good", "2: fair", "1: bad"]}, "lowest score to the highest"),
        ({"levels": ["Score 0: bad", "Score 1: good"]}, "of the scale, 1 to 2"),
        ({"levels": ["0.0", "0.5", "1.0"]}, "of the scale, 1 to 3"),
    ],
)
def test_words_of_another_scale_are_refused(parameters: dict[str, Any], problem: str) -> None:
    with pytest.raises(ParameterError, match=problem):
        load_metric("rubric", **parameters)


@pytest.mark.parametrize(
    "parameters",
    [
        {"levels": ["1: bad", "2. fair", "Score 3 - good"]},
        {"levels": ["0 = bad", "1 = good"], "low": 0},
        {"levels": ["0 errors", "1 error", "2 errors"]},
        {"levels": ["10 errors or more", "3 to 9 errors", "none"]},
        {"criterion": "Rate it from 1 to 5."},
    ],
)
def test_levels_may_have_the_numbers_of_the_scale_or_others(parameters: dict[str, Any]) -> None:
    load_metric("rubric", **parameters)
