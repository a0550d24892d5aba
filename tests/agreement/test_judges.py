"""Judges beside people: calibrated means, verdicts, the alternative annotator test, MQM."""

from typing import Any

import numpy as np
import pytest
import scipy.stats

from metrichub.agreement import (
    alternative_test,
    corrected_rate,
    correlate,
    error_weight,
    judge_consistency,
    krippendorff_alpha,
    rater_span_scores,
    span_ratings,
    span_scores,
    verdict_agreement,
    williams_test,
    wilson,
)
from metrichub.errors import InputError, ParameterError
from metrichub.evaluation.distributions import t_tail

NAN = float("nan")


@pytest.mark.parametrize(
    ("judge", "epsilon", "p"),
    [([0, 1, 0, 1], 0.2, 0.0), ([0, 1, 0, 1], 0.0, 1.0), ([1, 0, 1, 0], 0.2, 1.0)],
)
def test_a_lead_that_is_always_the_same_decides_the_alternative_test(
    judge: list[int], epsilon: float, p: float
) -> None:
    # Raters who agree lead by 0 where the judge agrees with them, else by 1.
    result = alternative_test(judge, [[0] * 3, [1] * 3] * 2, epsilon=epsilon)
    assert (result.p_values, result.winning_rate) == ((p, p, p), 1 - p)


@pytest.mark.parametrize("human", [[1, 0, 1], [[1, 0], [0, 1]]])
def test_verdicts_are_one_a_sample(human: Any) -> None:
    with pytest.raises(InputError, match="don't match"):
        verdict_agreement([[1, 0], [0, 1]], human)


@pytest.mark.parametrize("rate", [0.5, 0.4, 0.0])
def test_a_judge_at_chance_or_below_corrects_no_rate(rate: float) -> None:
    assert np.isnan(corrected_rate(0.5, rate, rate))


def test_the_tail_of_student_s_t_is_scipy_s() -> None:
    for t in (-np.inf, -30, -2.5, -0.01, 0, 0.3, 1, 4, 50, np.inf, NAN):
        for freedom in (1, 2, 3.5, 10, 99, 1000):
            assert t_tail(t, freedom) == pytest.approx(
                scipy.stats.t.sf(t, freedom), abs=1e-12, nan_ok=True
            )


def test_williams_test_says_nothing_of_the_same_perfect_metric_twice() -> None:
    # The correlations leave no variance: K is 1 - 3 + 2, and 1 - r23 is 0.
    assert np.isnan(williams_test(1, 1, 1, 10))


def test_williams_test_takes_four_items_or_more() -> None:
    with pytest.raises(InputError, match="at least 4 items, not 3"):
        williams_test(0.5, 0.4, 0.3, 3)


@pytest.mark.parametrize(
    ("raters", "message"),
    [
        ([[1, 1], [2, 2]], "at least three raters, not 2"),
        ([1, 2], r"a judge's \(2,\) and the raters' \(2,\) labels don't"),
        (np.ones((3, 3)), r"a judge's \(2,\) and the raters' \(3, 3\) labels don't"),
    ],
)
def test_the_alternative_test_names_what_it_can_not_take(raters: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        alternative_test([1, 2], raters)
    with pytest.raises(ParameterError, match="score='rmse'"):
        alternative_test([1], [[1, 1, 1]], score="rmse")  # type: ignore[arg-type]  # a wrong word


def test_error_spans_become_scores_of_segments() -> None:
    # Two raters of s1: one marks a major and a minor error, the other punctuation. The mean of
    # -6 and -.1 is -3.05. Nobody marked an error in s2, and nobody saw s3.
    segments, raters = ["s1", "s1", "s1", "s2"], ["r1", "r1", "r2", "r1"]
    severities = ["Major", "Minor", "Minor", "No-error"]
    categories = ["Accuracy/Omission", "Style/Awkward", "Fluency/Punctuation", "No-error"]
    scores = span_scores(segments, severities, categories, raters)
    assert scores == {"s1": pytest.approx(-3.05), "s2": 0}
    with pytest.raises(InputError, match="not 'grave'"):
        error_weight("grave")
    for columns in ((["s1"], []), (["s1"], ["minor"], ["", ""]), (["s1"], ["minor"], [""], [])):
        with pytest.raises(InputError, match="one entry per error"):
            span_scores(*columns)


@pytest.mark.parametrize(
    ("severity", "category", "weight"),
    [
        ("Major", "", 5), ("critical", "Style", 5), (" minor ", "", 1), ("neutral", "", 0),
        ("no error", "", 0), ("No-Error", "", 0),
        # Punctuation counts little as a minor error alone, and some categories by themselves.
        ("minor", "Fluency/Punctuation", 0.1), ("major", "fluency/punctuation", 5),
        ("minor", "No-error", 0), ("major", " no error", 0),
        ("minor", "Non-translation!", 25), ("neutral", "non-translation", 25),
    ],
)  # fmt: skip
def test_an_error_weighs_by_severity_and_category(
    severity: str, category: str, weight: float
) -> None:
    assert error_weight(severity, category) == weight


MINOR, MAJOR = {"severity": "minor"}, {"severity": "major", "category": "Accuracy"}


def test_lists_of_errors_in_a_column_are_ratings() -> None:
    point = {"severity": "minor", "category": "Fluency/Punctuation"}
    # -6, -.1 and 0, the second by two raters, -.2 and 0; nobody saw the last.
    errors = [[MINOR, MAJOR], [[point, point], []], [], None]
    assert span_ratings("mqm", errors) == [[-6], [-0.2, 0], [0], None]
    assert span_ratings("mqm", [[{"severity": "minor", "category": NAN}]]) == [[-1]]
    # So too where every sample has several raters, none of whom need have found an error.
    assert span_ratings("mqm", [[[MINOR], []], [[], []]]) == [[-1, 0], [0, 0]]
    agreement = correlate([1, 2, 3, 4], {"mqm": errors}, coefficient="spearman", draws=0)
    assert (agreement.row().value, agreement.row().used, agreement.data.raters) == (1, 1, 2)
    several = {"mqm": [[[MINOR], [MAJOR]], [[], []]]}
    assert correlate([1, 2], several, coefficient="spearman", draws=0).data.raters == 2


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("minor", "mqm is 'minor' .str.; errors are a list of dicts"),
        ([1.5], "mqm is .* errors are a list of dicts"),
        ([{"severity": "grave"}], "mqm: an error is 'major', 'minor' or 'no-error', not"),
        ([{"category": "Style"}], "mqm has an error with the severity None, not a word"),
    ],
)
def test_what_is_no_error_is_told_by_its_sample(cell: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"sample 1: {message}"):
        correlate([1, 2], {"mqm": [[MINOR], cell]})


