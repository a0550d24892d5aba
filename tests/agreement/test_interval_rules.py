"""Which interval an agreement gets: one that holds the true value, or none and the reason."""

import json
from math import sqrt
from typing import Any

import numpy as np
import pytest

from metrichub.agreement import (
    Agreement,
    correlate,
    correlate_preferences,
    wilson,
)
from metrichub.agreement.interval_rules import DrawnUnits
from metrichub.agreement.shares import agresti_coull

NAN = float("nan")


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


def test_the_reason_is_in_the_table_and_json_has_null() -> None:
    agreement = correlate([1, 2, 3], [3, 1, 2], coefficient="spearman")
    line = repr(agreement).splitlines()[1]
    assert line.split()[4:7] == ["-0.5000", "–", "–"]
    assert line.endswith("no interval: 3 items, and it takes 8")
    row = json.loads(agreement.to_json())["results"][0]
    assert (row["low"], row["high"]) == (None, None)


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
