"""Which interval an agreement gets: one that holds the true value, or none and the reason."""

import json
from math import atanh, sqrt, tanh
from typing import Any

import numpy as np
import pytest
import scipy.stats

from metrichub.agreement import (
    Agreement,
    calibrated_mean,
    correlate,
    correlate_preferences,
    judge_consistency,
    preference_agreement,
    verdict_agreement,
    wilson,
)
from metrichub.agreement.agreement import AgreementRow
from metrichub.agreement.bootstrap import Drawn, interval_of, resampled
from metrichub.agreement.coefficients import Options
from metrichub.agreement.interval_rules import DrawnUnits
from metrichub.agreement.preferences import ranked_pairs
from metrichub.agreement.shares import agresti_coull

NAN = float("nan")


def rated(seed: int, size: int, relation: float = 0.6) -> tuple[np.ndarray, np.ndarray]:
    """Normal scores and ratings of this correlation."""
    random = np.random.default_rng(seed)
    x, e = random.normal(size=(2, size))
    return x, relation * x + sqrt(1 - relation**2) * e


def pooled(size: int, name: str, **options: Any) -> AgreementRow:
    x, z = rated(size, size)
    return correlate(x, z, coefficient=name, **options).row("score")


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


def test_below_100_items_the_draws_give_the_standard_error_on_fisher_s_scale() -> None:
    row = pooled(30, "pearson", confidence=0.9)
    x, z = rated(30, 30)
    drawn = resampled("pooled", "pearson", x[None], z[None], Drawn("items"))
    half = scipy.stats.t.ppf(0.95, 29) * drawn.std() * sqrt(30 / 29) / (1 - row.value**2)
    ends = (tanh(atanh(row.value) - half), tanh(atanh(row.value) + half))
    assert (row.low, row.high) == pytest.approx(ends)


def test_shares_of_pairs_lie_on_that_scale_by_twice_their_distance_from_a_half() -> None:
    # acc_eq without ties is (tau + 1) / 2, and so are its ends.
    tau, accuracy = pooled(25, "tau_23"), pooled(25, "acc_eq")
    expected = ((tau.low + 1) / 2, (tau.high + 1) / 2)
    assert (accuracy.low, accuracy.high) == pytest.approx(expected)


def test_from_100_items_on_the_interval_is_the_percentiles() -> None:
    row = pooled(100, "spearman")
    x, z = rated(100, 100)
    drawn = resampled("pooled", "spearman", x[None], z[None], Drawn("items"))
    assert (row.low, row.high) == interval_of(drawn, 0.95)
    assert pooled(99, "spearman").note == ""


@pytest.mark.parametrize("size", [2, 3, 7])
def test_few_items_carry_no_interval(size: int) -> None:
    row = pooled(size, "spearman")
    assert not np.isnan(row.value)
    assert np.isnan([row.low, row.high]).all()
    assert row.note == f"no interval: {size} items, and it takes 8"
    assert pooled(8, "pearson").low < pooled(8, "pearson").high


def test_no_interval_has_no_width() -> None:
    x = np.arange(20.0)
    row = correlate(x, x, coefficient="tau_b").row("score")
    assert (row.value, row.note) == (1, "no interval: all draws are alike")
    # Of 120 items too, where percentiles would be 1 and 1.
    many = np.arange(120.0)
    assert np.isnan(correlate(many, many, coefficient="tau_b").row("score").low)


def test_a_value_at_the_end_of_its_range_has_no_interval() -> None:
    # Of two values that are equally frequent tau-c is 1; draws where one is rarer have less.
    halves = [1] * 10 + [2] * 10
    row = correlate(halves, halves, coefficient="tau_c").row("score")
    assert (row.value, row.note) == (1, "no interval: the value is at the end of its range")


def grid(systems: int, items: int, **options: Any) -> Agreement:
    """Scores of systems that differ in quality, with the ratings that people give."""
    random = np.random.default_rng(systems * items)
    true = random.normal(size=(systems, 1)) + random.normal(size=(systems, items))
    x, z = true + random.normal(size=(2, systems, items))
    names = np.indices((systems, items)).reshape(2, -1)
    labels = {"system": names[0], "item": names[1]}
    return correlate(x.ravel(), z.ravel(), **labels, level="item", coefficient="tau_b", **options)


def test_the_fewer_of_systems_and_items_decides() -> None:
    row = grid(4, 50).row()
    assert row.note == "no interval: 4 systems, and it takes 5; draw items alone"
    assert grid(4, 50, draw="items").row().low < grid(4, 50, draw="items").row().high
    assert grid(12, 4).row().note == "no interval: 4 items, and it takes 5"
    assert grid(5, 6).row().note == ""