def test_errors_keep_their_raters_apart() -> None:
    scores = rater_span_scores(["s", "s", "s"], ["major", "minor", "minor"], None, ["A", "A", "B"])
    assert scores == {"s": {"A": -6, "B": -1}}
    with pytest.raises(InputError, match="row 1: an error is 'major'"):
        rater_span_scores(["s", "s"], ["major", "worse"])


@pytest.mark.parametrize(("factor", "winning"), [(1.001, 1), (0.999, 0)])
def test_the_false_discovery_rate_is_benjamini_and_yekutieli_s(
    factor: float, winning: float
) -> None:
    # All three hypotheses are rejected if the largest p is at most rate / (1 + 1/2 + 1/3), and none
    # if it isn't and the others are just as large.
    judge, raters = [1] + [0] * 9, [[0] * 3] * 10
    # The raters lead by 1 once in ten: a mean of .1 with a standard error of .1, .1 below epsilon.
    p = scipy.stats.t.sf(1, 9)
    assert alternative_test(judge, raters).p_values == pytest.approx((p, p, p))
    rate = factor * p * (1 + 1 / 2 + 1 / 3)
    assert alternative_test(judge, raters, rate=rate).winning_rate == winning


def test_verdicts_of_several_runs_have_a_share_alpha_and_kappa() -> None:
    consistency = judge_consistency("mine", [[1, 0, 1, 1], [1, 1, 1, 0]])
    assert consistency.same == wilson(2, 4)
    # Fleiss: pairs of an item agree in 2 of 4, by chance in (6/8)² + (2/8)² = 5/8.
    assert consistency.kappa == pytest.approx((1 / 2 - 5 / 8) / (1 - 5 / 8))
    # Krippendorff: 4 of 8 ratings are beside another one; of 2 and 6 drawn from 8 it were 24/56.
    assert consistency.alpha == pytest.approx(1 - (4 / 8) / (24 / 56))
    assert consistency.runs == 2
    assert np.isnan(consistency.order).all()


def test_grades_have_no_kappa_and_a_sample_counts_that_all_runs_scored() -> None:
    runs = np.array([[4, 3, NAN], [4, 5, 2], [4, 3, 2]])
    consistency = judge_consistency("mine", runs)
    assert consistency.same == wilson(1, 2)
    assert np.isnan(consistency.kappa)
    assert consistency.alpha == pytest.approx(krippendorff_alpha(runs.T))
    nothing = judge_consistency("mine", [[NAN, 1], [1, NAN]], [NAN])
    assert np.isnan([nothing.same.value, nothing.kappa, nothing.order.value]).all()


def test_one_run_has_an_order_alone() -> None:
    consistency = judge_consistency("mine", [[1, 0.5, 0.5]], [1, 0, NAN])
    assert consistency.order == wilson(1, 2)
    assert consistency.runs == 1
    assert np.isnan([consistency.same.value, consistency.alpha]).all()
    flat = consistency.as_dict()
    assert list(flat) == [
        *("metric", "runs", "same", "same_low", "same_high", "alpha", "kappa"),
        *("order", "order_low", "order_high"),
    ]
    assert [flat[name] for name in ("order", "order_low", "order_high")] == [*consistency.order]


def test_verdicts_may_be_half_right() -> None:
    assert judge_consistency("mine", [[0, 0.5, 1], [0, 0.5, 1]]).kappa == 1
    assert np.isnan(judge_consistency("mine", [[0, 0.25, 1], [0, 0.25, 1]]).kappa)
