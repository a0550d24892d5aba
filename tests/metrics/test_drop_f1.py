"""DROP: the numbers of its script, and how its answers are read."""

import re
import string
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from metrichub import Hub, InputError
from tests.vectors import answer_vectors


def scores(prediction: str, references: Any) -> dict[str, Any]:
    hub: dict[str, Any] = Hub("drop_f1")(predictions=[prediction], references=[references])
    return hub["drop_f1"]


def lines(spans: str | list[str]) -> str:
    return spans if isinstance(spans, str) else "\n".join(spans)


@pytest.mark.parametrize("row", answer_vectors("drop_f1"))
def test_equals_the_script(row: dict[str, Any]) -> None:
    inputs, expected = row["inputs"], row["expected"]
    result = scores(lines(inputs["prediction"]), [lines(inputs["reference"])])
    assert result == {"score": pytest.approx(expected["f1"]), "exact": expected["em"]}


@pytest.mark.parametrize("row", answer_vectors("drop_f1 (several golds)"))
def test_the_best_of_several_answers_counts_and_empty_ones_dont(row: dict[str, Any]) -> None:
    inputs, expected = row["inputs"], row["expected"]
    result = scores(lines(inputs["prediction"]), [lines(gold) for gold in inputs["references"]])
    assert result == {"score": pytest.approx(expected["f1"]), "exact": expected["em"]}


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def normal(span: str) -> str:
    """A span as the script normalizes it, step by step."""
    words = []
    for token in re.split(" |-", span):
        word = token.lower()
        if not is_number(word):
            word = "".join(c for c in word if c not in string.punctuation)
        if is_number(word):
            word = str(float(word))
        word = " ".join(re.sub(r"\b(a|an|the)\b", " ", word).split())
        if word:
            words.append(word)
    return " ".join(words)


def official(predicted: list[str], gold: list[str]) -> tuple[float, float]:
    """F1 and exact match of lists of spans, with scipy's pairing."""
    ours, theirs = [normal(span) for span in predicted], [normal(span) for span in gold]
    exact = float(set(ours) == set(theirs) and len(ours) == len(theirs))
    table = np.zeros((len(theirs), len(ours)))
    for row, answer in enumerate(theirs):
        for column, other in enumerate(ours):
            a, b = set(answer.split()), set(other.split())
            numbers = {word for word in a if is_number(word)}
            if numbers and not numbers & b:
                continue
            precision = len(a & b) / len(b) if b else 1.0
            recall = len(a & b) / len(a) if a else 1.0
            both = precision + recall
            table[row, column] = 2 * precision * recall / both if both else 0.0
    best = np.zeros(max(table.shape))
    rows, columns = linear_sum_assignment(-table)
    best[rows] = table[rows, columns]
    return round(float(np.round(best.mean(), 2)), 2), exact


SPANS = st.lists(
    st.lists(
        st.sampled_from(
            ["the", "5", "5.0", "1,000", "Tom-Boy", "brady!", "U.S.", "x", "-3", "nan", "a", "½"]
        ),
        min_size=1,
        max_size=4,
    ).map(" ".join),
    min_size=1,
    max_size=4,
)


@given(SPANS, SPANS)
def test_equals_the_definition_on_any_spans(predicted: list[str], gold: list[str]) -> None:
    f1, exact = official(predicted, gold)
    # The order of sums of several pairs may turn a rounded digit.
    assert scores(lines(predicted), [lines(gold)]) == {
        "score": pytest.approx(f1, abs=0.0101 if len(predicted) > 2 else 1e-9),
        "exact": exact,
    }


def test_answers_are_read_as_the_files_of_drop_have_them() -> None:
    none = {"day": "", "month": "", "year": ""}
    answers: list[Any] = [
        {"number": "3", "date": none, "spans": []},
        {"number": "", "date": none, "spans": ["Giants", "Saints"]},
        {"number": "", "date": {"day": "3", "month": "May", "year": "1992"}, "spans": []},
    ]
    hub = Hub("drop_f1")(
        predictions=["3", "saints\ngiants", "3 May 1992"],
        references=[[answer] for answer in answers],
    )
    assert hub["drop_f1"] == {"score": 1, "exact": 1}


@pytest.mark.parametrize("answer", [{"spans": [1]}, {"number": None, "date": 3}, {"answer": "x"}])
def test_an_object_that_isnt_an_answer_is_refused_in_one_line(answer: object) -> None:
    with pytest.raises(InputError) as error:
        scores("x", [answer])
    assert "\n" not in str(error.value)


def test_a_sample_needs_a_reference_and_nothing_extracted_scores_0() -> None:
    report = Hub("drop_f1").evaluate(predictions=["5", "5"], references=[["", " "], ["5"]])
    assert report["drop_f1"] == {"score": 1, "exact": 1}
    assert report.counts()["drop_f1"] == {"unscored": 1}
    none = Hub("drop_f1", extract="boxed").evaluate(predictions=["5"], references=["5"])
    assert none["drop_f1"] == {"score": 0, "exact": 0}
    assert none.counts()["drop_f1"] == {"unextracted": 1}


@pytest.mark.parametrize(
    "text", ["9" * 1_000_000, "-" * 1_000_000, "x\n" * 100_000, "the " * 200_000, "{" * 100_000]
)
def test_hostile_replies_are_scored(text: str) -> None:
    # Pairing all lines with all lines would take terabytes.
    assert scores(text, ["7\nx"])["exact"] == 0


def test_spans_that_the_other_answer_holds_are_found_among_many() -> None:
    # Half of the 4,000 expected spans are predicted; pair by pair these would be eight million.
    spans = [f"span {number}" for number in range(4_000)]
    report = Hub("drop_f1").evaluate(
        predictions=["\n".join(spans[::-2])], references=["\n".join(spans)]
    )
    assert report.scores()["drop_f1"] == {"score": 0.5, "exact": 0.0}


def test_answers_of_too_many_spans_are_unanswered_with_the_number() -> None:
    texts = [lines([f"{side} {number}" for number in range(3)]) for side in "ab"]
    hub = Hub(["drop_f1(max_pairs=8)", "all = drop_f1(max_pairs=None)"])
    report = hub.evaluate(predictions=texts[:1] * 2, references=[texts, [texts[1]]])
    # One answer of the first sample equals the prediction, but the other makes 9 pairs with it.
    assert report.counts() == {"drop_f1": {"unanswered": 2}, "all": {}}
    assert dict(report.results["drop_f1"].reasons) == {
        "there are over 8 pairs of spans; max_pairs=None compares them": 2
    }
