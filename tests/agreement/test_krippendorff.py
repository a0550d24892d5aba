"""Agreement among raters: worked examples, and the values of the packages that people use."""

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas
import pytest

from metrichub.agreement import (
    auc,
    cohen_kappa,
    fleiss_kappa,
    judge_consistency,
    krippendorff_alpha,
    pearson,
    wilson,
)
from metrichub.errors import InputError, MetrichubError, ParameterError

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
    # A frame's rows are items, whatever its columns are called.
    frame = pandas.DataFrame({"one": ["a", "a"], "two": ["a", "a"], "r3": ["a", "b"]})
    assert fleiss_kappa(frame) == pytest.approx(-1 / 5)


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


def test_zeros_are_as_far_from_ones_on_a_ratio_scale_as_two_words_are() -> None:
    # ((1 - 0) / (1 + 0))² is 1, and 0 is at no distance from itself.
    ratings = [[0, 0], [0, 1], [1, 1], [1, 1]]
    alpha = krippendorff_alpha(ratings, "ratio")
    assert alpha == pytest.approx(krippendorff_alpha(ratings, "nominal"))
    assert 0 < alpha < 1


def test_weights_need_labels_with_an_order() -> None:
    with pytest.raises(InputError, match="labels that have an order"):
        cohen_kappa([1, 1j], [1, 1], "linear")
    with pytest.raises(ParameterError, match="weights='cubic'"):
        cohen_kappa([1], [1], "cubic")  # type: ignore[arg-type]  # a wrong word


def test_different_numbers_of_raters_are_refused_by_fleiss_kappa_with_what_takes_them() -> None:
    with pytest.raises(InputError, match="not 2, 3; krippendorff_alpha allows any"):
        fleiss_kappa(["aaa", "ab"])
    with pytest.raises(ParameterError, match="scale='metric'"):
        krippendorff_alpha([[1, 2]], "metric")  # type: ignore[arg-type]  # a wrong word
    with pytest.raises(InputError, match="1 and 2 labels"):
        cohen_kappa("a", "ab")


@pytest.mark.parametrize("ratings", [["a", "b"], ["", ""]])
def test_fleiss_kappa_takes_two_raters_or_more(ratings: list[str]) -> None:
    with pytest.raises(InputError, match=r"two or more, not [01]; krippendorff_alpha allows any"):
        fleiss_kappa(ratings)


def alpha_of_pairs(ratings: list[list[float]], scale: str) -> float:
    """One minus the mean distance of two ratings of an item over that of any two ratings."""
    items = [[value for value in row if not np.isnan(value)] for row in ratings]
    items = [row for row in items if len(row) > 1]
    every = [value for row in items for value in row]

    def distance(a: float, b: float) -> float:
        if scale == "nominal":
            return float(a != b)
        if scale == "ordinal":
            # The ratings between both, and half of those that are equal to either.
            low, high = sorted((a, b))
            between = sum(low <= value <= high for value in every)
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


MISSING = [None, math.nan, pandas.NA, pandas.NaT, "", " "]


@pytest.mark.parametrize("none", MISSING)
def test_a_missing_label_is_none(none: object) -> None:
    # Of the three items that both rated, two agree; "yes" is said of two and of one of them. Chance
    # is (2 * 1 + 1 * 2) / 9 = 4/9, and (2/3 - 4/9) / (5/9) = 2/5, as scikit-learn says of them.
    first, other = ["yes", "no", none, "no", "yes"], ["yes", "no", none, none, "no"]
    assert cohen_kappa(first, other) == pytest.approx(2 / 5)
    # Two of three pairs agree; both labels are half of all: (2/3 - 1/2) / (1/2).
    assert fleiss_kappa([["a", "a", none], ["b", none, "b"], [none, "a", "b"], [none] * 3]) == (
        pytest.approx(1 / 3)
    )
    with pytest.raises(InputError, match=r"not 1, 2; krippendorff_alpha allows any"):
        fleiss_kappa([["a", "a"], ["b", none]])


def test_missing_labels_of_a_data_frame_are_none() -> None:
    frame = pandas.DataFrame({"one": [1, 0, None, 1], "other": [1, 0, None, 0]})
    # As above, of 1 and 0.
    assert cohen_kappa(list(frame["one"]), list(frame["other"])) == pytest.approx(2 / 5)


@pytest.mark.parametrize(
    "of",
    [
        lambda: cohen_kappa(["1", "0"], [1, 0]),
        lambda: fleiss_kappa([["1", 0], ["0", 0]]),
        lambda: krippendorff_alpha([["1", 0]], "nominal"),
    ],
)
def test_texts_among_numbers_are_no_labels(of: Callable[[], float]) -> None:
    with pytest.raises(InputError, match=r"'[01]' and [01] are of two kinds, which never agree"):
        of()


@pytest.mark.parametrize(
    ("ratings", "alpha"),
    [
        # nltk 3.10.4, AnnotationTask(...).alpha(), of the labels that are there.
        ([["a", "a"], ["b", "b"], ["a", "b"]], 0.4444444444444444),
        ([["a", "a"], ["b", "b"], ["a", "b"], ["c", "c"], ["a", "a"], ["b", "c"]], 0.53191489361),
        ([["a", None], ["b", "b"], ["a", "b"], ["c", "c"], ["a", "a"], ["b", "c"]], 0.45454545454),
    ],
)
def test_nominal_alpha_reads_labels(ratings: list[list[Any]], alpha: float) -> None:
    assert krippendorff_alpha(ratings, "nominal") == pytest.approx(alpha)
    assert krippendorff_alpha(pandas.DataFrame(ratings), "nominal") == pytest.approx(alpha)


@pytest.mark.parametrize(
    ("of", "message"),
    [
        (lambda: wilson(5, 3), "count=5 is not allowed; choose a number from 0 to 3"),
        (lambda: wilson(-1, 3), "count=-1 is not allowed; choose a number from 0 to 3"),
        (lambda: auc([0.1, 0.2], ["yes", "no"]), r"labels are numbers, .* not \['yes', 'no'\]"),
        (lambda: pearson(["a", "b"], [1, 2]), r"scores are numbers, .* not \['a', 'b'\] \(list\)"),
        (lambda: krippendorff_alpha([["a", "b"]]), "labels need scale='nominal'.* are numbers"),
        (lambda: krippendorff_alpha([["a", "b"], ["c"]], "nominal"), "is one text or number"),
        (lambda: cohen_kappa([["a"]], [["a"]]), "a label is one text or number"),
        (lambda: judge_consistency("mine", ["a", "b"]), "scores are numbers"),
    ],
)
def test_what_cannot_be_counted_is_an_error_of_the_library(of: Any, message: str) -> None:
    with pytest.raises(MetrichubError, match=message):
        of()
