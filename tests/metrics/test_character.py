"""CharacTER: the published values, and scores worked out by hand."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein

from metrichub import Hub, load_metric
from metrichub.errors import ParameterError
from tests.vectors import SUMMEVAL, WMT16, texts, vectors

HYPOTHESIS = "this week the saudis denied information published in the new york times"
REFERENCE = "saudi arabia denied this week information published in the american new york times"


def character(prediction: str, reference: Any, **parameters: float) -> float:
    hub = Hub(metrics=load_metric("character", **parameters))
    return float(hub(predictions=[prediction], references=[reference])["character"]["score"])


@pytest.mark.parametrize("vector", vectors("character"))
def test_conformance(vector: dict[str, Any]) -> None:
    report = Hub(metrics="character").evaluate(
        predictions=vector["predictions"], references=vector["references"]
    )
    expected = vector["expected"]
    expected = expected if isinstance(expected, dict) else {"mean": expected}
    scores = report.samples()["character"]["score"].tolist()
    measures = {
        "count": len,
        "mean": lambda _: report.scores()["character"]["score"],
        "median": statistics.median,
        "std": statistics.stdev,
        "min": min,
        "max": max,
    }
    for name, value in expected.items():
        assert measures[name](scores) == pytest.approx(value, abs=vector["tolerance"])


def test_the_paper_s_example_is_two_shifts_and_sixteen_edits() -> None:
    # "this week" (mean length 4) goes behind "denied", "saudis" (6) to the place of "saudi".
    shifted = "saudis the denied this week information published in the new york times"
    assert Levenshtein.distance(shifted, REFERENCE) == 16
    assert character(HYPOTHESIS, REFERENCE) == pytest.approx((4 + 6 + 16) / 71)


def test_with_threshold_zero_only_equal_words_are_shifted() -> None:
    # "saudis" is not "saudi", so that only "this week" moves.
    shifted = "the saudis denied this week information published in the new york times"
    edits = Levenshtein.distance(shifted, REFERENCE)
    assert character(HYPOTHESIS, REFERENCE, threshold=0.0) == pytest.approx((4 + edits) / 71)


def test_a_shift_costs_the_mean_length_of_its_words() -> None:
    # "u v w" stays and "bb cccc" moves: (2 + 4) / 2 for 13 characters, and no edit is left.
    assert character("bb cccc u v w", "u v w bb cccc") == pytest.approx(3 / 13)


def test_edits_are_divided_by_the_length_of_the_prediction_and_stop_at_one() -> None:
    assert character("abcd", "abxy") == pytest.approx(2 / 4)
    assert character("ab", "abxy") == 1
    assert character("a", "wholly different") == 1


def test_equal_texts_score_zero_and_white_space_is_ignored() -> None:
    assert character("a  b\n", "a b") == 0


def test_the_reference_with_the_lowest_score_counts() -> None:
    assert character("abcd", ["wxyz", "abcx"]) == pytest.approx(1 / 4)


def test_an_empty_prediction_is_all_wrong_and_two_empty_texts_are_unscored() -> None:
    assert character("", "a") == 1
    assert character("a", "") == 1
    report = Hub(metrics="character").evaluate(predictions=["", "a"], references=[" ", "a"])
    assert np.isnan(report.samples()["character"]["score"][0])
    assert report.scores()["character"] == {"score": 0, "unscored": 1}


@pytest.mark.parametrize("name", [SUMMEVAL, WMT16])
def test_real_texts_stay_below_their_edits_without_shifts(name: str) -> None:
    predictions, groups = texts(name, 200)
    references = [group[0] for group in groups]
    found = Hub(metrics="character")(predictions=predictions, references=references)
    plain = [
        min(1.0, Levenshtein.distance(said, wanted) / len(said))
        for said, wanted in zip(predictions, references, strict=True)
    ]
    assert 0 < found["character"]["score"] < statistics.fmean(plain)


@pytest.mark.parametrize("threshold", [-0.1, 1.5])
def test_a_threshold_that_is_no_share_is_refused(threshold: float) -> None:
    with pytest.raises(ParameterError, match=r"threshold.*from 0 to 1"):
        load_metric("character", threshold=threshold)
