"""Coefficients: equal to scipy's on anything, and what scipy leaves open."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.stats
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from metrichub.agreement import (
    acc_eq,
    auc,
    balanced_accuracy,
    pearson,
    spearman,
    tau_23,
    tau_b,
    tau_c,
)
from metrichub.agreement.row_coefficients import _compared, grouped_pair_counts, joint
from metrichub.errors import InputError

Array = NDArray[np.float64]
# Few values make ties, and columns of one value; the tiny ones have squares that underflow.
NUMBERS = st.one_of(
    st.sampled_from([0.0, 1.0, 2.0, 3.0, 1e-200, 2e-200, -1e-200, 1e9, 1e9 + 1, float("nan")]),
    st.integers(-50, 50).map(float),
)
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=70)


def by_scipy(name: str, x: Array, z: Array) -> float:
    """Scipy's value of the places where both have one; `nan` where it is undefined."""
    both = ~(np.isnan(x) | np.isnan(z))
    x, z = x[both], z[both]
    if len(x) < 2 or len(set(x)) < 2 or len(set(z)) < 2:
        return float("nan")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "pearson":
            # Scipy's own squares underflow, so it is given multiples of a power of two.
            return float(
                scipy.stats.pearsonr(*(v * 2.0 ** -np.frexp(abs(v).max())[1] for v in (x, z)))[0]
            )
        if name == "spearman":
            return float(scipy.stats.spearmanr(x, z)[0])
        return float(scipy.stats.kendalltau(x, z, variant=name[-1])[0])


@pytest.mark.parametrize("of", [pearson, spearman, tau_b, tau_c])
@given(values=PAIRS)
def test_a_coefficient_equals_scipy(of, values) -> None:
    x, z = np.array(values).T
    assert of(x, z) == pytest.approx(by_scipy(of.__name__, x, z), abs=1e-9, nan_ok=True)


def test_rounding_takes_no_correlation_out_of_its_range() -> None:
    # In floats the sum of products over the root of those of squares is 1.0000000000000002.
    x, z = np.array([0.0, 1, 3]), np.array([0.0, 3, 9])
    assert (pearson(x, z), pearson(x, -z)) == (1, -1)


@given(values=PAIRS, epsilon=st.sampled_from([0.0, 1.0, 2.5]))
@example(values=[(i % 7, i % 5) for i in range(70)], epsilon=2.5)
def test_pairwise_accuracy_equals_counting_pairs(values, epsilon) -> None:
    x, z = np.array(values).T
    places = [i for i in range(len(x)) if x[i] == x[i] and z[i] == z[i]]
    pairs = list(itertools.combinations(places, 2))

    def side(i: int, j: int) -> float:
        return 0.0 if abs(x[i] - x[j]) <= epsilon else np.sign(x[i] - x[j])

    right = sum(side(i, j) == np.sign(z[i] - z[j]) for i, j in pairs)
    expected = right / len(pairs) if pairs else float("nan")
    assert acc_eq(x, z, epsilon) == pytest.approx(expected, nan_ok=True)
    if not epsilon:
        assert tau_23(x, z) == pytest.approx(2 * expected - 1, nan_ok=True)


@given(values=st.lists(st.tuples(NUMBERS, st.sampled_from([0.0, 1.0])), min_size=1, max_size=40))
def test_auc_is_the_share_of_pairs_of_a_yes_and_a_no_that_are_in_order(values) -> None:
    scored = [(x, label) for x, label in values if not np.isnan(x)]
    pairs = [(x, y) for x, yes in scored for y, no in scored if yes and not no]
    right = sum((x > y) + (x == y) / 2 for x, y in pairs)
    expected = right / len(pairs) if pairs else float("nan")
    assert auc(*np.array(values).T) == pytest.approx(expected, nan_ok=True)


def test_rows_are_counted_by_order_as_pair_by_pair() -> None:
    random = np.random.default_rng(9)
    x, z = random.integers(0, 5, (6, 12)).astype(float), random.integers(0, 3, (6, 12)) * 1.0
    x[1, 3:] = np.nan
    z[2] = 1
    # The first and the last have no value, and one has a single one.
    x[0] = x[-1] = x[3, 1:] = np.nan
    for scores, human in ((x, z), (x[:0], z[:0]), (x[:, :0], z[:, :0])):
        sides = joint(scores, human)
        grouped, compared = grouped_pair_counts(*sides), _compared(*sides, 0.0)
        for first, other in zip(grouped, compared, strict=True):
            np.testing.assert_array_equal(first, other)


def test_balanced_accuracy_off_the_middle() -> None:
    # Of three yes one is at least 4, of one no none: (1/3 + 1) / 2.
    assert balanced_accuracy([5, 3, 2, 1], [1, 1, 1, 0], cut=4) == pytest.approx(2 / 3)
    assert np.isnan(balanced_accuracy([1, 2], [1, 1], cut=1))


def test_infinite_scores_have_ranks_and_no_pearson() -> None:
    x, z = [1.0, float("inf"), 2.0], [1.0, 3.0, 2.0]
    assert (spearman(x, z), tau_b(x, z)) == (pytest.approx(1), pytest.approx(1))
    assert np.isnan(pearson(x, z))


def test_vectors_of_other_lengths_are_refused() -> None:
    with pytest.raises(InputError, match=r"not shapes \(2,\) and \(3,\)"):
        tau_b([1, 2], [1, 2, 3])


def test_a_constant_has_no_pearson_though_its_mean_is_rounded() -> None:
    # Three times .1 add up to more than .3, so that the distances from their mean aren't 0.
    assert np.isnan(pearson([0.1] * 3, [1, 2, 3]))