def test_a_hundred_items_of_ten_systems_keep_their_percentiles() -> None:
    for systems, items, percentiles in ((10, 100, True), (9, 100, False), (10, 99, False)):
        agreement = grid(systems, items, draws=200)
        sides = agreement._inputs.sides("score", "human", "tau_b")
        drawn = resampled("item", "tau_b", *sides, agreement.drawn)
        row = agreement.row()
        assert ((row.low, row.high) == interval_of(drawn, 0.95)) is percentiles, (systems, items)


def test_a_mean_over_three_items_that_have_a_value_carries_none() -> None:
    # Of nine items people rate the outputs of six all alike.
    random = np.random.default_rng(1)
    x, z = random.normal(size=(2, 5, 9))
    z[:, :6] = 1
    row = correlate(x, z, coefficient="pearson", draw="items", level="item").row("score")
    assert (row.used, row.undefined) == (3, 6)
    assert row.note == "no interval: 3 items, and it takes 5"


def test_balanced_accuracy_of_few_labels_adds_the_intervals_of_both_shares() -> None:
    # People say yes 12 times, and the metric with them 12 times; of their 8 no it finds 6.
    labels = [1] * 12 + [0] * 8
    scores = [1] * 12 + [0] * 6 + [1] * 2
    agreement = correlate(scores, labels, coefficient=["balanced_accuracy", "auc"], cut=0.5)
    row = agreement.row("score", coefficient="balanced_accuracy")
    yes, no = agresti_coull(12, 12), agresti_coull(6, 8)
    below = sqrt((1 - yes.low) ** 2 + (0.75 - no.low) ** 2) / 2
    assert row.value == 0.875
    assert (row.low, row.high) == pytest.approx((0.875 - below, 0.875 + (no.high - 0.75) / 2))
    assert agreement.row("score", coefficient="auc").note == ""


@pytest.mark.parametrize("size", [99, 100])
def test_from_100_labels_on_balanced_accuracy_has_percentiles(size: int) -> None:
    x, z = rated(2, size)
    options: dict[str, Any] = {"coefficient": "balanced_accuracy", "cut": 0.0}
    row = correlate(x, z > 0, **options).row("score")
    drawn = resampled(
        "pooled",
        "balanced_accuracy",
        x[None],
        (z > 0).astype(float)[None],
        Drawn("items"),
        Options(cut=0.0),
    )
    assert ((row.low, row.high) == interval_of(drawn, 0.95)) is (size == 100)


def test_a_label_that_four_samples_have_carries_no_interval() -> None:
    x, _ = rated(5, 40)
    agreement = correlate(x, [1] * 4 + [0] * 36, coefficient=["auc", "balanced_accuracy"], cut=0.0)
    notes = {row.note for row in agreement.rows if row.metric == "score"}
    assert notes == {"no interval: 4 of the rarer label, and it takes 5"}


def test_labels_of_each_system_are_averaged_over_systems() -> None:
    # Four of six systems have a yes, four samples in all; what is drawn are the three items.
    labels = np.zeros((6, 3))
    labels[:4, 0] = 1
    scores = np.arange(18.0).reshape(6, 3) % 7
    agreement = correlate(scores, labels, level="within_system", coefficient="auc", draw="items")
    assert (agreement.row().used, agreement.row().note) == (
        4,
        "no interval: 3 items, and it takes 5",
    )


def preferences(right: int, wrong: int, **options: Any) -> Agreement:
    scores = {"mine": ([1.0] * right + [0.0] * wrong, [0.5] * (right + wrong))}
    return correlate_preferences(scores, ["a"] * (right + wrong), **options)


def test_pairs_in_the_right_order_are_a_share_of_wilson_s() -> None:
    agreement = preferences(9, 1, coefficient=["accuracy", "tau_wmt", "acc_eq"])
    share = wilson(9, 10)
    for name in ("accuracy", "acc_eq"):
        row = agreement.row("mine", coefficient=name)
        assert (row.low, row.high) == pytest.approx((share.low, share.high))
    tau = agreement.row("mine", coefficient="tau_wmt")
    assert (tau.low, tau.high) == pytest.approx((2 * share.low - 1, 2 * share.high - 1))
    # All of 150 are right: the percentiles would be 1 and 1.
    row = preferences(150, 0, coefficient="accuracy").row("mine")
    assert (row.low, row.high) == pytest.approx(wilson(150, 150)[1:])


def test_pairs_of_few_items_are_no_independent_share() -> None:
    row = preferences(9, 1, coefficient="accuracy", item=list("aabbccddee")).row("mine")
    assert row.note == "no interval: 5 items, and it takes 8"
    row = preferences(9, 1, coefficient="accuracy", systems=(["x"] * 10, ["y"] * 10)).row("mine")
    assert row.note == "no interval: 2 systems, and it takes 8; draw items alone"


def test_the_reason_is_in_the_table_and_json_has_null() -> None:
    agreement = correlate([1, 2, 3], [3, 1, 2], coefficient="spearman")
    line = repr(agreement).splitlines()[1]
    assert line.split()[4:7] == ["-0.5000", "–", "–"]
    assert line.endswith("no interval: 3 items, and it takes 8")
    row = json.loads(agreement.to_json())["results"][0]
    assert (row["low"], row["high"]) == (None, None)


