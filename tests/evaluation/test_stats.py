"""Stats: rows that add up however they are cut, taken and flattened."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from metrichub.errors import MetricError
from metrichub.evaluation.stats import Stats
from metrichub.metric import Unscored

numbers = st.integers(-1000, 1000).map(float) | st.just(float("nan"))


@st.composite
def measured(draw: Any, rows: st.SearchStrategy[int] = st.integers(0, 6)) -> Stats:  # noqa: B008  # immutable
    """Rows of a count, a vector of counts and a number that may be `nan`."""
    size = draw(rows)
    return Stats.of(
        {
            "count": draw(arrays.arrays(np.int64, size, elements=st.integers(0, 50))),
            "orders": draw(arrays.arrays(np.int32, (size, 3), elements=st.integers(0, 50))),
            "share": draw(arrays.arrays(np.float64, size, elements=numbers)),
        },
        size,
        draw(st.dictionaries(st.integers(0, size - 1), st.text(max_size=3))) if size else None,
    )


def same(first: Stats, other: Stats) -> bool:
    return (
        first.arrays.keys() == other.arrays.keys()
        and all(np.array_equal(a, other.arrays[name]) for name, a in first.arrays.items())
        and np.array_equal(first.scored, other.scored)
        and dict(first.reasons) == dict(other.reasons)
    )


@given(measured())
def test_an_unscored_row_holds_zeros_and_is_not_counted(stats: Stats) -> None:
    assert stats.count == sum(stats.scored)
    for array in stats.arrays.values():
        assert not array[~stats.scored].any()
        assert np.isfinite(array).all()


def test_a_nan_in_any_statistic_leaves_the_whole_row_unscored() -> None:
    stats = Stats.of({"a": [1, 2], "b": [[1.0, 2.0], [3.0, np.nan]]}, 2)
    assert stats.scored.tolist() == [True, False]
    assert stats.totals()["a"] == 1
    assert stats.totals()["b"].tolist() == [1.0, 2.0]


@given(measured(), st.data())
def test_splitting_anywhere_and_concatenating_is_the_whole(stats: Stats, data: Any) -> None:
    cut = data.draw(st.integers(0, len(stats)))
    index = np.arange(len(stats))
    parts = [stats.take(index[:cut]), stats.take(index[cut:])]
    joined = Stats.concatenate(parts)
    assert same(joined, stats)
    for name, total in joined.totals().items():
        assert np.array_equal(total, sum(part.totals()[name] for part in parts))


@given(measured(st.integers(1, 6)), st.data())
def test_taking_moves_rows_and_their_reasons_together(stats: Stats, data: Any) -> None:
    index = np.array(data.draw(st.lists(st.integers(0, len(stats) - 1))), np.int64)
    taken = stats.take(index)
    for new, old in enumerate(index.tolist()):
        assert taken.scored[new] == stats.scored[old]
        assert taken.arrays["orders"][new].tolist() == stats.arrays["orders"][old].tolist()
        assert taken.reasons.get(new) == stats.reasons.get(old)


@given(measured(), st.data())
def test_unflat_of_weighted_sums_is_the_weighted_sum_of_every_statistic(
    stats: Stats, data: Any
) -> None:
    weights = data.draw(
        arrays.arrays(np.float64, (2, len(stats)), elements=st.integers(0, 3).map(float))
    )
    rows = stats.sums()
    sums, count = rows.unflat(weights @ rows.flat())
    assert np.array_equal(count, weights @ stats.scored)
    for name, array in stats.arrays.items():
        assert np.array_equal(sums[name], np.tensordot(weights, array, 1))


def test_a_part_without_a_scored_row_takes_the_shape_of_the_others() -> None:
    # A metric that scores nothing in a block can't know that its statistic has two numbers.
    blank = Stats.of({"pair": [np.nan, np.nan]}, 2, {1: "no words"})
    full = Stats.of({"pair": [[1, 2]]}, 1)
    for parts in ([blank, full], [full, blank], [blank, blank, full]):
        joined = Stats.concatenate(parts)
        assert joined.arrays["pair"].shape == (sum(map(len, parts)), 2)
        assert joined.totals()["pair"].tolist() == [1, 2]
    assert Stats.concatenate([full, blank]).reasons == {2: "no words"}


@pytest.mark.parametrize("other", [{"b": [1]}, {"a": [1], "b": [1]}, {"a": [[1, 2]]}], ids=str)
def test_parts_with_other_statistics_are_refused(other: Any) -> None:
    scored = np.array([True, False])
    parts = [
        Stats({name: np.repeat(values, 2, axis=0) for name, values in result.items()}, scored)
        for result in ({"a": [1]}, other)
    ]
    for order in (parts, parts[::-1]):
        with pytest.raises(MetricError, match="have to be the same for all samples"):
            Stats.concatenate(order)


@pytest.mark.parametrize("values", [[1], [1, 2, 3], 1, ["a", "b"], [1j, 2j], [None, 1]], ids=repr)
def test_what_is_no_row_of_numbers_a_sample_is_refused(values: Any) -> None:
    with pytest.raises(MetricError, match=r"the statistic 'n' has shape .* \(2, ...\) are needed"):
        Stats.of({"n": values}, 2)


def test_rows_that_lose_their_score_have_new_reasons() -> None:
    stats = Stats.of({"a": [1, np.nan, 3]}, 3, {1: "old"}, {1: "empty"})
    without = stats.without({0: Unscored("no letters", "unread_letters"), 1: Unscored("other")})
    assert without.scored.tolist() == [False, False, True]
    assert without.totals() == {"a": 3}
    assert without.reasons == {0: "no letters", 1: "other"}
    # What is unscored for its reference isn't so for its prediction any more.
    assert without.undefined_for == {0: "unread_letters"}
    assert stats.without({}) is stats


def test_a_row_takes_the_place_of_those_without_a_score_for_their_prediction_too() -> None:
    values, kinds = [1, np.nan, np.nan, 4], {1: "no_tokens"}
    stats = Stats.of({"a": values}, 4, {1: "no words", 2: "no reference"}, kinds)
    replaced = stats.replaced(np.array([True, True, True, False]), {"a": -1})
    assert replaced.arrays["a"].tolist() == [-1, -1, 0, 4]
    assert replaced.scored.tolist() == [True, True, False, True]
    assert (replaced.reasons, replaced.undefined_for) == ({2: "no reference"}, {})


def test_what_cancels_is_summed_exactly_in_every_column() -> None:
    column, plain = [1e16, 1.0, -1e16, 2.0], [0.1, 0.2, 0.3, -0.25]
    values = [2**60, 1, -(2**60), 2]
    stats = Stats.of({"pair": np.array([[column, plain], [plain, column]]).T, "n": values}, 4)
    totals = stats.totals()
    assert totals["pair"].tolist() == [[3.0, sum(plain)], [sum(plain), 3.0]]
    assert totals["n"] == 3
    assert Stats.of({"x": column}, 4).totals()["x"] == 3
    # Numbers that don't cancel keep numpy's last digits.
    numbers = np.random.default_rng(0).normal(0.1, 1, (1000, 3))
    assert np.array_equal(Stats.of({"x": numbers}, 1000).totals()["x"], numbers.sum(axis=0))
    for row, total in (([-np.inf, 1.0], -np.inf), ([1e308] * 8 + [-1e308] * 8, 0.0)):
        assert Stats.of({"x": row}, len(row)).totals()["x"] == total


def test_a_number_for_notes_may_lack_in_a_part_and_is_never_scored() -> None:
    # The last part has no scored row, and so can't know the names of the statistics.
    parts = [
        Stats.of({"hits": np.array([1, 2])}, 2),
        Stats.of({"hits": np.array([3]), "noted_short": np.array([1])}, 1),
        Stats.of({"score": np.array([np.nan])}, 1),
    ]
    joined = Stats.concatenate(parts)
    result = {name: array.tolist() for name, array in joined.arrays.items()}
    assert result == {"hits": [1, 2, 3, 0], "noted_short": [0, 0, 1, 0]}
    assert joined.totals() == {"hits": 6, "noted_short": 1}
    assert [*joined.sums().arrays] == ["hits"]
    assert [*joined.grouped(np.zeros(4, np.int64), 1).arrays] == ["hits"]
