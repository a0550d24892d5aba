"""Permutation tests: the swaps, how often they find a difference where there is none, and ranks."""

import numpy as np
import pytest
import scipy.stats
from numpy.typing import NDArray

from metrichub.agreement import acc_eq, holm, permutation, significance_clusters
from metrichub.agreement.permutation import (
    SWAPS,
    Swapped,
    _coins,
    _sign_tail,
    _standardised,
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
def test_a_metric_of_any_scale_is_standardised(scale: float) -> None:
    # 1, 2 and 3 are one step from their mean, and sqrt(2 / 3) steps are a standard deviation.
    values = scale * np.array([[1.0, np.nan], [2, 3]])
    expected = np.array([[-1, np.nan], [0, 1]]) * (3 / 2) ** 0.5
    assert _standardised(values) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("swap", SWAPS)
def test_a_metric_differs_neither_from_itself_nor_from_another_scale_of_it(swap: str) -> None:
    scores, _, human = trial(np.random.default_rng(2), 5, 20)
    result = permutation_test("item", "acc_eq", scores, 7 * scores - 3, human, Swapped(swap, 50))
    assert (result.difference, result.p, result.swap) == (0, 1, swap)


@pytest.mark.parametrize("name", ["acc_eq", "acc_eq_calibrated"])
def test_swaps_of_items_have_scipys_p(name: str) -> None:
    sides = trial(np.random.default_rng(7), 6, 12)
    *metrics, human = (side.T for side in sides)
    own = (calibrate(x, human).epsilon if name != "acc_eq" else 0.0 for x in metrics)
    of_items = [
        [acc_eq(x, z, epsilon) for x, z in zip(side, human, strict=True)]
        for side, epsilon in zip(metrics, own, strict=True)
    ]
    # All 4,096 swaps; a share of 2,000 draws has a standard error of .011 at most.
    exact = scipy.stats.permutation_test(
        of_items, lambda a, b: np.mean(a - b), permutation_type="samples", vectorized=False
    )
    test = permutation_test("item", name, *sides, Swapped("items", 2000))
    assert 0.05 < exact.pvalue < 0.95
    assert test.p == pytest.approx(exact.pvalue, abs=0.04)


def false_findings(swap: str, trials: int, draws: int) -> float:
    """How often a test at .05 finds a difference of two metrics that are equally good."""
    random = np.random.default_rng(15)
    findings = 0
    for number in range(trials):
        sides = trial(random)
        test = permutation_test("item", "acc_eq", *sides, Swapped(swap, draws, number))
        findings += test.p <= 0.05
    return findings / trials


def test_the_default_swap_finds_about_five_false_differences_of_a_hundred() -> None:
    # 200 trials: a standard error of sqrt(.05 * .95 / 200) = .0154.
    share = false_findings("systems_xor_items", 200, 99)
    assert abs(share - 0.05) <= 2 * 0.0154


def test_swaps_that_a_coefficient_has_not_are_refused() -> None:
    sides = trial(np.random.default_rng(4), 4, 6)
    with pytest.raises(ParameterError, match="tau_b isn't a mean over pairs"):
        permutation_test("item", "tau_b", *sides, Swapped("pairs"))
    with pytest.raises(
        ParameterError, match="each metric has its own threshold of tie calibration"
    ):
        permutation_test("item", "acc_eq_calibrated", *sides, Swapped("cells"))
    with pytest.raises(ParameterError, match="swap='rows'"):
        permutation_test("item", "tau_b", *sides, Swapped("rows"))


def test_a_metric_that_is_constant_is_compared_without_a_warning() -> None:
    constant, other, human = np.ones((4, 9)), *trial(np.random.default_rng(6), 4, 9)[1:]
    test = permutation_test("pooled", "acc_eq", constant, other, human, Swapped("items", 99))
    assert 0 < test.p <= 1
    assert not _standardised(constant).any()


def test_a_rank_begins_below_any_metric_of_the_last_that_is_significantly_better() -> None:
    # b isn't worse than a, but c is worse than a: a new rank. d isn't worse than c.
    values = {"d": 0.1, "a": 0.4, "c": 0.2, "b": 0.3, "none": float("nan")}
    p_values = {("a", "b"): 0.2, ("a", "c"): 0.05, ("b", "c"): 0.3, ("c", "d"): 0.06}
    ranks = significance_clusters(values, lambda a, b: p_values[a, b])
    assert ranks == {"a": 1, "b": 1, "c": 2, "d": 2}


def test_holm_is_the_same_for_metrics_and_for_systems() -> None:
    assert holm({"a": 0.01, "b": 0.02}) == {"a": 0.02, "b": 0.02}


@pytest.mark.parametrize(("signs", "total"), [(1001, 41), (2000, -60), (100_000, 600)])
def test_a_sign_test_of_very_many_is_normal(signs: int, total: int) -> None:
    # With a correction for continuity the error of the normal tail is of the order of 1 / n.
    expected = scipy.stats.binom.sf((signs + total) // 2 - 1, signs, 0.5)
    assert _sign_tail(signs, total) == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize(("signs", "total"), [(1, 1), (3, 3), (5, -1), (6, 0), (1000, 40)])
def test_a_sign_test_is_binomial(signs: int, total: int) -> None:
    # A sum of n signs is at least s where (n + s) / 2 or more of them are positive.
    expected = scipy.stats.binom.sf((signs + total) // 2 - 1, signs, 0.5)
    assert _sign_tail(signs, total) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("swap", ["systems_xor_items", "systems", "items", "cells"])
@pytest.mark.parametrize(("cells", "sizes"), [(25, [2, 2, 1]), (11, [1] * 5), (1, [1] * 5)])
def test_a_block_of_coins_holds_as_many_draws_as_fit_and_one_at_least(
    cells: int, sizes: list[int], swap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (whole,) = _coins((3, 4), Swapped(draws=5), swap)
    # A draw has twelve cells.
    monkeypatch.setattr(permutation, "_CELLS", cells)
    blocks = list(_coins((3, 4), Swapped(draws=5), swap))
    assert [len(block) for block in blocks] == sizes
    assert (np.concatenate(blocks) == whole).all()
