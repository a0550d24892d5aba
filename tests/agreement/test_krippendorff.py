"""Agreement among raters: worked examples, and the values of the packages that people use."""

import warnings
from typing import Any

import numpy as np
import pytest

from metrichub.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha
from metrichub.errors import InputError, ParameterError

# Fleiss (1971): 14 psychiatrists on 10 patients, as counted by the article on Fleiss' kappa.
PATIENTS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def test_fleiss_kappa_of_a_worked_example() -> None:
    ratings = [[word for word, n in enumerate(row) for _ in range(n)] for row in PATIENTS]
    assert fleiss_kappa(ratings) == pytest.approx(0.210, abs=5e-4)


def test_fleiss_kappa_of_two_items() -> None:
    # Three judges: all say "a", then two "a" and one "b". Per item 1 and (2*1 + 0) / (3*2) = 1/3
    # of the pairs agree, 2/3 on average; "a" is 5/6 of all, so chance is 25/36 + 1/36 = 13/18.
    # (2/3 - 13/18) / (1 - 13/18) = (-1/18) / (5/18).
    assert fleiss_kappa(["aaa", "aab"]) == pytest.approx(-1 / 5)


def test_cohen_kappa_by_hand() -> None:
    # Of 50 items both say yes to 20 and no to 15: 0.7. Yes is said of 25 and of 30: chance is
    # 0.5 * 0.6 + 0.5 * 0.4 = 0.5, and (0.7 - 0.5) / (1 - 0.5) = 0.4.
    first = "y" * 20 + "y" * 5 + "n" * 10 + "n" * 15
    second = "y" * 20 + "n" * 5 + "y" * 10 + "n" * 15
    assert cohen_kappa(first, second) == pytest.approx(0.4)


@pytest.mark.parametrize("ratings", [["aaa", "aaa"], []])
def test_fleiss_kappa_is_undefined_for_one_word_or_no_items(ratings: list[str]) -> None:
    assert np.isnan(fleiss_kappa(ratings))


@pytest.mark.parametrize("labels", ["aaa", ""])
def test_cohen_kappa_is_undefined_for_one_word_or_no_items(labels: str) -> None:
    assert np.isnan(cohen_kappa(labels, labels))


def test_alpha_is_undefined_where_all_ratings_are_the_same_or_alone() -> None:
    assert np.isnan(krippendorff_alpha([[3, 3], [3, 3]]))
    assert np.isnan(krippendorff_alpha([[3, np.nan], [np.nan, 1]]))


def test_zeros_are_as_far_from_ones_on_a_ratio_scale_as_two_words_are() -> None:
    # ((1 - 0) / (1 + 0))² is 1, and 0 is at no distance from itself.
    ratings = [[0, 0], [0, 1], [1, 1], [1, 1]]
    alpha = krippendorff_alpha(ratings, "ratio")
    assert alpha == pytest.approx(krippendorff_alpha(ratings, "nominal"))
    assert 0 < alpha < 1


def test_weights_need_labels_with_an_order() -> None:
    with pytest.raises(InputError, match="labels that have an order"):
        cohen_kappa([1, "a"], [1, 1], "linear")
    with pytest.raises(ParameterError, match="weights='cubic'"):
        cohen_kappa([1], [1], "cubic")  # type: ignore[arg-type]  # a wrong word


def test_different_numbers_of_raters_are_refused_by_fleiss_kappa_with_what_takes_them() -> None:
    with pytest.raises(InputError, match="not 2, 3; krippendorff_alpha takes any"):
        fleiss_kappa(["aaa", "ab"])
    with pytest.raises(ParameterError, match="scale='metric'"):
        krippendorff_alpha([[1, 2]], "metric")  # type: ignore[arg-type]  # a wrong word
    with pytest.raises(InputError, match="1 and 2 labels"):
        cohen_kappa("a", "ab")


@pytest.mark.parametrize("ratings", [["a", "b"], ["", ""]])
def test_fleiss_kappa_takes_two_raters_or_more(ratings: list[str]) -> None:
    with pytest.raises(InputError, match=r"two or more, not [01]; krippendorff_alpha takes any"):
        fleiss_kappa(ratings)


def alpha_of_pairs(ratings: list[list[float]], scale: str) -> float:
    """One minus the mean distance of two ratings of an item over that of any two ratings."""
    items = [[one for one in row if not np.isnan(one)] for row in ratings]
    items = [row for row in items if len(row) > 1]
    every = [one for row in items for one in row]

    def distance(a: float, b: float) -> float:
        if scale == "nominal":
            return float(a != b)
        if scale == "ordinal":
            # The ratings between both, and half of those that are equal to either.
            low, high = sorted((a, b))
            between = sum(low <= one <= high for one in every)
            return (between - (every.count(a) + every.count(b)) / 2) ** 2 if a != b else 0.0
        if scale == "ratio":
            return ((a - b) / (a + b)) ** 2 if a + b else 0.0
        return (a - b) ** 2

    def total(row: list[float]) -> float:
        return sum(distance(a, b) for i, a in enumerate(row) for j, b in enumerate(row) if i != j)

    within = sum(total(row) / (len(row) - 1) for row in items) / len(every)
    return 1 - within / (total(every) / (len(every) * (len(every) - 1)))


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize("seed", range(3))
def test_alpha_compares_pairs_of_an_item_with_all_pairs(seed: int, scale: Any) -> None:
    table = np.random.default_rng(seed).integers(0, 5, (8, 4)).astype(float)
    table[0, 1:] = table[1, 2:] = table[2, 0] = np.nan
    expected = alpha_of_pairs(table.tolist(), scale)
    with warnings.catch_warnings():
        # Two ratings of 0 are at no distance, though the ratio has no value there.
        warnings.simplefilter("error")
        assert krippendorff_alpha(table, scale) == pytest.approx(expected)
    if scale == "interval":
        assert krippendorff_alpha(table) == pytest.approx(expected)
