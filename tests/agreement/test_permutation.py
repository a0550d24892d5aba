"""Permutation tests: the swaps, how often they find a difference where there is none, and ranks."""

from statistics import NormalDist

import numpy as np
import pytest
import scipy.stats
from numpy.typing import NDArray

from metrichub.agreement import acc_eq, permutation, significance_clusters
from metrichub.agreement.levels import LEVELS, value_at
from metrichub.agreement.permutation import (
    SWAPS,
    Swapped,
    _coins,
    _sign_tail,
    _standardized,
    pair_swap_test,
    permutation_test,
)
from metrichub.agreement.tie_calibration import calibrate
from metrichub.errors import ParameterError

Array = NDArray[np.float64]


def trial(random: np.random.Generator, systems: int = 10, items: int = 150) -> list[Array]:
    """Two metrics that are equally good by construction, and ratings with many ties."""
    quality = random.normal(size=(systems, 1)) * 0.5 + random.normal(size=(systems, items))
    human = np.round(quality + 0.5 * random.normal(size=quality.shape))
    return [*(quality + random.normal(size=quality.shape) for _ in range(2)), human]


@pytest.mark.parametrize("scale", [1e-200, 1.0, 7.0, 1e200])
def test_a_metric_of_any_scale_is_standardized(scale: float) -> None:
    # 1, 2 and 3 are one step from their mean, and sqrt(2 / 3) steps are a standard deviation.
    values = scale * np.array([[1.0, np.nan], [2, 3]])
    expected = np.array([[-1, np.nan], [0, 1]]) * (3 / 2) ** 0.5
    assert _standardized(values) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("swap", SWAPS)
def test_a_metric_differs_neither_from_itself_nor_from_another_scale_of_it(swap: str) -> None:
    scores, _, human = trial(np.random.default_rng(2), 5, 20)
    result = permutation_test("item", "acc_eq", scores, 7 * scores - 3, human, Swapped(swap, 50))
    assert (result.difference, result.p, result.swap) == (0, 1, swap)


@pytest.mark.parametrize("name", ["acc_eq", "acc_eq_calibrated"])
def test_swaps_of_items_have_scipys_p(name: str) -> None:
    sides = trial(np.random.default_rng(7), 6, 12)
    *metrics, human = (side.T for side in sides)
    epsilons = (calibrate(x, human).epsilon if name != "acc_eq" else 0.0 for x in metrics)
    of_items = [
        [acc_eq(x, z, epsilon) for x, z in zip(side, human, strict=True)]
        for side, epsilon in zip(metrics, epsilons, strict=True)
    ]
    # All 4,096 swaps; a share of 2,000 draws has a standard error of .011 at most.
    exact = scipy.stats.permutation_test(
        of_items, lambda a, b: np.mean(a - b), permutation_type="samples", vectorized=False
    )
    test = permutation_test("item", name, *sides, Swapped("items", 2000))
    assert 0.05 < exact.pvalue < 0.95
    assert test.p == pytest.approx(exact.pvalue, abs=0.04)


def test_the_default_swap_finds_about_five_false_differences_of_a_hundred() -> None:
    random = np.random.default_rng(15)
    tests = [
        permutation_test("item", "acc_eq", *trial(random), Swapped(draws=99, seed=number))
        for number in range(200)
    ]
    # 200 trials: a standard error of sqrt(.05 * .95 / 200) = .0154.
    assert abs(np.mean([test.p <= 0.05 for test in tests]) - 0.05) <= 2 * 0.0154


def test_swaps_that_a_coefficient_has_not_are_refused() -> None:
    for swap, message in (("pairs", "tau_b isn't a mean over pairs"), ("rows", "swap='rows'")):
        with pytest.raises(ParameterError, match=message):
            permutation_test("item", "tau_b", *sides(), Swapped(swap))


def test_a_metric_that_is_constant_is_compared_without_a_warning() -> None:
    constant, other, human = np.ones((4, 9)), *trial(np.random.default_rng(6), 4, 9)[1:]
    test = permutation_test("pooled", "acc_eq", constant, other, human, Swapped("items", 99))
    assert 0 < test.p <= 1
    assert not _standardized(constant).any()


def test_a_rank_begins_below_any_metric_of_the_last_that_is_significantly_better() -> None:
    # b isn't worse than a, but c is worse than a: a new rank. d isn't worse than c.
    values = {"d": 0.1, "a": 0.4, "c": 0.2, "b": 0.3, "none": float("nan")}
    p_values = {("a", "b"): 0.2, ("a", "c"): 0.05, ("b", "c"): 0.3, ("c", "d"): 0.06}
    ranks = significance_clusters(values, lambda a, b: p_values[a, b])
    assert ranks == {"a": 1, "b": 1, "c": 2, "d": 2}


