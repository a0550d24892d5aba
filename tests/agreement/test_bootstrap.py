"""Bootstrap intervals: each draw's value is that of the cells it drew, however it is computed."""

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.stats

from metrichub.agreement import bootstrap as module
from metrichub.agreement.bootstrap import (
    DRAWN,
    Drawn,
    _blocks,
    _materialised,
    interval_of,
    resampled,
)
from metrichub.agreement.coefficients import Options
from metrichub.errors import ParameterError


def matrices(seed: int = 0, shape: tuple[int, int] = (6, 9)):
    """Scores and ratings with ties, missing values, and an item all of whose ratings are equal."""
    random = np.random.default_rng(seed)
    x = np.round(random.normal(size=shape), 1)
    z = np.round(x + random.normal(size=shape))
    x[0, 1] = z[2, 4] = z[3, 0] = np.nan
    z[:, 5] = 1
    return x, z


@pytest.mark.parametrize("draw", DRAWN)
def test_a_draw_is_the_mean_of_scipy_over_the_items_that_it_drew(draw: str) -> None:
    x, z = matrices()
    drawn = Drawn(draw, 25, seed=3)
    drawn_values = resampled("item", "tau_b", x, z, drawn)
    (block,) = _blocks(x.shape, drawn)
    for k in range(25):
        a = x if block.systems is None else x[block.systems[k]]
        b = z if block.systems is None else z[block.systems[k]]
        items = range(9) if block.items is None else block.items[k]
        values = []
        for i in items:
            there = ~(np.isnan(a[:, i]) | np.isnan(b[:, i]))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                values.append(scipy.stats.kendalltau(a[there, i], b[there, i])[0])
        assert drawn_values[k] == pytest.approx(np.nanmean(values), abs=1e-6)


@pytest.mark.parametrize("name", ["pearson", "tau_b", "tau_23", "acc_eq"])
@pytest.mark.parametrize("draw", DRAWN)
def test_sums_over_weighted_pairs_equal_drawn_matrices(name: str, draw: str) -> None:
    x, z = matrices(1)
    drawn = Drawn(draw, 40, 5)
    slow = [_materialised("item", name, x, z, b, Options()) for b in _blocks(x.shape, drawn)]
    assert resampled("item", name, x, z, drawn) == pytest.approx(
        np.concatenate(slow), abs=1e-6, nan_ok=True
    )


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
    drawn = Drawn("both" if name == "spearman" else "items", 12)
    options = Options(threshold=1)
    before = resampled(level, name, x, z, drawn, options)
    monkeypatch.setattr(module, "_CELLS", 100)
    after = resampled(level, name, x, z, drawn, options)
    assert after == pytest.approx(before, nan_ok=True)


def test_items_are_drawn_alike_with_and_without_systems() -> None:
    (items,), (both,) = (list(_blocks((3, 8), Drawn(draw, 9))) for draw in ("items", "both"))
    assert (items.items == both.items).all()
    assert items.systems is None


@pytest.mark.parametrize(("level", "name"), [("item", "tau_b"), ("pooled", "spearman")])
def test_memory_is_that_of_a_block_and_not_of_all_draws(
    level: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CELLS", 100_000)
    x, z = matrices(3, (16, 100))
    peaks = []
    for draws in (200, 800):
        tracemalloc.start()
        resampled(level, name, x, z, Drawn("both", draws))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def test_an_interval_leaves_out_draws_without_a_value() -> None:
    values = np.array([np.nan, *range(101)], float)
    assert interval_of(values, 0.9) == pytest.approx((5, 95))
    assert np.isnan(interval_of(values[:1], 0.9)).all()


def test_another_draw_is_refused() -> None:
    with pytest.raises(ParameterError, match="draw='rows'"):
        resampled("item", "tau_b", *matrices(), Drawn("rows"))
    with pytest.raises(ParameterError, match="draws=-1"):
        resampled("item", "tau_b", *matrices(), Drawn("items", -1))
