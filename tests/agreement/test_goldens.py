"""The values of the official tools: mt-metrics-eval, nlpstats, scipy, scikit-learn, and others.

`agreement_vectors.jsonl` says of each where it comes from.
"""

import json
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from metrichub.agreement import (
    acc_eq,
    alternative_test,
    auc,
    balanced_accuracy,
    cohen_kappa,
    corrected_rate,
    fleiss_kappa,
    krippendorff_alpha,
    pair_swap_test,
    pairwise_p,
    pearson,
    spearman,
    tau_23,
    tau_b,
    tau_c,
    value_at,
    verdict_agreement,
    williams_test,
    wilson,
)
from metrichub.agreement.prediction_powered import prediction_powered
from tests.agreement.vectors import array, starting
from tests.vectors import SHARED, corpus

OF_VECTORS = {
    "pearson": pearson,
    "spearman": spearman,
    "tau_b": tau_b,
    "tau_c": tau_c,
    "tau_23": tau_23,
    "acc_eq": acc_eq,
}
close = pytest.approx


def ids(row: dict[str, Any]) -> str:
    return str(row["id"])


@pytest.mark.parametrize("row", starting("coef-"), ids=ids)
def test_coefficients_of_two_vectors(row: dict[str, Any]) -> None:
    for name, expected in row["expected"].items():
        value = OF_VECTORS[name](row["input"]["x"], row["input"]["z"])
        assert np.isnan(value) if expected is None else value == close(expected, abs=1e-9), name


LEVEL_NAMES = {
    **{
        f"{name}_{level}": (level, name)
        for level in ("pooled", "item", "within_system")
        for name in ("pearson", "spearman", "tau_b", "acc_eq", "acc_eq_calibrated")
    },
    **{f"system_{name}": ("system", name) for name in ("pearson", "spearman", "tau_b")},
    "system_pairwise_accuracy": ("system", "acc_eq"),
    "soft_pairwise_accuracy": ("system", "soft_pairwise_accuracy"),
    "nlpstats_input_kendall": ("item", "tau_b"),
    "nlpstats_system_pearson": ("system", "pearson"),
    "nlpstats_global_spearman": ("pooled", "spearman"),
}


@pytest.mark.parametrize("row", starting("grid-"), ids=ids)
def test_levels_of_a_grid(row: dict[str, Any]) -> None:
    metric, human = array(row["input"]["metric"]), array(row["input"]["human"])
    for name, expected in row["expected"].items():
        if name in LEVEL_NAMES:
            value = value_at(*LEVEL_NAMES[name], metric, human)
            assert value.value == close(expected, abs=1e-9), name
        elif name.startswith("threshold_"):
            level = name.removeprefix("threshold_")
            value = value_at(level, "acc_eq_calibrated", metric, human)
            assert value.epsilon == close(expected, abs=1e-9), name
        elif name in ("item_groups_used", "used"):
            assert value_at("item", "tau_b", metric, human).used == expected
        else:
            assert name == "tau_b_item_nan_as_zero"


def test_tie_calibration_uses_items_with_a_pair_and_counts_those_with_a_single_output() -> None:
    # Both systems, one of them, and neither were rated on the items.
    human = array([[1, 2, None], [3, None, None]])
    value = value_at("item", "acc_eq_calibrated", array([[1, 1, 1], [2, 2, 2]]), human)
    assert (value.value, value.used, value.undefined) == (1, 1, 1)


def test_p_values_of_pairs_of_systems() -> None:
    (row,) = starting("pairwise-p")
    p_values = pairwise_p(array(row["input"]["scores"]))
    assert p_values == close(array(row["expected"]["p"]), abs=1e-9, nan_ok=True)


def test_williams_test() -> None:
    (row,) = starting("williams")
    inputs = row["input"]
    p = williams_test(inputs["r12"], inputs["r13"], inputs["r23"], inputs["n"])
    assert p == close(row["expected"]["p"], abs=1e-9)


@pytest.mark.parametrize("row", starting("alpha-"), ids=ids)
@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval", "ratio"])
def test_krippendorff_alpha(row: dict[str, Any], scale: Any) -> None:
    alpha = krippendorff_alpha(array(row["input"]["ratings"]).T, scale)
    assert alpha == close(row["expected"][scale], abs=1e-9)


