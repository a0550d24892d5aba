"""ANLS: the similarity that anls_star gives two texts, and its threshold."""

from typing import Any

import pytest
from anls_star import anls_score
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, load_metric
from tests.vectors import answer_vectors

AWKWARD = st.text(alphabet=st.sampled_from("aAbc .é\u0301İß\t日😀"), max_size=9)


def score(prediction: str, references: Any, **parameters: Any) -> float:
    hub = Hub(load_metric("anls", **parameters))
    return hub(predictions=[prediction], references=[references])["anls"]["score"]


@pytest.mark.parametrize("row", answer_vectors("anls"))
def test_equals_anls_star(row: dict[str, Any]) -> None:
    inputs = row["inputs"]
    value = score(inputs["prediction"], inputs["references"], **row["params"])
    assert value == pytest.approx(row["expected"], abs=1e-12)


@given(AWKWARD, st.lists(AWKWARD, min_size=1, max_size=3))
def test_equals_anls_star_on_any_texts(prediction: str, references: list[str]) -> None:
    official = anls_score(tuple(references), prediction)
    assert score(prediction, references) == pytest.approx(official)


def test_the_threshold_is_a_similarity() -> None:
    # 3 of 7 characters differ: 4/7.
    assert score("kitten", "sitting", threshold=0.57) == pytest.approx(4 / 7)
    assert score("kitten", "sitting", threshold=0.58) == 0


def test_an_explanation_aligns_what_is_compared() -> None:
    report = Hub("anls").evaluate(predictions=["PARIS  now"], references=["paris now"])
    (step,) = report.explain("anls", 0).steps
    assert step["edits"] == 0
