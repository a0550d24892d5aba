"""Permutation tests by hand: every swap at every level, its coins, and the sign test of pairs."""

from statistics import NormalDist

import numpy as np
import pytest
from numpy.typing import NDArray

from metrichub.agreement import permutation
from metrichub.agreement.levels import LEVELS, value_at
from metrichub.agreement.permutation import (
    SWAPS,
    Swapped,
    _coins,
    _sign_tail,
    pair_swap_test,
    permutation_test,
)
from metrichub.errors import ParameterError

Array = NDArray[np.float64]
NAN = float("nan")


def sides(seed: int = 1, shape: tuple[int, int] = (4, 6)) -> tuple[Array, Array, Array]:
    """Two metrics and ratings with ties, each of which lacks another cell."""
    random = np.random.default_rng(seed)
    human = np.round(2 * random.normal(size=shape))
    a, b = (np.round(human + 2 * random.normal(size=shape), 1) for _ in range(2))
    a[0, 0] = b[1, 2] = human[3, 4] = np.nan
    return a, b, human


def difference(level: str, name: str, a: Array, b: Array, human: Array) -> float:
    return value_at(level, name, a, human).value - value_at(level, name, b, human).value


@pytest.mark.parametrize("swap", ["systems_xor_items", "cells", "items", "systems"])
@pytest.mark.parametrize(
    ("level", "name"),
    [
        ("item", "tau_b"),
        ("item", "tau_23"),
        ("item", "acc_eq"),
        ("item", "pearson"),
        ("item", "spearman"),
        ("pooled", "tau_b"),
        ("system", "acc_eq"),
        ("within_system", "pearson"),
    ],
)
def test_a_swap_gives_each_metric_what_the_other_had(level: str, name: str, swap: str) -> None:
    a, b, human = sides(3)
    # Nothing orders the outputs of an item, and one metric not those of another.
    human[:, 5] = a[:, 4] = 1
    missing = np.isnan(a + b + human)
    a, b, human = (np.where(missing, np.nan, side) for side in (a, b, human))
    how = Swapped(swap, 30, seed=5)
    test = permutation_test(level, name, a, b, human, how)
    observed = difference(level, name, a, b, human)
    # Whole items of a mean over items change places as they are; all else by standard scores.
    kept = (level, swap) == ("item", "items")
    own, other = (side if kept else (side - np.nanmean(side)) / np.nanstd(side) for side in (a, b))
    (coins,) = _coins((1, 6) if kept else human.shape, how, swap)
    drawn = np.array(
        [
            difference(level, name, np.where(c, other, own), np.where(c, own, other), human)
            for c in coins
        ]
    )
    hits = (np.abs(drawn) >= abs(observed) - 1e-9).sum()
    assert test.difference == pytest.approx(observed)
    assert (test.p, test.draws) == ((hits + 1) / 31, 30)


@pytest.mark.parametrize("name", ["tau_b", "pearson", "spearman"])
def test_draws_that_leave_no_value_do_not_count(name: str) -> None:
    # Where one of the two systems changes places, each metric gives both the same score; where
    # both or none do, the metrics are as far apart as before.
    a, b, human = np.array([[0.0], [1.0]]), np.array([[1.0], [0.0]]), np.array([[0.0], [1.0]])
    how = Swapped("systems", 40)
    (coins,) = _coins((2, 1), how, "systems")
    alike = int((coins[:, 0, 0] == coins[:, 1, 0]).sum())
    assert 0 < alike < 40
    test = permutation_test("item", name, a, b, human, how)
    assert test.difference == pytest.approx(2)
    assert (test.p, test.draws) == (1, alike)


def test_a_test_has_a_thousand_draws_of_both_unless_it_is_told() -> None:
    a, b, human = sides()
    usual = permutation_test("item", "tau_b", a, b, human, Swapped())
    assert usual == permutation_test(
        "item", "tau_b", a, b, human, Swapped("systems_xor_items", 1000, 12345)
    )
    assert usual.draws == 1000


def test_without_a_value_the_swap_is_told_all_the_same() -> None:
    a, b, _ = sides()
    for swap in ("cells", "items"):
        test = permutation_test("item", "tau_b", a, b, np.ones(a.shape), Swapped(swap, 9))
        assert (test.swap, test.draws) == (swap, 0)
        assert np.isnan([test.difference, test.p]).all()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("swap", SWAPS)
def test_calibrated_accuracy_swaps_whole_items_of_their_mean_or_pairs(
    level: str, swap: str
) -> None:
    test = ("acc_eq_calibrated", *sides(), Swapped(swap, 9))
    if swap == "pairs" or (level, swap) == ("item", "items"):
        assert 0 < permutation_test(level, *test).p <= 1
    else:
        with pytest.raises(ParameterError, match="own threshold of tie calibration"):
            permutation_test(level, *test)