def test_cohen_and_fleiss_kappa() -> None:
    (row,) = starting("kappa")
    labels = row["input"]["a"], row["input"]["b"]
    assert cohen_kappa(*labels) == close(row["expected"]["plain"])
    assert cohen_kappa(*labels, "linear") == close(row["expected"]["linear"])
    assert cohen_kappa(*labels, "quadratic") == close(row["expected"]["quadratic"])
    (row,) = starting("fleiss")
    assert fleiss_kappa(row["input"]["ratings"]) == close(row["expected"]["kappa"])


def test_scores_beside_labels() -> None:
    (row,) = starting("binary")
    inputs, expected = row["input"], row["expected"]
    assert auc(inputs["score"], inputs["label"]) == close(expected["auc"])
    verdicts = verdict_agreement(inputs["score"], inputs["label"], cut=inputs["cut"])
    assert [list(line) for line in verdicts.confusion] == expected["confusion"]
    for name in ("balanced_accuracy", "kappa", "mcc"):
        assert getattr(verdicts, name) == close(expected[name]), name
    balanced = balanced_accuracy(inputs["score"], inputs["label"], inputs["cut"])
    assert balanced == close(expected["balanced_accuracy"])


def test_wilson_interval_and_corrected_rate() -> None:
    (row,) = starting("wilson")
    share = wilson(row["input"]["k"], row["input"]["n"])
    assert share[1:] == close(row["expected"]["interval"])
    (row,) = starting("rogan-gladen")
    inputs = row["input"]
    rate = corrected_rate(
        inputs["passed"] / inputs["judged"], inputs["tpr_pass"], 1 - inputs["fpr_pass"]
    )
    assert rate == close(row["expected"]["rate"])


@pytest.mark.parametrize("row", starting("ppi-"), ids=ids)
def test_prediction_powered_means(row: dict[str, Any]) -> None:
    inputs, expected = row["input"], row["expected"]
    y, f, u = (array(inputs[name]) for name in "yfu")
    # The official interval is that of the normal distribution, without correction.
    z = NormalDist().inv_cdf((1 + inputs["level"]) / 2)
    for weight, end in ((None, ""), (1.0, "_lambda1")):
        mean = prediction_powered(y, f, u, weight)
        half = z * sqrt(mean.of_labels + mean.of_others)
        names = (f"mean{end}", f"low{end}", f"high{end}")
        ends = [mean.mean, mean.mean - half, mean.mean + half]
        assert ends == close([expected[name] for name in names], abs=1e-9)


@pytest.mark.parametrize("row", starting("alt-test"), ids=ids)
def test_alternative_test(row: dict[str, Any]) -> None:
    inputs = row["input"]
    result = alternative_test(
        inputs["judge"],
        array(inputs["humans"]).T,
        score=inputs["score"],
        epsilon=inputs["epsilon"],
        rate=inputs["fdr"],
    )
    assert result.winning_rate == row["expected"]["winning_rate"]
    assert result.advantage_probability == close(row["expected"]["advantage_probability"])


def test_the_swap_of_pairs_is_a_sign_test() -> None:
    (row,) = starting("pair-flips")
    right = array(row["input"]["right1"]), array(row["input"]["right2"])
    assert (right[0] != right[1]).sum() == row["expected"]["discordant"]
    # The difference is that of metric 2, which is right of one pair more.
    delta, upper, both = pair_swap_test(right[1], right[0])
    assert delta == close(row["expected"]["delta"])
    assert (upper, both) == (row["expected"]["p_one_sided"], row["expected"]["p_two_sided"])


def test_published_agreement_of_unieval() -> None:
    human = [row["human_factuality"] for row in corpus("fact_qags_cnn.jsonl")]
    text = (SHARED / "conformance" / "meta-vectors.jsonl").read_text(encoding="utf-8")
    (row,) = [v for v in map(json.loads, text.splitlines()) if v["id"] == "unieval-qags-cnn"]
    for name, expected in row["expected"].items():
        value = OF_VECTORS[name](row["input"]["x"], human)
        assert value == close(expected, abs=row["tolerance"]), name
