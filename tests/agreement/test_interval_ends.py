"""Intervals by hand: of shares and correlations, of labels, of averages and preferences."""

from math import atanh, sqrt, tanh
from typing import Any

import numpy as np
import pytest
import scipy.stats

from metrichub.agreement import correlate, correlate_preferences, wilson
from metrichub.agreement.agreement_inputs import Inputs
from metrichub.agreement.bootstrap import Drawn, _blocks, resampled
from metrichub.agreement.coefficients import Options
from metrichub.agreement.interval_rules import Bounds, DrawnUnits, bounds_of, bounds_of_labels
from metrichub.agreement.levels import value_at
from metrichub.agreement.shares import agresti_coull, weighted_sum

NAN = float("nan")
FEW = DrawnUnits("items", 20, 1, 1)
OF_ONE = (
    *("acc_eq", "acc_eq_calibrated", "soft_pairwise_accuracy", "auc", "balanced_accuracy"),
    *("accuracy", "accuracy_ties_half"),
)
FROM_MINUS_ONE = ("pearson", "spearman", "tau_b", "tau_c", "tau_23", "tau_wmt", "kappa")


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("name", [*OF_ONE, *FROM_MINUS_ONE])
def test_few_units_have_student_s_t_on_fisher_s_scale(name: str, confidence: float) -> None:
    drawn = np.array([0.5, NAN, 0.6, 0.7, 0.8])
    bounds = bounds_of(drawn, 0.65, "pooled", name, FEW, confidence)
    # A share from 0 to 1 lies on the scale of correlations by twice its distance from a half.
    scale, value = (2, 0.3) if name in OF_ONE else (1, 0.65)
    error = scale * sqrt(0.0125 * 20 / 19)
    half = scipy.stats.t.ppf((1 + confidence) / 2, 19) * error / (1 - value**2)
    low, high = (tanh(atanh(value) + sign * half) for sign in (-1, 1))
    if name in OF_ONE:
        low, high = (low + 1) / 2, (high + 1) / 2
    assert bounds == pytest.approx(Bounds(low, high))


ALIKE, AT_END = "all draws are alike", "the value is at the end of its range"


@pytest.mark.parametrize(
    ("drawn", "value", "name", "why"),
    [
        ([0.1, 0.2], NAN, "pearson", ""),
        ([], 0.5, "pearson", ""),
        ([0.3, NAN, NAN], 0.5, "pearson", ALIKE),
        ([0.3, 0.3 + 1e-10], 0.5, "pearson", ALIKE),
        ([0.3, 0.4], 1, "pearson", AT_END),
        ([0.3, 0.4], -1, "pearson", AT_END),
        ([0.3, 0.4], 1, "auc", AT_END),
        ([0.3, 0.4], 0, "auc", AT_END),
    ],
)
def test_values_without_spread_have_no_interval(
    drawn: list[float], value: float, name: str, why: str
) -> None:
    bounds = bounds_of(np.array(drawn), value, "pooled", name, FEW, 0.95)
    assert repr(bounds) == repr(Bounds(NAN, NAN, f"no interval: {why}" if why else ""))


@pytest.mark.parametrize(
    ("level", "units", "why"),
    [
        ("pooled", ("items", 7, 9, 1), "7 items, and it takes 8"),
        ("pooled", ("items", 8, 1, 1), ""),
        ("system", ("items", 1, 9, 1), "1 item, and it takes 8"),
        ("system", ("both", 8, 8, 1), ""),
        ("item", ("items", 7, 9, 4), "4 items, and it takes 5"),
        ("item", ("items", 9, 1, 5), ""),
        ("within_system", ("systems", 7, 9, 4), "4 systems, and it takes 5; draw only items"),
        ("within_system", ("systems", 1, 9, 5), ""),
        ("pooled", ("systems", 70, 1, 4), "1 system, and it takes 8; draw only items"),
    ],
)
def test_an_interval_takes_enough_of_what_was_drawn(
    level: str, units: tuple[str, int, int, int], why: str
) -> None:
    bounds = bounds_of(np.array([0.3, 0.4, 0.5]), 0.4, level, "pearson", DrawnUnits(*units), 0.95)
    if why:
        assert repr(bounds) == repr(Bounds(NAN, NAN, f"no interval: {why}"))
    else:
        assert bounds.low < 0.4 < bounds.high


def test_of_many_units_an_interval_is_the_percentiles() -> None:
    drawn = np.array([0.3, 0.4, 0.5])
    many = bounds_of(drawn, 0.4, "pooled", "tau_b", DrawnUnits("items", 100, 1, 1), 0.5)
    assert many == pytest.approx(Bounds(0.35, 0.45))