@pytest.mark.parametrize("name", ["acc_eq", "tau_23", "acc_eq_calibrated"])
@pytest.mark.parametrize("level", LEVELS)
def test_a_test_of_pairs_has_the_difference_of_the_coefficient(level: str, name: str) -> None:
    a, b, human = sides(4)
    missing = np.isnan(a + b + human)
    a, b, human = (np.where(missing, np.nan, side) for side in (a, b, human))
    test = permutation_test(level, name, a, b, human, Swapped("pairs", 30))
    assert test.difference == pytest.approx(difference(level, name, a, b, human))
    assert (test.swap, test.draws) == ("pairs", 30)


@pytest.mark.parametrize("name", ["tau_b", "acc_eq", "tau_23"])
# 4 systems have 16 ordered pairs: of 6 items, 3 fit into 48 cells, and 2 into one less.
@pytest.mark.parametrize("cells", [48, 47, 64, 1])
def test_parts_of_items_change_no_test(
    cells: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = ("item", name, *sides(6), Swapped("cells", 40))
    whole = permutation_test(*test)
    monkeypatch.setattr(permutation, "_BLOCK", cells)
    assert permutation_test(*test) == pytest.approx(whole)


def test_coins_are_one_stream_of_numpy_s_generator() -> None:
    # On record, so that another version draws the same: published tests can be made again.
    how = Swapped(draws=6, seed=7)
    tossed = np.random.default_rng(7).random((6, 7), np.float32) < 0.5
    of_systems, of_items = tossed[:, :3, None], tossed[:, None, 3:]
    ones = np.ones((6, 3, 4), bool)
    expected = {
        "systems_xor_items": of_systems != of_items,
        "systems": of_systems & ones,
        "items": of_items & ones,
        "cells": np.random.default_rng(7).random((6, 3, 4), np.float32) < 0.5,
    }
    for swap, coins in expected.items():
        (block,) = _coins((3, 4), how, swap)
        np.testing.assert_array_equal(block, coins, err_msg=swap)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        # Two of three pairs part the metrics, both for the first: 1 of 4 outcomes, and 2 of 4.
        ([[1, 1, 0]], [[0, 0, 0]], (2 / 3, 1 / 4, 1 / 2)),
        # As many for either: 3 of 4 outcomes are no smaller, and all are as far from 0.
        ([[1, 0, 1]], [[0, 1, 1]], (0, 3 / 4, 1)),
        # All three for the second.
        ([[0], [0], [0]], [[1], [1], [1]], (-1, 1, 1 / 4)),
        # Three of four for the second: sums of -2 and more are 15 of 16, and 10 of 16 lie 2 away.
        ([[0, 0], [0, 1]], [[1, 1], [1, 0]], (-1 / 2, 15 / 16, 10 / 16)),
        # No pair parts them.
        ([[1, 0]], [[1, 0]], (0, 1, 1)),
        # An item without pairs is no item.
        ([[1, 0], [NAN, NAN]], [[0, 0], [NAN, NAN]], (1 / 2, 1 / 2, 1)),
    ],
)
def test_a_sign_test_of_pairs_is_counted(
    one: list[list[float]], other: list[list[float]], expected: tuple[float, ...]
) -> None:
    assert pair_swap_test(np.array(one, float), np.array(other, float)) == expected


def test_unequal_items_weigh_the_same_in_a_test_of_pairs() -> None:
    # Of the first item the only pair is for one metric, of the second one for each: (1 + 0) / 2.
    # Draws add 1 or -1 of the first and -1, 0 or 1 of the second (1/4, 1/2, 1/4): 1/2 and more in
    # 3 of 8, and -1/2 and more in 7 of 8. A share of 6,000 has a standard error of .0065 at most.
    one, other = np.array([[1, NAN], [1, 0]]), np.array([[0, NAN], [0, 1]])
    for pair, difference, upper in (((one, other), 0.5, 3 / 8), ((other, one), -0.5, 7 / 8)):
        found, p, both = pair_swap_test(*pair, draws=6000)
        assert found == difference
        assert (p, both) == pytest.approx((upper, 3 / 4), abs=0.026)


def test_a_test_of_pairs_has_a_thousand_draws_unless_it_is_told() -> None:
    one, other = np.array([[1, NAN], [1, 0]]), np.array([[0, NAN], [0, 1]])
    usual = pair_swap_test(one, other)
    assert usual == pair_swap_test(one, other, 1000, 12345)
    assert usual[1] * 1001 == pytest.approx(round(usual[1] * 1001))
    assert usual != pair_swap_test(one, other, seed=1)


def test_from_1001_signs_on_the_tail_is_normal() -> None:
    # A sum of 41 or more, with half of a step of 2 for the correction: 40 / sqrt(1001).
    assert _sign_tail(1001, 41) == 1 - NormalDist().cdf(40 / 1001**0.5)
