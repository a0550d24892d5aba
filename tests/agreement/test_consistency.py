"""How far judges agree with themselves, over runs and in both orders."""

import numpy as np
import pytest

from metrichub.agreement import judge_consistency, krippendorff_alpha, wilson

NAN = float("nan")


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


@pytest.mark.parametrize("share", ["same", "order"])
def test_shares_have_the_interval_of_their_confidence(share: str) -> None:
    low = [
        getattr(judge_consistency("mine", [[1, 0], [1, 1]], [1, 0], *told), share).low
        for told in ((0.5,), (), (0.95,))
    ]
    assert low[0] > low[1] == low[2]


def test_verdicts_may_be_half_right() -> None:
    assert judge_consistency("mine", [[0, 0.5, 1], [0, 0.5, 1]]).kappa == 1
    assert np.isnan(judge_consistency("mine", [[0, 0.25, 1], [0, 0.25, 1]]).kappa)
