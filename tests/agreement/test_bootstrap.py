"""Bootstrap intervals: each draw's value is that of the cells it drew, however it is computed."""

import warnings

import numpy as np
import pytest

from metrichub.agreement import bootstrap as module
from metrichub.agreement.bootstrap import (
    DRAWN,
    Drawn,
    _blocks,
    _materialized,
    interval_of,
    resampled,
)
from metrichub.agreement.coefficients import Options
from metrichub.agreement.levels import rows_at
from metrichub.agreement.soft_pairwise import pairwise_p
from metrichub.agreement.tie_calibration import calibrate
from metrichub.errors import ParameterError


def matrices(seed: int = 0, shape: tuple[int, int] = (6, 9)):
    """Scores and ratings with ties, missing values, and an item all of whose ratings are equal."""
    random = np.random.default_rng(seed)
    x = np.round(random.normal(size=shape), 1)
    z = np.round(x + random.normal(size=shape))
    x[0, 1] = z[2, 4] = z[3, 0] = np.nan
    z[:, 5] = 1
    return x, z


@pytest.mark.parametrize(
    ("name", "epsilon"),
    [("pearson", 0), ("tau_b", 0), ("tau_23", 0), ("acc_eq", 0), ("acc_eq", 0.25)],
)
@pytest.mark.parametrize("draw", DRAWN)
def test_sums_over_weighted_pairs_equal_drawn_matrices(
    name: str, epsilon: float, draw: str
) -> None:
    x, z = matrices(1)
    # Some scores are exactly epsilon apart.
    x = np.round(8 * x) / 8
    drawn, options = Drawn(draw, 40, 5), Options(epsilon=epsilon)
    slow = [_materialized("item", name, x, z, options, b) for b in _blocks(x.shape, 54, drawn)]
    assert resampled("item", name, x, z, drawn, options) == pytest.approx(
        np.concatenate(slow), abs=1e-12, nan_ok=True
    )


@pytest.mark.parametrize("draw", DRAWN)
def test_calibrated_accuracy_is_drawn_with_the_threshold_of_all(draw: str) -> None:
    _, z = matrices()
    x = z + np.random.default_rng(2).uniform(0, 0.25, z.shape)
    epsilon = calibrate(*rows_at("item", x, z)).epsilon
    assert epsilon > 0
    calibrated = resampled("item", "acc_eq_calibrated", x, z, Drawn(draw, 30))
    resampled_values = resampled("item", "acc_eq", x, z, Drawn(draw, 30), Options(epsilon=epsilon))
    assert calibrated.tolist() == resampled_values.tolist()


@pytest.mark.parametrize("draw", DRAWN)
@pytest.mark.parametrize("level", ["item", "pooled", "system", "within_system"])
def test_a_system_and_its_copy_are_no_pair_of_the_accuracy(level: str, draw: str) -> None:
    # The metric is right of every pair, so that its accuracy is 1 in every draw, and counts no pair
    # of an output with itself: with those a metric that is always wrong would gain.
    z = np.arange(20.0).reshape(4, 5)
    z[1, 2] = np.nan
    for sign, expected in ((1, 1.0), (-1, 0.0)):
        values = resampled(level, "acc_eq", sign * z, z, Drawn(draw, 30))
        assert set(values[~np.isnan(values)]) == {expected}


@pytest.mark.parametrize("name", ["spearman", "tau_b", "soft_pairwise_accuracy", "tau_wmt"])
def test_the_size_of_blocks_changes_no_number(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x, z = matrices(2)
    level = "system" if name.startswith("soft") else "item"
    options = Options(threshold=1)
    for drawn in (Drawn("both", 12), Drawn("items", 12)):
        monkeypatch.undo()
        before = resampled(level, name, x, z, drawn, options)
        # A draw has 54 cells, and an item 15 pairs.
        for cells in (109, 20, 1):
            monkeypatch.setattr(module, "_CELLS", cells)
            after = resampled(level, name, x, z, drawn, options)
            assert after == pytest.approx(before, nan_ok=True)


@pytest.mark.parametrize("draw", DRAWN)
def test_a_draw_s_soft_accuracy_is_that_of_its_pairs_of_different_systems(draw: str) -> None:
    random = np.random.default_rng(8)
    z = random.normal(size=(4, 1)) + random.normal(size=(4, 12))
    x = z + random.normal(size=z.shape)
    drawn = Drawn(draw, 8, seed=2)
    values = resampled("system", "soft_pairwise_accuracy", x, z, drawn)
    (block,) = _blocks(z.shape, 48, drawn)
    for k in range(8):
        items = np.arange(12) if block.items is None else block.items[k]
        p, q = pairwise_p(x[:, items]), pairwise_p(z[:, items])
        systems = range(4) if block.systems is None else sorted(block.systems[k])
        pairs = [(i, j) for at, i in enumerate(systems) for j in systems[at + 1 :] if i != j]
        expected = np.mean([1 - abs(p[i, j] - q[i, j]) for i, j in pairs]) if pairs else np.nan
        assert values[k] == pytest.approx(expected, nan_ok=True)


def test_the_draws_of_a_seed_are_two_streams_of_numpy_s_generator() -> None:
    # On record, so that another version draws the same: published intervals can be made again.
    (block,) = _blocks((8, 8), 64, Drawn("both", 9, seed=7))
    for drawn, stream in ((block.systems, 0), (block.items, 1)):
        expected = np.random.default_rng([7, stream]).integers(0, 8, (9, 8))
        np.testing.assert_array_equal(drawn, expected)


def test_an_interval_leaves_out_draws_without_a_value() -> None:
    values = np.array([np.nan, *range(101)], float)
    assert interval_of(values, 0.9) == pytest.approx((5, 95))
    assert np.isnan(interval_of(values[:1], 0.9)).all()


def test_another_draw_is_refused() -> None:
    with pytest.raises(ParameterError, match="draw='rows'"):
        resampled("item", "tau_b", *matrices(), Drawn("rows"))
    with pytest.raises(ParameterError, match="draws=-1"):
        resampled("item", "tau_b", *matrices(), Drawn("items", -1))


@pytest.mark.parametrize("draw", DRAWN)
@pytest.mark.parametrize("name", ["acc_eq", "acc_eq_calibrated", "tau_23"])
def test_a_system_without_scores_makes_no_pair_of_a_draw(name: str, draw: str) -> None:
    # The metric turns the order of people round, so every draw with a pair has the lowest value.
    z = np.arange(20.0).reshape(4, 5)
    x = -z
    x[3] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = resampled("system", name, x, z, Drawn(draw, 200, seed=1))
    assert {*values[~np.isnan(values)]} == {-1.0 if name == "tau_23" else 0.0}
    # Draws of one system with scores have no pair.
    assert np.isnan(values).any() == (draw != "items")