@pytest.mark.parametrize(("signs", "total"), [(1, 1), (3, 3), (5, -1), (6, 0), (1000, 40)])
def test_a_sign_test_is_binomial(signs: int, total: int) -> None:
    # A sum of n signs is at least s where (n + s) / 2 or more of them are positive.
    expected = scipy.stats.binom.sf((signs + total) // 2 - 1, signs, 0.5)
    assert _sign_tail(signs, total) == pytest.approx(expected, rel=1e-9)


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
    as_is = (level, swap) == ("item", "items")
    first, other = (
        side if as_is else (side - np.nanmean(side)) / np.nanstd(side) for side in (a, b)
    )
    (coins,) = _coins((1, 6) if as_is else human.shape, how)
    drawn = [
        difference(level, name, np.where(c, other, first), np.where(c, first, other), human)
        for c in coins
    ]
    hits = (np.abs(drawn) >= abs(observed) - 1e-9).sum()
    assert test.difference == pytest.approx(observed)
    assert (test.p, test.draws) == ((hits + 1) / 31, 30)


@pytest.mark.parametrize("name", ["tau_b", "pearson", "spearman"])
def test_draws_that_leave_no_value_do_not_count(name: str) -> None:
    # Where one of the two systems changes places, each metric gives both the same score; where
    # both or none do, the metrics are as far apart as before.
    a, b, human = np.array([[0.0], [1.0]]), np.array([[1.0], [0.0]]), np.array([[0.0], [1.0]])
    how = Swapped("systems", 40)
    (coins,) = _coins((2, 1), how)
    alike = int((coins[:, 0, 0] == coins[:, 1, 0]).sum())
    assert 0 < alike < 40
    test = permutation_test("item", name, a, b, human, how)
    assert test.difference == pytest.approx(2)
    assert (test.p, test.draws) == (1, alike)


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
    # So close to the ratings that a threshold ties what people tie.
    a, b = (human + (side - human) / 50 for side in (a, b))
    missing = np.isnan(a + b + human)
    a, b, human = (np.where(missing, np.nan, side) for side in (a, b, human))
    test = permutation_test(level, name, a, b, human, Swapped("pairs", 30))
    assert test.difference == pytest.approx(difference(level, name, a, b, human))
    assert (test.swap, test.draws) == ("pairs", 30)
    # A cell that any side lacks is left out of all.
    a[0, 1], b[1, 1], human[2, 1] = np.nan, np.nan, np.nan
    lacking = np.isnan(a + b + human)
    complete = [np.where(lacking, np.nan, side) for side in (a, b, human)]
    how = Swapped("pairs", 30)
    assert permutation_test(level, name, a, b, human, how) == permutation_test(
        level, name, *complete, how
    )


@pytest.mark.parametrize("swap", ["systems_xor_items", "systems", "items", "cells"])
@pytest.mark.parametrize("name", ["tau_b", "acc_eq", "tau_23", "spearman"])
def test_the_size_of_blocks_changes_no_p_value(
    name: str, swap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = ("item", name, *sides(6), Swapped(swap, 20))
    expected = permutation_test(*test)
    # A draw has 24 cells, and an item 16 ordered pairs.
    for cells in (49, 1):
        monkeypatch.setattr(permutation, "_CELLS", cells)
        monkeypatch.setattr(permutation, "_BLOCK", cells)
        assert permutation_test(*test) == pytest.approx(expected)


def test_coins_are_one_stream_of_numpy_s_generator() -> None:
    # On record, so that another version draws the same: published tests can be made again.
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
        (block,) = _coins((3, 4), Swapped(swap, 6, seed=7))
        np.testing.assert_array_equal(block, coins, err_msg=swap)


@pytest.mark.parametrize(
    ("first", "other", "expected"),
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
    first: list[list[float]], other: list[list[float]], expected: tuple[float, ...]
) -> None:
    assert pair_swap_test(np.array(first, float), np.array(other, float)) == expected


def test_unequal_items_weigh_the_same_in_a_test_of_pairs() -> None:
    # Of the first item the only pair is for one metric, of the second one for each: (1 + 0) / 2.
    # Draws add 1 or -1 of the first and -1, 0 or 1 of the second (1/4, 1/2, 1/4): 1/2 and more in
    # 3 of 8, and -1/2 and more in 7 of 8. A share of 6,000 has a standard error of .0065 at most.
    first, other = np.array([[1, NAN], [1, 0]]), np.array([[0, NAN], [0, 1]])
    for pair, difference, upper in (((first, other), 0.5, 3 / 8), ((other, first), -0.5, 7 / 8)):
        value, p, both = pair_swap_test(*pair, draws=6000)
        assert value == difference
        assert (p, both) == pytest.approx((upper, 3 / 4), abs=0.026)


def test_from_1001_signs_on_the_tail_is_normal() -> None:
    # A sum of 41 or more, with half of a step of 2 for the correction: 40 / sqrt(1001).
    assert _sign_tail(1001, 41) == 1 - NormalDist().cdf(40 / 1001**0.5)
