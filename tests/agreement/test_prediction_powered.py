"""Intervals of calibrated means: they hold the true mean near the edges too, or there is none."""

from statistics import NormalDist

import numpy as np
import pytest
import scipy.stats

from benchmarks.coverage_calibrated import Drawn, coverage, normal, stars, yes_no
from metrichub.agreement import calibrated_mean
from metrichub.agreement.shares import Share, agresti_coull, weighted_sum
from metrichub.errors import InputError
from metrichub.evaluation.distributions import student

NAN = float("nan")
Z = NormalDist().inv_cdf(0.975)


@pytest.mark.parametrize("labels", [10, 20, 50])
@pytest.mark.parametrize("rate", [0.5, 0.95, 0.99])
@pytest.mark.parametrize("right", [0.7, 0.9])
def test_intervals_of_yes_and_no_hold_the_true_rate(rate: float, right: float, labels: int) -> None:
    # At a coverage of .92 one of 18 cells of 500 sets falls below .89 in 1% of all runs.
    coverages = coverage(yes_no(rate, right), labels, sets=500)
    assert coverages.none == 0
    assert coverages.held >= 0.89


@pytest.mark.parametrize(
    ("drawn", "labels"),
    [(normal(1.0), 10), (normal(0.3), 30), (stars((0.02, 0.03, 0.05, 0.1, 0.8)), 100)],
    ids=["normal, 10", "normal, 30", "stars, 100"],
)
def test_intervals_of_ratings_hold_the_true_mean(drawn: Drawn, labels: int) -> None:
    coverages = coverage(drawn, labels, sets=500)
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
    ],
    ids=["few yes and no", "all alike", "the lowest rating"],
)
def test_labels_that_carry_no_interval_say_why(
    judge: list[float], human: list[float], why: str
) -> None:
    mean = calibrated_mean(judge, human + [NAN] * (len(judge) - len(human)))
    assert mean.why is not None
    assert mean.why.startswith(why)
    assert np.isnan([mean.low, mean.high, mean.labels_low, mean.labels_high]).all()
    assert not np.isnan([mean.mean, mean.labels_alone]).any()


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
    assert weighted_sum([(1.0, Share(0.9, 0.2, 1)), (0.0, Share(0.3, 0, 1))], 9.0)[1:] == (0, 1)
    assert weighted_sum([(1.0, Share(0.9, 0.2, 1)), (0.0, Share(0.3, 0, 1))])[1:] == pytest.approx(
        (0.2, 1)
    )
    assert weighted_sum([]) == (0, 0, 0)


@pytest.mark.parametrize("of", [10, 20, 50])
def test_agresti_and_coull_hold_every_share(of: int) -> None:
    # The exact coverage, a sum over all counts; Wilson's falls to .84 at .01 and .99.
    ends = [agresti_coull(count, of) for count in range(of + 1)]
    for share in np.arange(1, 100) / 100:
        chances = scipy.stats.binom.pmf(range(of + 1), of, share)
        held = sum(p for p, e in zip(chances, ends, strict=True) if e.low <= share <= e.high)
        assert held >= 0.92, share


def test_of_no_case_a_share_may_be_anything() -> None:
    assert np.isnan(agresti_coull(0, 0).value)
    assert agresti_coull(0, 0)[1:] == pytest.approx((0, 1))


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_a_weight_that_is_given_holds_for_yes_and_no_too(weight: float) -> None:
    # The judge says yes to 3 of 4 labelled samples, people to 2, and to 1 of 2 others.
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
