"""What has no value is `nan`, at every level and however it is computed, and nothing is warned."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from metrichub.agreement import (
    acc_eq,
    auc,
    balanced_accuracy,
    correlate,
    pearson,
    spearman,
    tau_23,
    tau_b,
    tau_c,
)
from metrichub.agreement.coefficients import COEFFICIENTS, Options
from metrichub.agreement.levels import LEVELS, chance, value_at
from metrichub.agreement.tie_calibration import calibrate
from metrichub.errors import ParameterError

# Numpy warns of nothing, nor of memory that nothing was written to.
pytestmark = pytest.mark.filterwarnings("error::UserWarning")
Array = NDArray[np.float64]
NAN = float("nan")
CUT = Options(cut=1.0)
PLACES = [
    (level, name)
    for name in COEFFICIENTS
    for level in LEVELS
    if not (name == "soft_pairwise_accuracy" and level != "system")
    and not (name == "tau_wmt" and level != "item")
    and not (name in ("auc", "balanced_accuracy") and level == "system")
]
CORRELATIONS = (pearson, spearman, tau_b, tau_c)
SHARES = (acc_eq, tau_23, auc, partial(balanced_accuracy, cut=1.0))


@pytest.mark.parametrize("of", [*CORRELATIONS, *SHARES])
@pytest.mark.parametrize(
    ("scores", "human"),
    [([], []), ([1], [1]), ([NAN, NAN], [1, 0]), ([1, 0], [NAN, NAN]), ([1, NAN], [NAN, 0])],
    ids=["no place", "one", "no score", "no rating", "no place of both"],
)
def test_of_fewer_than_two_places_nothing_is_known(
    of: Callable[..., float], scores: list[float], human: list[float]
) -> None:
    assert np.isnan(of(scores, human))


@pytest.mark.parametrize(("level", "name"), PLACES)
@pytest.mark.parametrize("shape", [(2, 3), (1, 3), (3, 1), (2, 0)])
def test_without_a_score_of_any_output_there_is_no_value(
    level: str, name: str, shape: tuple[int, int]
) -> None:
    none, human = np.full(shape, np.nan), np.ones(shape)
    for scores, ratings in ((none, human), (human, none)):
        value, used, *_ = value_at(level, name, scores, ratings, CUT)
        assert (np.isnan(value), used) == (True, 0)


@pytest.mark.parametrize("name", COEFFICIENTS)
@pytest.mark.parametrize("level", [*LEVELS, "corpus"])
def test_a_level_has_the_coefficients_that_make_sense_there(level: str, name: str) -> None:
    values = np.arange(6.0).reshape(2, 3) % 4 * 30
    if (level, name) in PLACES:
        assert value_at(level, name, values, values, CUT).used > 0
    else:
        with pytest.raises(ParameterError, match=f"level='{level}' is not allowed; choose "):
            value_at(level, name, values, values, CUT)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        # People tie one of three pairs.
        ("acc_eq", 1 / 3), ("acc_eq_calibrated", 1 / 3), ("tau_23", 2 / 3 - 1),
        ("pearson", 0), ("spearman", 0), ("tau_b", 0), ("tau_c", 0), ("tau_wmt", 0),
        ("auc", 0.5), ("balanced_accuracy", 0.5),
    ],
)  # fmt: skip
def test_chance_is_a_constant_s_value_or_a_coin_s(name: str, value: float) -> None:
    human = np.array([[1.0, NAN], [1.0, NAN], [0.0, 1]])
    assert chance("item", name, human) == pytest.approx(value)


@pytest.mark.parametrize(
    ("scores", "human", "expected"),
    [
        # No pair, and one that people tie, which a threshold of its distance ties too.
        ([[1.0]], [[1.0]], (0, NAN, False)),
        ([[1.0, 3.0]], [[1.0, 1.0]], (2, 1, True)),
        ([[1.0, 1.5]], [[1.0, 1.0]], (0.5, 1, True)),
        # Ordered as people do without any threshold; a metric that ties itself needs none.
        ([[1.0, 3.0]], [[1.0, 2.0]], (0, 1, False)),
        ([[1.0, 1.0]], [[1.0, 1.0]], (0, 1, False)),
        ([[1.0, 1.0]], [[1.0, 2.0]], (0, 0, False)),
        # The first of two groups has three pairs, of which a threshold of 1 ties the right one.
        ([[1.0, 2.0, 9.0], [5.0, 7.0, NAN]], [[1.0, 1.0, 2.0], [1.0, 2.0, 3.0]], (1, 1, False)),
    ],
)
def test_a_threshold_is_the_least_that_is_right_most_often(
    scores: list[list[float]], human: list[list[float]], expected: tuple[float, float, bool]
) -> None:
    calibration = calibrate(np.array(scores), np.array(human))
    assert calibration == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("seed", range(8))
def test_no_threshold_is_right_more_often_than_the_one_that_is_chosen(seed: int) -> None:
    random = np.random.default_rng(seed)
    z = random.integers(0, 3, (4, 6)).astype(float)
    x = np.round(z + random.normal(size=z.shape), 1)
    x[0, :5] = z[1, 2] = x[2, 0] = np.nan
    value = calibrate(x, z)
    apart = np.abs(x[:, :, None] - x[:, None, :])
    means = {
        epsilon: np.nanmean([acc_eq(*row, epsilon) for row in zip(x, z, strict=True)])
        for epsilon in (0.0, *np.unique(apart[~np.isnan(apart)]))
    }
    assert value.accuracy == pytest.approx(max(means.values()))
    assert means[value.epsilon] == pytest.approx(value.accuracy)
    # Each pair of places that have both, in either order.
    present = ~np.isnan(x + z)
    pairs = apart[present[:, :, None] & present[:, None, :] & ~np.eye(6, dtype=bool)]
    assert value.ties_nearly_all == (value.epsilon > 0 and (pairs <= value.epsilon).mean() > 0.95)


@pytest.mark.parametrize("system", [None, ["x", "x"]])
def test_two_samples_that_nobody_rated_have_rows_without_values(system: Any) -> None:
    agreement = correlate([1, 2], [None, None], system=system, draws=9)
    assert all(np.isnan([row.value, row.low, row.high]).all() for row in agreement.rows[:1])
    assert agreement.rows[0].note == ""
    assert [row.metric for row in agreement.rows[:3]] == ["score", "human ceiling", "chance"]
