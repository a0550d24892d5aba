"""Calibrated means by hand: weights, intervals, what is left out, and what is said of the judge."""

from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
import scipy.stats

from benchmarks.coverage_calibrated import coverage, normal, yes_no
from metrichub.agreement import calibrated_mean
from metrichub.agreement.shares import Share, agresti_coull, weighted_sum
from metrichub.errors import InputError
from metrichub.evaluation.distributions import student

NAN = float("nan")
RATINGS = [1.5, 2, 3, 4, 5, 6, 7, 8, 9, 10.5]
YES_NO = [1, 1, 1, 0, 1, 0, 0, 0, 1, 0, 1, 1]


@pytest.mark.parametrize(
    ("judge", "more"),
    [
        # A judge that says the opposite, one that says always the same, one that is given none, and
        # one of whom nothing else is known.
        ([*range(10, 0, -1), 3, 4, 5, 6, 9], {}),
        ([3.0] * 15, {}),
        ([*range(1, 11), 3, 4, 5, 6, 9], {"weight": 0.0}),
        ([*range(1, 11)], {}),
    ],
)
def test_a_judge_without_weight_leaves_the_interval_of_the_labels(judge: Any, more: Any) -> None:
    human = RATINGS + [NAN] * (len(judge) - len(RATINGS))
    mean = calibrated_mean(judge, human, confidence=0.9, **more)
    ends = scipy.stats.t.interval(0.9, 9, np.mean(RATINGS), scipy.stats.sem(RATINGS))
    assert mean.weight == 0
    assert (mean.low, mean.high, mean.labels_low, mean.labels_high) == pytest.approx(ends * 2)


@pytest.mark.parametrize("others", [[4.0], [4.0, 9.0], [4.0, 9.0, 2.0]])
@pytest.mark.parametrize("weight", [None, 0.5])
def test_others_add_their_variance_from_two_on(others: list[float], weight: float | None) -> None:
    y = np.array(RATINGS)
    f = np.array([2.0, 1, 4, 3, 6, 4, 7, 9, 8, 9])
    judge, human = [*f, *others], [*y, *[NAN] * len(others)]
    mean = calibrated_mean(judge, human, weight=weight)
    # What the weight is divided by makes the variance of the mean least: cov / (1 + n/N) var.
    least = np.cov(y, f, bias=True)[0, 1] / (1 + 10 / len(others)) / np.var(judge, ddof=1)
    of = least if weight is None else weight
    assert 0 < least < 1
    assert mean.weight == pytest.approx(of)
    assert mean.mean == pytest.approx((y - of * f).mean() + of * np.mean(others))
    freedom = 8 if weight is None else 9
    a = ((y - of * f - (y - of * f).mean()) ** 2).sum() / 10 / freedom
    b = of**2 * np.var(others, ddof=1) / len(others) if len(others) > 1 else 0
    more = b**2 / (len(others) - 1) if b else 0
    half = scipy.stats.t.ppf(0.975, (a + b) ** 2 / (a**2 / freedom + more)) * sqrt(a + b)
    assert (mean.low, mean.high) == pytest.approx((mean.mean - half, mean.mean + half))


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_interval_of_yes_and_no_is_that_of_a_weighted_sum(confidence: float) -> None:
    # The judge says yes to 7 of 12 labeled samples, people to 5 of them; of its 5 no to 2. Of 20
    # others it says yes to 5: 12 of 32 in all.
    judge = [1] * 7 + [0] * 5 + [1] * 5 + [0] * 15
    human = [1] * 5 + [0] * 2 + [1] * 2 + [0] * 3 + [NAN] * 20
    mean = calibrated_mean(judge, human, confidence=confidence)
    yes, no = agresti_coull(5, 7, confidence), agresti_coull(2, 5, confidence)
    often = 12 / 32
    value = often * 5 / 7 + (1 - often) * 2 / 5
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    # How often the judge says yes is a share of 32 samples, and moves the mean by 5/7 - 2/5.
    share = (z * (5 / 7 - 2 / 5)) ** 2 * often * (1 - often) / 32
    below = (often * (5 / 7 - yes.low)) ** 2 + ((1 - often) * (2 / 5 - no.low)) ** 2
    above = (often * (yes.high - 5 / 7)) ** 2 + ((1 - often) * (no.high - 2 / 5)) ** 2
    ends = value - sqrt(below + share), value + sqrt(above + share)
    assert mean[:3] == pytest.approx((value, *ends))
    assert mean.weight == pytest.approx((5 / 7 - 2 / 5) * 20 / 32)
    alone = agresti_coull(7, 12, confidence)
    assert (mean.labels_alone, mean.labels_low, mean.labels_high) == alone


