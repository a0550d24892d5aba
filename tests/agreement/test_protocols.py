"""The named protocols give the published values."""

import numpy as np
import pytest

from metrichub.agreement import correlate, krippendorff_alpha
from tests.agreement.vectors import array, starting
from tests.summeval import experts, labels, rated


@pytest.mark.parametrize("name", ["grid-0", "grid-1"])
def test_wmt25_gives_the_values_of_the_official_tool(name: str) -> None:
    (row,) = starting(name)
    inputs = row["input"]
    agreement = correlate(
        array(inputs["metric"]), array(inputs["human"]), protocol="wmt25", draws=3
    )
    values = [row["expected"][key] for key in ("soft_pairwise_accuracy", "acc_eq_calibrated_item")]
    assert agreement.row(level="system").value == pytest.approx(values[0])
    assert agreement.row(level="item").value == pytest.approx(values[1])
    assert agreement.row(level="item").epsilon == pytest.approx(row["expected"]["threshold_item"])
    assert agreement.row(level="average").value == pytest.approx(np.mean(values))


def test_wmt20_darr_gives_the_value_of_the_official_tool() -> None:
    (row,) = starting("kendall-like")
    metric, human = (array(row["input"][name])[:, None] for name in ("metric", "human"))
    darr = correlate(metric, human, protocol="wmt20-darr", draws=0).row()
    assert (darr.value, darr.used) == (row["expected"]["tau"], row["expected"]["pairs"])


# Three experts of SummEval: alpha interval and ordinal, then the ceiling: item rho and tau-b,
# pooled rho, system tau-b. Computed with krippendorff 0.9 and scipy.
EXPERTS = {
    "coherence": (0.5591, 0.5537, 0.678, 0.590, 0.724, 0.784),
    "consistency": (0.8993, 0.7964, 0.810, 0.792, 0.760, 0.878),
    "fluency": (0.7262, 0.5878, 0.649, 0.626, 0.602, 0.688),
    "relevance": (0.4526, 0.3967, 0.473, 0.413, 0.543, 0.769),
}


@pytest.mark.corpora
@pytest.mark.parametrize("dimension", EXPERTS)
def test_the_ceiling_of_summeval_is_that_of_its_three_experts(dimension: str) -> None:
    rows = experts()
    interval, ordinal, *expected = EXPERTS[dimension]
    ratings = array([row[dimension] for row in rows])
    assert krippendorff_alpha(ratings) == pytest.approx(interval, abs=5e-5)
    assert krippendorff_alpha(ratings, "ordinal") == pytest.approx(ordinal, abs=5e-5)
    agreement = correlate(
        ratings[:, 0],
        rated(rows, dimension),
        **labels(rows),
        level=["item", "pooled", "system"],
        coefficient=["spearman", "tau_b"],
        draws=0,
    )
    places = ("item", "spearman"), ("item", "tau_b"), ("pooled", "spearman"), ("system", "tau_b")
    for (level, name), value in zip(places, expected, strict=True):
        row = agreement.row("human ceiling", level=level, coefficient=name)
        assert row.value == pytest.approx(value, abs=0.001), (level, name)
