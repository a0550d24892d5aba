"""Majority vote: the most frequent answer decides, and nothing is no vote."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, Report, load_metric


def evaluated(predictions: Any, references: Any, **options: Any) -> Report:
    extract = options.pop("extract", None)
    hub = Hub(load_metric("majority_vote", **options), extract=extract)
    return hub.evaluate(predictions=predictions, references=references)


def scores(predictions: Any, references: Any, **options: Any) -> dict[str, float]:
    return evaluated(predictions, references, **options)["majority_vote"]


def test_the_most_frequent_answer_decides_and_of_a_tie_the_first() -> None:
    assert scores([["a", "b", "b"]], ["b"])["score"] == 1
    assert scores([["a", "b", "b"]], ["a"])["score"] == 0
    assert scores([["b", "a", "a", "b"]], ["b"])["score"] == 1
    assert scores([["a", "b"]], ["b"])["score"] == 0


def test_nothing_extracted_is_no_vote_and_not_right() -> None:
    # lm-eval's filter would give its "[invalid]" two votes here, and the sample 0.
    replies = ["x\ny", "no\nidea", "Answer: 7"]
    report = evaluated([replies, ["x\ny", "x\ny"]], ["7", "7"], extract="answer")
    assert report["majority_vote"] == {
        "score": 0.5,
        "average": pytest.approx(1 / 6),
        "agreement": pytest.approx(1 / 6),
    }
    assert report.counts()["majority_vote"] == {"unextracted": 1}


@pytest.mark.parametrize(
    ("first", "second", "equal_by"),
    [
        ("18", "18.0", {"number"}),
        ("1,800", "1.8e3", {"number"}),
        ("٣", "3", {"number"}),
        ("\u22125", "-5", {"number"}),
        ("9007199254740993", "9007199254740992", set()),
        ("1e999", "1e998", set()),
        ("18", "1_8", set()),
        ("nan", "NaN", {"number", "text"}),
        ("Bath ", "bath", {"number", "text"}),
        ("e\u0301", "é", {"number", "text", "none"}),
        ("9" * 400, "9" * 401, set()),
        ("-3.5", "35", set()),
        (".", "", set()),
    ],
)
def test_answers_are_equal_as_the_normalization_says(
    first: str, second: str, equal_by: set[str]
) -> None:
    ways = ("number", "text", "none")
    equal = {way for way in ways if scores([first], [second], normalization=way)["score"]}
    assert equal == equal_by


def test_any_reference_will_do_and_one_prediction_is_exact_match() -> None:
    assert scores([["b", "b", "c"]], [["a", "b"]])["score"] == 1
    hub = Hub(["majority_vote(normalization='none')", "exact_match"])(
        predictions=["a", "b"], references=["a", "c"]
    )
    assert hub["majority_vote"]["score"] == hub["exact_match"]["score"] == 0.5


ANSWERS = st.lists(st.sampled_from("abc"), min_size=1, max_size=6)


@given(st.lists(st.tuples(ANSWERS, st.sampled_from("abc")), min_size=1, max_size=4))
def test_any_votes_are_counted_as_by_a_counter(rows: list[tuple[list[str], str]]) -> None:
    predictions, references = (list(column) for column in zip(*rows, strict=True))
    samples = evaluated(predictions, references).samples()["majority_vote"]
    chosen = [Counter(answers).most_common(1)[0] for answers in predictions]
    right = [int(answer == values) for (answer, _), values in zip(chosen, references, strict=True)]
    assert samples["score"].tolist() == right
    votes = [number / len(values) for (_, number), values in zip(chosen, predictions, strict=True)]
    assert samples["agreement"].tolist() == pytest.approx(votes)


def test_the_share_has_wilsons_interval_and_hostile_answers_are_texts() -> None:
    report = evaluated([["a", "a"], ["b"]] * 20, ["a"] * 40)
    assert report.intervals()["majority_vote"]["score"].method == "Wilson"
    hostile = ["9" * 1_000_000, "1," * 500_000, "-" * 1_000_000, "1e" + "9" * 1_000_000]
    assert scores([hostile], [hostile[0]])["score"] == 1
