"""Two metrics and more: Williams' test, ranks, and raters that a judge could replace."""

from math import inf
from typing import Any

import numpy as np
import pytest
import scipy.stats

from metrichub.agreement import (
    acc_eq,
    alternative_test,
    correlate,
    significance_clusters,
    spearman,
    tau_b,
    tau_c,
    williams_test,
)

NAN = float("nan")


@pytest.mark.parametrize(
    ("r12", "r13", "r23", "items"),
    [(0.6, 0.5, 0.4, 4), (0.6, 0.5, 0.4, 30), (0.3, 0.7, -0.2, 12), (-0.4, -0.5, 0.9, 7)],
)
def test_williams_test_is_student_s_t_of_its_formula(
    r12: float, r13: float, r23: float, items: int
) -> None:
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    # Williams (1959), as in Graham and Baldwin (2014), with n - 3 degrees of freedom.
    above = (r12 - r13) * np.sqrt((items - 1) * (1 + r23))
    below = np.sqrt(2 * k * (items - 1) / (items - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3)
    expected = scipy.stats.t.sf(above / below, items - 3)
    assert williams_test(r12, r13, r23, items) == pytest.approx(expected, abs=1e-12)
    # Of the other order it is the other tail.
    assert williams_test(r13, r12, r23, items) == pytest.approx(1 - expected, abs=1e-12)


@pytest.mark.parametrize(
    ("p", "alpha", "ranks"),
    [(0.05, (), [1, 2, 3]), (0.051, (0.05,), [1, 1, 1]), (0.1, (0.1,), [1, 2, 3])],
)
def test_a_rank_takes_a_p_value_of_at_most_alpha(
    p: float, alpha: tuple[float, ...], ranks: list[int]
) -> None:
    result = significance_clusters({"a": 3, "b": 2, "c": 1}, lambda better, worse: p, *alpha)
    assert result == dict(zip("abc", ranks, strict=True))
    assert significance_clusters({}, lambda better, worse: p) == {}


@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("order", ["good bad", "none good bad", "bad none good"])
def test_a_metric_without_a_value_is_in_no_rank_and_no_correction(
    order: str, corrected: bool
) -> None:
    human, noise = np.random.default_rng(1).normal(size=(2, 40))
    scores = {"good": human, "bad": noise, "none": np.ones(40)}
    ordered = {name: scores[name] for name in order.split()}
    agreement = correlate(ordered, human, coefficient="tau_b", draws=0)
    # p is (0 + 1) / 20, and of a single pair the correction changes nothing.
    assert agreement.ranks(corrected=corrected, draws=19, alpha=0.05) == {"good": 1, "bad": 2}


def closeness(score: str, label: float, others: list[float]) -> float:
    """How close a label is to the others', by hand."""
    if score == "accuracy":
        return float(np.mean([label == other for other in others]))
    return -float(np.sqrt(np.mean([(label - other) ** 2 for other in others])))


@pytest.mark.parametrize("score", ["accuracy", "neg_rmse"])
def test_a_judge_is_as_close_to_the_others_as_the_rater_it_replaces(score: Any) -> None:
    raters = np.array([[1.0, 1, 4], [2, 2, 2], [3, 5, NAN], [2, NAN, 4], [1, 2, 3]])
    judge = np.array([1.0, 2, 4, 2, NAN])
    shares, p_values = [], []
    for k in range(3):
        sides = []
        for labels, its in zip(raters[:4], judge[:4], strict=True):
            others = [r for r in np.delete(labels, k) if not np.isnan(r)]
            if others and not np.isnan(labels[k]):
                sides.append([closeness(score, label, others) for label in (labels[k], its)])
        first, other = np.array(sides).T
        lead = (first >= other).astype(float) - (other >= first)
        shares.append(np.mean(other >= first))
        same = len(set(lead)) == 1
        t_test = scipy.stats.ttest_1samp(lead, 0.3, alternative="less") if not same else None
        p_values.append(t_test.pvalue if t_test else float(lead[0] >= 0.3))
    result = alternative_test(judge, raters, score=score, epsilon=0.3)
    assert result.advantage_probability == pytest.approx(np.mean(shares))
    assert result.p_values == pytest.approx(tuple(p_values), abs=1e-9)


def test_the_usual_worth_of_a_rater_is_a_fifth_and_the_usual_rate_a_twentieth() -> None:
    random = np.random.default_rng(4)
    raters, judge = random.integers(1, 4, (30, 3)), random.integers(1, 4, 30)
    usual = alternative_test(judge, raters)
    assert usual == alternative_test(judge, raters, score="accuracy", epsilon=0.2, rate=0.05)
    assert usual.p_values != alternative_test(judge, raters, epsilon=0.3).p_values


def test_a_rater_without_a_p_value_is_not_replaced() -> None:
    # The first rated one sample; the judge is the closer of each of the others on all eight.
    raters = np.array([[2.0 if n == 0 else NAN, 1, 3] for n in range(8)])
    judge = np.array([2.0] * 8)
    result = alternative_test(judge, raters, score="neg_rmse")
    assert np.isnan(result.p_values[0])
    assert result.p_values[1:] == (0, 0)
    assert result.winning_rate == 2 / 3


def test_equal_infinite_scores_are_tied_without_a_warning() -> None:
    scores, human = [inf, inf, 1, -inf, -inf], [1, 2, 1, 1, 1]
    # Of the ten pairs the metric ties two and people six: the four with the 2 are one tie of the
    # metric's and three that are right.
    assert tau_b(scores, human) == pytest.approx(3 / np.sqrt(8 * 4))
    assert acc_eq(scores, human) == (3 + 1) / 10
    assert tau_c(scores, human) == pytest.approx(2 * 3 / (25 * (1 / 2)))
    assert spearman(scores, human) == pytest.approx(scipy.stats.spearmanr(scores, human)[0])


def test_p_values_are_rejected_from_the_smallest_on() -> None:
    # The first rater is as close to the others as the judge on all eight, and they aren't.
    raters, judge = np.array([[2.0, 1, 3]] * 8), np.array([2.0] * 8)
    result = alternative_test(judge, raters, score="neg_rmse", epsilon=0)
    assert (result.p_values, result.winning_rate) == ((1, 0, 0), 2 / 3)