def test_without_draws_there_is_no_reason() -> None:
    assert correlate([1, 2, 3], [3, 1, 2], coefficient="spearman", draws=0).row("score").note == ""
    row = preferences(9, 1, coefficient="accuracy", draws=0).row("mine")
    assert (np.isnan(row.low), row.note) == (True, "")


def test_where_there_is_no_value_there_is_no_reason_either() -> None:
    scores = {"mine": ([1.0] * 3, [0.5] * 3)}
    row = correlate_preferences(scores, ["tie"] * 3, coefficient="accuracy").row("mine")
    assert (np.isnan(row.value), np.isnan(row.low), row.note) == (True, True, "")


def ends_at(confidence: float) -> dict[str, tuple[float, float]]:
    """The ends of each interval there is, at a confidence."""
    x, z = rated(3, 40)
    yes, votes = (z > 0).astype(float), np.where(z > 0, "a", "b").tolist()
    few = np.where(np.arange(40) < 25, z, NAN)
    verdicts = verdict_agreement(x, yes, cut=0.0, confidence=confidence)
    consistency = judge_consistency("mine", [yes, yes[::-1]], yes, confidence)
    shown = {
        "wilson": wilson(30, 40, confidence),
        "agresti_coull": agresti_coull(30, 40, confidence),
        "preferences": preference_agreement(x, -x, votes, confidence)[:3],
        "ranked": ranked_pairs(x.reshape(4, 10), z.reshape(4, 10), 1.0, confidence)[:3],
        "tpr": verdicts.tpr,
        "tnr": verdicts.tnr,
        "verdicts": verdicts.accuracy,
        "same": consistency.same,
        "order": consistency.order,
    }
    ends = {name: (share[1], share[2]) for name, share in shown.items()}
    for name, labels in (("yes and no", (few > 0) + 0 * few), ("ratings", few)):
        mean = calibrated_mean(1 / (1 + np.exp(-x)), labels, confidence=confidence)
        ends |= {name: (mean.low, mean.high), f"{name} alone": (mean.labels_low, mean.labels_high)}
    pairs = {"mine": (x, -x)}
    for name, agreement in {
        "pearson": correlate(x, z, coefficient="pearson", confidence=confidence),
        "balanced": correlate(
            x, yes, coefficient="balanced_accuracy", cut=0.0, confidence=confidence
        ),
        "accuracy": correlate_preferences(
            pairs, votes, coefficient="accuracy", confidence=confidence
        ),
        "kappa": correlate_preferences(pairs, votes, coefficient="kappa", confidence=confidence),
    }.items():
        row = agreement.rows[0]
        ends[name] = row.low, row.high
    return ends


def test_every_interval_is_wider_the_surer_it_is() -> None:
    half, most = ends_at(0.5), ends_at(0.95)
    for name, (low, high) in half.items():
        assert most[name][0] < low < high < most[name][1], name


def test_a_label_that_five_samples_have_carries_an_interval() -> None:
    x, _ = rated(5, 40)
    agreement = correlate(x, [1] * 5 + [0] * 35, coefficient=["auc", "balanced_accuracy"], cut=0.0)
    rows = [row for row in agreement.rows if row.metric == "score"]
    assert [row.note for row in rows] == ["", ""]
    for row in rows:
        assert row.low < row.value < row.high


@pytest.mark.parametrize(
    ("units", "level", "fewest", "many"),
    [
        # Items of which a mean is taken, or all; those that have a value count.
        (("items", 100, 1, 100), "item", (100, "item"), True),
        (("items", 100, 1, 99), "item", (99, "item"), True),
        (("items", 99, 50, 99), "item", (99, "item"), False),
        (("items", 100, 1, 7), "pooled", (100, "item"), True),
        # Ten systems beside a hundred items are enough for a mean over items alone.
        (("both", 100, 10, 100), "item", (10, "system"), True),
        (("both", 100, 9, 100), "item", (9, "system"), False),
        (("both", 99, 10, 99), "item", (10, "system"), False),
        (("both", 100, 10, 100), "pooled", (10, "system"), False),
        (("both", 100, 100, 1), "pooled", (100, "item"), True),
        (("both", 100, 99, 1), "pooled", (99, "system"), False),
        (("systems", 5, 100, 5), "item", (100, "system"), True),
        (("systems", 500, 99, 500), "item", (99, "system"), False),
        (("systems", 500, 120, 99), "within_system", (99, "system"), False),
        (("systems", 500, 120, 100), "within_system", (100, "system"), True),
    ],
)
def test_what_was_drawn_decides_by_the_fewest_units(
    units: tuple[str, int, int, int], level: str, fewest: tuple[int, str], many: bool
) -> None:
    assert DrawnUnits(*units).fewest(level) == fewest
    assert DrawnUnits(*units).many(level) == many
