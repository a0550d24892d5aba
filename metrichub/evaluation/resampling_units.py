"""Units: what a bootstrap draws and a paired test swaps: samples, clusters of them, or buckets."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.data.metadata import LONGEST
from metrichub.errors import ReportError, did_you_mean, what

TOO_LONG = f"if the data has it, metrics read it, or a value has over {LONGEST} characters"
"""Why a report may lack a column of the data."""


class Units(NamedTuple):
    """`number` units, and the unit of every sample, (N,); None where each is a separate unit.

    Where samples weren't kept, the units are the buckets that hold any, by their places: `filled`.
    """

    number: int
    unit_of_sample: NDArray[np.int64] | None = None
    filled: NDArray[np.int64] | None = None


def clusters(column: str, metadata: Mapping[str, Sequence[Any]]) -> Units:
    """The samples that share a value of a column as one unit, in the order of their first samples.

    Raises:
        ReportError: the report has no such column, or a sample has no value.
    """
    _check_column(column, metadata)
    numbers: dict[str, int] = {}
    unit_of_sample = np.zeros(len(metadata[column]), np.int64)
    for sample, value in enumerate(metadata[column]):
        if value is None:
            raise ReportError(
                f"sample {sample} has no {column}, so it belongs to no cluster; give it a value"
            )
        # A part of a table with a missing value somewhere holds whole numbers as fractions.
        integral = isinstance(value, float) and value.is_integer()
        name = json.dumps(int(value) if integral else value)
        unit_of_sample[sample] = numbers.setdefault(name, len(numbers))
    return Units(len(numbers), unit_of_sample)


def groups(
    column: str, metadata: Mapping[str, Sequence[Any]], size: int
) -> dict[Any, NDArray[np.int64]]:
    """The samples of every value of a column, the values in the order of their first samples.

    Raises:
        ReportError: the report has no such column, or it holds lists.
    """
    if size or metadata:
        _check_column(column, metadata)
    samples_of: dict[Any, list[int]] = {}
    for sample, value in enumerate(metadata.get(column, ())):
        if isinstance(value, list):
            raise ReportError(f"{column} holds lists; group samples by a column of single values")
        samples_of.setdefault(value, []).append(sample)
    return {value: np.array(samples, np.int64) for value, samples in samples_of.items()}


def _check_column(column: object, metadata: Mapping[str, Sequence[Any]]) -> None:
    if not isinstance(column, str):
        raise ReportError(f"choose one column by its name, not by {what(column)}")
    if column not in metadata:
        have = ", ".join(metadata) or "none"
        error = ReportError(
            f"the report has no column {column!r}{did_you_mean(column, metadata)} (columns: "
            f"{have}); {TOO_LONG}"
        )
        raise error.with_remedy("keep_column", column)