def test_units_count_where_both_sides_have_a_value() -> None:
    matrix = Inputs.of_ratings(
        np.ones((3, 3)), np.ones((3, 3)), (None, None), "higher", Options(), 4
    )
    scored = np.array([[True, False, True], [False, False, True], [False] * 3])
    assert matrix.units("both", 2, scored) == DrawnUnits("both", 2, 2, 2)
    systems = list("vwxy"), list("wzvv")
    pairs = Inputs.of_preferences(["a"] * 4, ["a"] * 4, list("iijk"), systems, "higher")
    # The first and the last pair: of items i and k, and of v with w and y with v.
    scored = np.array([True, False, False, True])
    assert pairs.units("both", 2, scored) == DrawnUnits("both", 2, 3, 2)
    alone = Inputs.of_preferences(["a"] * 4, ["a"] * 4, None, None, "higher")
    assert alone.units("items", 2, scored) == DrawnUnits("items", 2, 0, 2)


LABELS = np.array([1.0] * 9 + [0.0] * 7 + [NAN, 1])
SCORES = np.array([3.0] * 6 + [1.0] * 3 + [1.0] * 5 + [2.0] * 2 + [3, NAN])


@pytest.mark.parametrize(
    ("name", "cut", "times", "units", "shares"),
    [
        ("balanced_accuracy", 2.0, 1, ("items", 16), True),
        ("balanced_accuracy", 2.0, 6, ("items", 96), True),
        # Of many, of another coefficient, of items with several samples, and of drawn systems.
        ("balanced_accuracy", 2.0, 7, ("items", 112), False),
        ("auc", 2.0, 1, ("items", 16), False),
        ("balanced_accuracy", 2.0, 1, ("items", 15), False),
        ("balanced_accuracy", 2.0, 1, ("both", 16), False),
        ("balanced_accuracy", None, 1, ("items", 16), False),
    ],
)
def test_labels_of_items_of_their_own_have_the_ends_of_two_shares(
    name: str, cut: float | None, times: int, units: tuple[str, int], shares: bool
) -> None:
    scores, labels = np.tile(SCORES, times), np.tile(LABELS, times)
    bounds = bounds_of_labels(scores, labels, name, cut, DrawnUnits(*units, 16, 1), 0.9)
    if shares:
        # From 2 on is yes: 6 of 9 yes and 5 of 7 no are right.
        counts = np.array([[6, 9], [5, 7]]) * times
        parts = [(0.5, agresti_coull(*part, 0.9)) for part in counts.tolist()]
        assert bounds == pytest.approx(Bounds(*weighted_sum(parts)[1:]))
    else:
        assert bounds is None


@pytest.mark.parametrize(("yes", "no", "rarer"), [(4, 9, 4), (9, 4, 4), (0, 9, 0), (5, 5, None)])
def test_the_rarer_label_decides_whether_there_is_an_interval(
    yes: int, no: int, rarer: int | None
) -> None:
    labels = np.array([1.0] * yes + [0.0] * no)
    units = DrawnUnits("items", yes + no, 1, 1)
    bounds = bounds_of_labels(labels, labels, "auc", None, units, 0.95)
    why = f"no interval: {rarer} of the rarer label, and it takes 5"
    assert repr(bounds) == repr(None if rarer is None else Bounds(NAN, NAN, why))


def test_the_mean_of_a_protocol_has_the_ends_of_its_mean_draws() -> None:
    random = np.random.default_rng(3)
    human = random.normal(size=(4, 1)) + random.normal(size=(4, 12))
    scores = human + random.normal(size=human.shape)
    agreement = correlate(scores, human, protocol="wmt25", draws=20)
    row = agreement.row(level="average", metric="score")
    places = [("system", "soft_pairwise_accuracy"), ("item", "acc_eq_calibrated")]
    drawn = [resampled(*place, scores, human, agreement.drawn) for place in places]
    assert row.value == pytest.approx(
        np.mean([agreement.row("score", level=level).value for level, _ in places])
    )
    units = DrawnUnits("items", 12, 4, 2)
    arguments = (row.value, "average", "acc_eq_calibrated", units, 0.95)
    assert (row.low, row.high) == bounds_of(np.mean(drawn, axis=0), *arguments)[:2]
    assert row.coefficient == "soft_pairwise_accuracy+acc_eq_calibrated"
    assert (row.used, row.undefined, row.unscored) == (2, 0, 0)
    few = correlate(scores[:, :4], human[:, :4], protocol="wmt25", draws=9)
    assert few.row("score", level="average").note == "no interval: 4 items, and it takes 8"


@pytest.mark.parametrize("level", ["pooled", "item", "system", "within_system"])
@pytest.mark.parametrize("draw", ["items", "systems", "both"])
def test_draws_of_other_numbers_of_cells_are_each_of_their_own(level: str, draw: str) -> None:
    random = np.random.default_rng(1)
    scores, human = random.normal(size=(2, 4, 5))
    scores[1, 2] = human[3, 0] = np.nan
    for seed in range(12):
        how = Drawn(draw, 2, seed)
        (block,) = _blocks((4, 5), 20, how)
        drawn = resampled(level, "spearman", scores, human, how)
        for k in range(2):
            systems = range(4) if block.systems is None else block.systems[k]
            items = range(5) if block.items is None else block.items[k]
            cells = np.ix_(list(systems), list(items))
            expected = value_at(level, "spearman", scores[cells], human[cells]).value
            assert drawn[k] == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("draw", ["items", "systems", "both"])
