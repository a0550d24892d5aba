"""Calibrated means by hand: weights, intervals, what is left out, and what is said of the judge."""

from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest
import scipy.stats

from metrichub.agreement import calibrated_mean
from metrichub.agreement.prediction_powered import CalibratedMean, prediction_powered
from metrichub.agreement.shares import agresti_coull
from metrichub.errors import InputError

NAN = float("nan")
RATINGS = [1.5, 2, 3, 4, 5, 6, 7, 8, 9, 10.5]
YES_NO = [1, 1, 1, 0, 1, 0, 0, 0, 1, 0, 1, 1]


@pytest.mark.parametrize(
    ("judge", "weight"),
    [
        # A judge that says the opposite, one that says always the same, one that is given none, and
        # one of whom nothing else is known.
        ([*range(10, 0, -1), 3, 4, 5, 6, 9], None),
        ([3.0] * 15, None),
        ([*range(1, 11), 3, 4, 5, 6, 9], 0.0),
        ([*range(1, 11)], None),
    ],
)
def test_a_judge_without_weight_leaves_the_interval_of_the_labels(
    judge: list[float], weight: float | None
) -> None:
    human = RATINGS + [NAN] * (len(judge) - len(RATINGS))
    mean = calibrated_mean(judge, human, weight=weight, confidence=0.9)
    ends = scipy.stats.t.interval(0.9, 9, np.mean(RATINGS), scipy.stats.sem(RATINGS))
    assert mean.weight == 0
    assert (mean.low, mean.high) == pytest.approx(ends)
    assert (mean.labels_low, mean.labels_high) == pytest.approx(ends)


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


def test_the_variances_of_a_mean_are_those_of_labels_and_others() -> None:
    # y - f/2 is .5, 1 and 1.5, of the variance 1/6. The others' mean is 3, of which half is added,
    # and their variance 4, of which a quarter.
    found = prediction_powered(
        np.array([1.0, 2, 3]), np.array([1.0, 2, 3]), np.array([1.0, 5]), 0.5
    )
    assert found.mean == pytest.approx(1 + 1.5)
    assert found.of_labels == pytest.approx(1 / 6 / 3)
    assert found.of_others == pytest.approx(1 / 2)
    assert found.weight == 0.5


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_interval_of_yes_and_no_is_that_of_a_weighted_sum(confidence: float) -> None:
    # The judge says yes to 7 of 12 labelled samples, people to 5 of them; of its 5 no to 2. Of 20
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
    own = agresti_coull(9, 12)
    below = (8 / 9 * (3 / 4 - own.low)) ** 2 + (1 / 9 * 3 / 4) ** 2
    above = (8 / 9 * (own.high - 3 / 4)) ** 2 + (1 / 9 * 1 / 4) ** 2
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


@pytest.mark.parametrize(("labels", "known"), [(9, False), (10, True)])
def test_yes_and_no_have_an_interval_from_10_labels_on(labels: int, known: bool) -> None:
    mean = calibrated_mean([1, 0] * 6, [*YES_NO[:labels], *[NAN] * (12 - labels)])
    assert (mean.why is None) is known
    assert np.isfinite([mean.low, mean.high, mean.labels_low, mean.labels_high]).all() == known


@pytest.mark.parametrize("weight", [None, 1.0])
def test_only_yes_and_no_that_no_weight_corrects_tell_how_far_both_agree(
    weight: float | None,
) -> None:
    # Scores of .5 and more are yes: the judge says yes to 3 of 4, people to 2 of those and 1 more.
    mean = calibrated_mean([0.5, 0.75, 1, 0.25], [1, 1, 0, 1], weight=weight)
    if weight is None:
        assert (mean.judged, mean.same) == (3 / 4, 2 / 4)
        # By chance they agree on 3/4 · 3/4 + 1/4 · 1/4.
        assert mean.kappa == pytest.approx((1 / 2 - 5 / 8) / (1 - 5 / 8))
    else:
        assert mean.judged == 2.5 / 4
        assert np.isnan([mean.same, mean.kappa]).all()


def mean_of(**known: float) -> CalibratedMean:
    parts = {"mean": 0.5, "low": NAN, "high": NAN, "weight": 0.0, "raw": 0.5, "labels_alone": 0.5}
    more = {"labels_low": NAN, "labels_high": NAN, "labelled": 4, "unlabelled": 0, "rarer": 1}
    return CalibratedMean(**{**parts, **more, **known})  # type: ignore[arg-type]  # numbers


@pytest.mark.parametrize(
    ("known", "lean"),
    [
        (
            {"judged": 3.5, "labels_alone": 3.25},
            "on 4 labels the judge is 0.25 above people on average",
        ),
        (
            {"judged": 2.75, "labels_alone": 3.25},
            "on 4 labels the judge is 0.5 below people on average",
        ),
        ({"judged": 3, "labels_alone": 3}, "on 4 labels the judge is 0 below people on average"),
        (
            {"judged": 1, "labels_alone": 1, "same": 1},
            "on 4 labels the judge says yes to 100% and people to 100%; they agree on 100%",
        ),
        (
            {"judged": 0.25, "labels_alone": 0.5, "same": 0.75, "kappa": 0.5},
            "on 4 labels the judge says yes to 25% and people to 50%; they agree on 75%, "
            "Cohen's kappa 0.50",
        ),
    ],
)
def test_a_judge_leans_above_or_below(known: dict[str, float], lean: str) -> None:
    assert mean_of(**known).lean == lean


@pytest.mark.parametrize(("labels", "rarer"), [([1, 2, 3, 3], 2), ([1, 1, 1, 2], 1), ([5, 5], 0)])
def test_labels_beside_the_most_common_one_are_counted(labels: list[float], rarer: int) -> None:
    assert calibrated_mean(labels, labels).rarer == rarer


@pytest.mark.parametrize("labelled", [0, 1])
def test_one_label_calibrates_nothing(labelled: int) -> None:
    with pytest.raises(InputError, match=f"2 labelled samples, better 100, not {labelled}"):
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