@pytest.mark.parametrize("says", [1, 0])
def test_a_verdict_that_no_label_has_counts_as_the_labels_do(says: int) -> None:
    # People say yes to 9 of 12, to all of which the judge says the same; of 6 others 2 differ.
    judge = [says] * 12 + [says] * 4 + [1 - says] * 2
    mean = calibrated_mean(judge, [1] * 9 + [0] * 3 + [NAN] * 6)
    assert mean.mean == pytest.approx(9 / 12)
    assert mean.weight == 0
    # Of the other verdict the share may be anything: 1/9 of a distance from 3/4 to 0 and to 1.
    share = agresti_coull(9, 12)
    below = (8 / 9 * (3 / 4 - share.low)) ** 2 + (1 / 9 * 3 / 4) ** 2
    above = (8 / 9 * (share.high - 3 / 4)) ** 2 + (1 / 9 * 1 / 4) ** 2
    assert (mean.low, mean.high) == pytest.approx((3 / 4 - sqrt(below), 3 / 4 + sqrt(above)))


@pytest.mark.parametrize("human", [YES_NO, [*RATINGS, 3, 4]])
def test_a_sample_without_a_score_is_left_out(human: list[float]) -> None:
    judge = [0.2, 0.9, 0.6, 0.1, 0.7, 0.4, 0.5, 0.2, 0.8, 0.3, 0.9, 0.6, 0.3, 0.9]
    labels = [*human, NAN, NAN]
    alone = calibrated_mean(judge, labels)
    with_more = calibrated_mean([NAN, *judge, NAN], [1, *labels, NAN])
    assert repr(with_more) == repr(alone)
    assert (alone.labelled, alone.unlabelled) == (12, 2)
    assert alone.raw == pytest.approx(sum(judge) / 14)


def test_only_yes_and_no_that_no_weight_corrects_tell_how_far_both_agree() -> None:
    # Scores of .5 and more are yes: the judge says yes to 3 of 4, people to 2 of those and 1 more.
    judge, human = [0.5, 0.75, 1, 0.25], [1, 1, 0, 1]
    mean = calibrated_mean(judge, human)
    assert (mean.judged, mean.same) == (3 / 4, 2 / 4)
    # By chance they agree on 3/4 · 3/4 + 1/4 · 1/4.
    assert mean.kappa == pytest.approx((1 / 2 - 5 / 8) / (1 - 5 / 8))
    weighted = calibrated_mean(judge, human, weight=1.0)
    assert weighted.judged == 2.5 / 4
    assert np.isnan([weighted.same, weighted.kappa]).all()


@pytest.mark.parametrize(
    ("judged", "people", "agree", "lean"),
    [
        (3.5, 3.25, (), "is 0.25 above people on average"),
        (2.75, 3.25, (), "is 0.5 below people on average"),
        (3, 3, (), "is 0 below people on average"),
        (1, 1, (1,), "says yes to 100% and people to 100%; they agree on 100%"),
        (
            *(0.25, 0.5, (0.75, 0.5)),
            "says yes to 25% and people to 50%; they agree on 75%, Cohen's kappa 0.50",
        ),
    ],
)
def test_a_judge_leans_above_or_below(
    judged: float, people: float, agree: tuple[float, ...], lean: str
) -> None:
    options = dict(zip(("same", "kappa"), agree, strict=False))
    mean = calibrated_mean([1, 2, 3, 4], [1, 2, 3, 4])._replace(
        judged=judged, labels_alone=people, **options
    )
    assert mean.lean == f"on 4 labels the judge {lean}"


def test_eight_labels_of_another_kind_carry_an_interval() -> None:
    mean = calibrated_mean([1.0, 5.0] * 20, [4.0] * 12 + [3.0, 5.0] * 4 + [NAN] * 20)
    assert (mean.why, mean.few, np.isfinite(mean.low)) == (None, False, True)


@pytest.mark.parametrize("labelled", [0, 1])
def test_one_label_calibrates_nothing(labelled: int) -> None:
    with pytest.raises(InputError, match=f"2 labeled samples, better 100, not {labelled}"):
        calibrated_mean([1, 0, 1], [1] * labelled + [NAN] * (3 - labelled))
    assert calibrated_mean([1, 0, 1], [1, 0, NAN]).labelled == 2


@pytest.mark.parametrize(
    ("judge", "shares"),
    [([0, 1, 0, 1], True), ([0, 1, -0.1, 1], False), ([0, 1, 0, 1.1], False)],
)
def test_scores_of_all_samples_lie_between_0_and_1_for_yes_and_no(
    judge: list[float], shares: bool
) -> None:
    mean = calibrated_mean(judge, [0, 1, NAN, NAN])
    assert np.isnan(mean.same) != shares


@pytest.mark.parametrize("rate", [0.5, 0.99])
@pytest.mark.parametrize(("right", "labels"), [(0.7, 10), (0.9, 50)])
def test_intervals_of_yes_and_no_hold_the_true_rate(rate: float, right: float, labels: int) -> None:
    # At a coverage of .92 500 sets fall below .89 in .7% of all runs.
    coverages = coverage(yes_no(rate, right), labels, sets=500)
    assert coverages.none == 0
    assert coverages.held >= 0.89