def test_an_interval_of_pairs_is_wilson_s_or_of_draws(draw: str) -> None:
    lead = np.random.default_rng(2).normal(size=30)
    systems = [chr(97 + n % 9) for n in range(30)], [chr(65 + n % 10) for n in range(30)]
    names = ("accuracy", "tau_ties_left_out")
    options: dict[str, Any] = {"systems": systems, "draw": draw, "draws": 50, "coefficient": names}
    agreement = correlate_preferences({"mine": (lead, np.zeros(30))}, ["a"] * 30, **options)
    inputs = agreement._inputs
    assert inputs
    for name in names:
        row = agreement.row("mine", coefficient=name)
        units = DrawnUnits(draw, 30, 19, 30)
        sides = inputs.sides("mine", "preferred", name)
        drawn = resampled("pairs", name, *sides, agreement.drawn, inputs.options)
        expected = bounds_of(drawn, row.value, "pairs", name, units, 0.95)[:2]
        if draw == "items" and name == "accuracy":
            expected = wilson(int((lead > 0).sum()), 30)[1:]
        assert (row.low, row.high) == pytest.approx(expected)


@pytest.mark.parametrize("size", [99, 100])
def test_many_independent_pairs_have_percentiles_unless_there_are_none(size: int) -> None:
    lead = np.random.default_rng(2).normal(size=size)
    scores = {"mine": (lead, np.zeros(size)), "all": ([1.0] * size, [0.0] * size)}
    options: dict[str, Any] = {"draws": 50, "coefficient": "accuracy", "confidence": 0.9}
    agreement = correlate_preferences(scores, ["a"] * size, **options)
    for name, right in (("mine", int((lead > 0).sum())), ("all", size)):
        row = agreement.row(name)
        by_wilson = (row.low, row.high) == pytest.approx(wilson(right, size, 0.9)[1:])
        assert by_wilson is (size < 100 or right == size)
        assert row.note == ""


def test_a_test_of_preferences_swaps_what_belongs_together() -> None:
    right, wrong = ([1] * 6, [0] * 6), ([0] * 6, [1] * 6)
    options: dict[str, Any] = {"coefficient": "accuracy", "draws": 0}
    # Three items of two pairs: two of eight swaps are as far apart.
    agreement = correlate_preferences(
        {"x": right, "y": wrong}, ["a"] * 6, item=list("ijkkji"), **options
    )
    test = agreement.compare("x", "y", draws=4000)
    assert (test.difference, test.draws, test.swap) == (1, 4000, "items")
    assert test.p == pytest.approx(2 / 8, abs=0.03)
    assert agreement.compare("x", "y", draws=4000, swap="items") == test
    coins = np.random.default_rng(12345).integers(0, 2, (4000, 3))
    assert test.p == ((np.abs(coins.mean(1) - 0.5) == 0.5).sum() + 1) / 4001
    assert agreement.compare("x", "y").draws == 1000
    assert agreement.compare("x", "y", draws=99, seed=3) != agreement.compare("x", "y", draws=99)


def rated(seed: int, size: int, relation: float = 0.6) -> tuple[np.ndarray, np.ndarray]:
    """Normal scores and ratings of this correlation."""
    random = np.random.default_rng(seed)
    x, e = random.normal(size=(2, size))
    return x, relation * x + sqrt(1 - relation**2) * e


@pytest.mark.parametrize(
    ("name", "true"),
    # Greiner's relation: tau is 2/π asin(r), and rho 6/π asin(r/2) (Kendall 1949).
    [
        ("pearson", 0.6),
        ("spearman", 6 / np.pi * np.arcsin(0.3)),
        ("tau_b", 2 / np.pi * np.arcsin(0.6)),
    ],
)
@pytest.mark.parametrize("size", [8, 20])
def test_intervals_of_few_items_hold_the_true_value(name: str, true: float, size: int) -> None:
    # At a coverage of .94 fewer than 177 of 200 hold it in one of a thousand runs.
    held = 0
    for seed in range(200):
        row = correlate(*rated(seed, size), coefficient=name, draws=100).row("score")
        held += row.low <= true <= row.high
    assert held >= 177


@pytest.mark.parametrize(("name", "scale"), [("accuracy", 1), ("acc_eq", 1), ("tau_wmt", 2)])
def test_pairs_in_the_right_order_are_a_share_of_wilson_s(name: str, scale: int) -> None:
    scores = {"mine": ([1.0] * 9 + [0.0], [0.5] * 10)}
    row = correlate_preferences(scores, ["a"] * 10, coefficient=name).row("mine")
    # tau_wmt is twice the share less 1.
    expected = [scale * end - (scale - 1) for end in wilson(9, 10)]
    assert [row.value, row.low, row.high] == pytest.approx(expected)
