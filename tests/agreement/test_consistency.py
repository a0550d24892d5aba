"""How far judges agree with themselves, over runs and in both orders."""

import numpy as np
import pytest

from metrichub.agreement import judge_consistency, wilson

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
    consistency = judge_consistency("mine", [[4, 3, NAN], [4, 5, 2], [4, 3, 2]])
    assert consistency.same == wilson(1, 2)
    assert np.isnan(consistency.kappa)
    assert 0 < consistency.alpha < 1


def test_one_run_has_an_order_alone() -> None:
    consistency = judge_consistency("mine", [[1, 0.5, 0.5]], [1, 0, NAN])
    assert consistency.order == wilson(1, 2)
    assert (consistency.runs, np.isnan(consistency.same.value), np.isnan(consistency.alpha)) == (
        1,
        True,
        True,
    )
    assert consistency.as_dict()["order_low"] == consistency.order.low


def test_verdicts_may_be_half_right() -> None:
    assert judge_consistency("mine", [[0, 0.5, 1], [0, 0.5, 1]]).kappa == 1
    assert np.isnan(judge_consistency("mine", [[0, 0.25, 1], [0, 0.25, 1]]).kappa)
