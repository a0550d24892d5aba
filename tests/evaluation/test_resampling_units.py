"""Units: which samples are drawn together, by the values of a column."""

from __future__ import annotations

from typing import Any

import pytest

from metrichub.errors import ReportError
from metrichub.evaluation.asynchronous import _first
from metrichub.evaluation.resampling_units import clusters, groups


@pytest.mark.parametrize(
    ("values", "of"),
    [
        (["b", "a", "b"], [0, 1, 0]),
        # As a table with a missing value somewhere holds whole numbers.
        ([1, 1.0, 2.0, 2], [0, 0, 1, 1]),
        ([1.5, 1.25, 1.5, 1], [0, 1, 0, 2]),
        ([1, "1", True, ["1"]], [0, 1, 2, 3]),
        ([], []),
    ],
)
def test_samples_with_one_value_are_one_unit(values: list[Any], of: list[int]) -> None:
    units = clusters("doc", {"doc": values})
    assert (
        units.number,
        list(units.unit_of_sample if units.unit_of_sample is not None else []),
    ) == (len({*of}), of)


@pytest.mark.parametrize(
    ("column", "columns", "message"),
    [
        ("doc", {}, r"no column 'doc' \(columns: none\)"),
        ("doc", {"docs": [1], "by": [2]}, r"did you mean 'docs'\? \(columns: docs, by\)"),
        (3, {"doc": [1]}, "choose one column by its name, not by 3"),
        ("doc", {"doc": ["a", None]}, "sample 1 has no doc"),
    ],
)
def test_a_column_of_clusters_has_to_be_there(column: Any, columns: Any, message: str) -> None:
    with pytest.raises(ReportError, match=message):
        clusters(column, columns)


def test_the_samples_of_a_value_are_a_group() -> None:
    result = groups("kind", {"kind": ["b", None, "b"]}, 3)
    assert {value: samples.tolist() for value, samples in result.items()} == {
        "b": [0, 2],
        None: [1],
    }
    assert groups("kind", {}, 0) == {}
    with pytest.raises(ReportError, match="no column 'kind'"):
        groups("kind", {}, 3)
    with pytest.raises(ReportError, match="kind holds lists"):
        groups("kind", {"kind": ["a", ["b"]]}, 2)


def test_the_first_error_of_a_group_is_found_however_deep_it_is() -> None:
    first = ValueError("first")
    group = ExceptionGroup("outer", [ExceptionGroup("inner", [first]), KeyError("second")])
    assert _first(group) is first
