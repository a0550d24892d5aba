"""Aggregates: the arithmetic between verdicts and scores."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub.authoring import Verdict, WeighedVerdict
from metrichub.judge.aggregate import ClaimCounts, average_precision, cosine, f_beta, ratio, values

LABELS = st.lists(st.sampled_from([0.0, 1.0]), max_size=12)


def verdicts(*words: str) -> list[Verdict]:
    return [Verdict(i, f"item {i}", word, "") for i, word in enumerate(words)]


def test_ratio_of_one_of_two_is_a_half() -> None:
    # The example in ragas' documentation of faithfulness: verdicts 1 and 0.
    assert ratio(verdicts("yes", "no")) == 0.5


def test_ratio_weighs_words_and_unlisted_ones_count_nothing() -> None:
    result = verdicts("yes", "idk", "no", "yes")
    assert ratio(result, {"yes": 1.0, "idk": 0.5}) == 2.5 / 4
    assert values(result, "idk") == [0, 1, 0, 0]


def test_what_is_not_supported_is_wrong_here_and_missed_there() -> None:
    prediction, reference = verdicts("yes", "no", "idk", "yes"), verdicts("yes", "no", "idk")
    # Two of the prediction's four hold; of the reference's three two find no support.
    assert ClaimCounts.of(prediction, reference) == (2, 2, 2)


def test_a_weighed_verdict_counts_its_words_by_their_fractions() -> None:
    weighed = WeighedVerdict(0, "item", "yes", "", {"yes": 0.75, "idk": 0.25})
    plain = Verdict(1, "item", "no", "")
    assert values([weighed, plain]) == [0.75, 0]
    assert values([weighed, plain], {"yes": 1.0, "idk": 0.5}) == [0.875, 0]
    assert values([weighed, plain], {"no": 1.0, "idk": 1.0}) == [0.25, 1]
    assert ratio([weighed, plain]) == 0.375
    # 0.75 right and 0.25 + 1 wrong; of the reference's one, 0.25 is missed.
    assert ClaimCounts.of([weighed, plain], [weighed]) == (0.75, 1.25, 0.25)


def test_nothing_over_nothing_is_nan() -> None:
    assert math.isnan(ratio([]))
    assert math.isnan(average_precision([]))
    assert math.isnan(f_beta(0, 0, 0))


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([1, 0], 1.0),
        ([0, 1], 0.5),
        ([1, 0, 1], 5 / 6),  # (1/1 + 2/3) / 2
        ([0, 0], 0.0),
        ([1, 1, 1], 1.0),
    ],
)
def test_average_precision_of_labels_by_rank(labels: list[float], expected: float) -> None:
    assert average_precision(labels) == pytest.approx(expected, abs=1e-15)


@given(LABELS.filter(any))
def test_average_precision_is_the_mean_precision_at_relevant_ranks(labels: list[float]) -> None:
    precisions = [sum(labels[:k]) / k for k in range(1, len(labels) + 1) if labels[k - 1]]
    assert average_precision(labels) == pytest.approx(sum(precisions) / len(precisions))


def test_f_beta_of_counts() -> None:
    # One true, one false of either kind: P = R = 1/2, so any F is 1/2.
    assert f_beta(1, 1, 1) == 0.5
    assert f_beta(1, 1, 1, beta=2) == 0.5
    # P = 1, R = 1/2: F1 = 2/3, F2 = 5 * 1/2 / (4 + 1/2) = 5/9.
    assert f_beta(1, 0, 1) == pytest.approx(2 / 3)
    assert f_beta(1, 0, 1, beta=2) == pytest.approx(5 / 9)
    assert f_beta(0, 3, 0) == 0.0


@given(LABELS.filter(bool))
def test_an_unsupported_claim_never_raises_the_ratio(labels: list[float]) -> None:
    words = ["yes" if label else "no" for label in labels]
    assert ratio(verdicts(*words, "no")) <= ratio(verdicts(*words))


def test_cosines_of_every_pair() -> None:
    first = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    other = np.array([[2.0, 0.0], [0.0, -3.0]])
    root = math.sqrt(0.5)
    expected = [[1, 0], [root, -root], [math.nan, math.nan]]
    assert cosine(first, other) == pytest.approx(np.array(expected), nan_ok=True)