def test_intervals_of_ratings_hold_the_true_mean() -> None:
    coverages = coverage(normal(1.0), 10, sets=500)
    assert coverages.none < 0.05
    assert 0.9 <= coverages.held <= 0.98


def test_yes_and_no_may_change_places() -> None:
    random = np.random.default_rng(3)
    human = (random.random(60) < 0.9).astype(float)
    judge = np.where(random.random(60) < 0.8, human, 1 - human)
    human[25:] = NAN
    yes, no = calibrated_mean(judge, human), calibrated_mean(1 - judge, 1 - human)
    assert (no.low, no.high) == pytest.approx((1 - yes.high, 1 - yes.low))
    assert (no.mean, no.weight) == pytest.approx((1 - yes.mean, yes.weight))


@pytest.mark.parametrize(
    ("judge", "human", "why"),
    [
        ([1.0] * 12, [1, 0, 1, 0, 1, 0, 1, 0, 1], "9 yes/no labels: an interval takes 10"),
        ([5.0] * 60, [5.0] * 50, "0 of 50 labels differ from the most common one: an interval ta"),
        # Ratings from 1 to 5 that happen to be 1 are no yes: the judge says 3.
        ([1.0] * 49 + [3.0], [1.0] * 40, "0 of 40 labels differ"),
        # Seven of the other kind are one too few.
        ([1.0, 5.0] * 20, [4.0] * 12 + [3.0, 5.0] * 3 + [3.0], "7 of 19 labels differ"),
    ],
)
def test_labels_that_carry_no_interval_say_why(
    judge: list[float], human: list[float], why: str
) -> None:
    mean = calibrated_mean(judge, human + [NAN] * (len(judge) - len(human)))
    assert (mean.why or "").startswith(why)
    assert np.isnan([mean.low, mean.high, mean.labels_low, mean.labels_high]).all()
    assert not np.isnan([mean.mean, mean.labels_alone]).any()
    assert mean.few


def test_the_quantile_of_student_s_t_is_scipy_s() -> None:
    for confidence in (0.01, 0.5, 0.9, 0.95, 0.999):
        for freedom in (1, 2, 3.5, 10, 99, 1000):
            expected = scipy.stats.t.ppf((1 + confidence) / 2, freedom)
            assert student(freedom, confidence) == pytest.approx(expected, rel=1e-9)


def test_distances_from_shares_to_their_ends_add_up_by_their_squares() -> None:
    # Below, .5 · .6 and .5 · .8 make .5; above, .5 · .2 alone; a variance adds to both.
    parts = [(0.5, Share(0.8, 0.2, 1.0)), (0.5, Share(1.0, 0.2, 1.0))]
    assert weighted_sum(parts) == pytest.approx((0.9, 0.4, 1.0))
    assert weighted_sum(parts, 0.75**2 - 0.5**2) == pytest.approx((0.9, 0.15, 1.0))
    # The ends stay within 0 and 1, and a share of no weight adds nothing.
    parts = [(1.0, Share(0.9, 0.2, 1)), (0.0, Share(0.3, 0, 1))]
    assert weighted_sum(parts) == pytest.approx((0.9, 0.2, 1))
    assert weighted_sum(parts, 9.0)[1:] == (0, 1)
    assert weighted_sum([]) == (0, 0, 0)


@pytest.mark.parametrize("of", [10, 20, 50])
def test_agresti_and_coull_hold_every_share(of: int) -> None:
    # The exact coverage, a sum over all counts; Wilson's falls to .84 at .01 and .99.
    ends = [agresti_coull(count, of) for count in range(of + 1)]
    for share in np.arange(1, 100) / 100:
        chances = scipy.stats.binom.pmf(range(of + 1), of, share)
        held = sum(p for p, e in zip(chances, ends, strict=True) if e.low <= share <= e.high)
        assert held >= 0.92, share


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_a_weight_that_is_given_holds_for_yes_and_no_too(weight: float) -> None:
    # The judge says yes to 3 of 4 labeled samples, people to 2, and to 1 of 2 others.
    judge, human = [1, 1, 1, 0, 1, 0], [1, 1, 0, 0, NAN, NAN]
    mean = calibrated_mean(judge, human, weight=weight)
    assert mean.mean == pytest.approx(2 / 4 + weight * (1 / 2 - 3 / 4))
    assert mean.weight == weight


def test_scores_and_ratings_are_of_the_same_samples() -> None:
    with pytest.raises(InputError, match=r"\(2,\) scores and \(3,\) ratings don't match"):
        calibrated_mean([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match=r"\(1, 2\) scores and \(1, 2\) ratings don't match"):
        calibrated_mean([[1, 2]], [[1, 2]])


def test_labels_of_all_samples_are_a_share_of_their_own() -> None:
    mean = calibrated_mean([1, 0, 1, 0] * 5, [1, 1, 0, 0] * 5)
    assert (mean.mean, mean.low, mean.high) == agresti_coull(10, 20)
    assert mean.weight == 0
