"""People's ratings as numbers: one a sample, several raters', yes and no, or errors by MQM."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from metrichub.agreement.mqm import are_spans, span_ratings
from metrichub.errors import InputError, what

Array = NDArray[np.float64]
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


class Ratings(NamedTuple):
    """Ratings of N samples by up to R raters each: (N, R), `nan` where there is none."""

    table: Array

    @property
    def mean(self) -> Array:
        """The mean of each sample's raters (N,)."""
        rated = ~np.isnan(self.table)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(rated, self.table, 0).sum(1) / rated.sum(1))

    @property
    def consensus(self) -> Array:
        """The mean of each sample's raters (N,); of labels and preferences their majority."""
        return self.mean

    def without(self, rater: int) -> Self:
        """The ratings of the other raters."""
        return self._replace(table=np.delete(self.table, rater, axis=1))

    @property
    def raters(self) -> int:
        """The most raters that a sample has."""
        return int(self.table.shape[1])

    @property
    def of_labels(self) -> bool:
        """Whether every rating is 0 or 1."""
        ratings = self.table[~np.isnan(self.table)]
        return bool(len(ratings)) and bool(np.isin(ratings, (0, 1)).all())

    def labels(self, dimension: str, yes_from: float | None) -> YesNoLabels:
        """The same as yes (1) and no (0), by the lowest rating that is a yes, if there is one.

        Raises:
            InputError: other numbers than 0 and 1, and no such rating.
        """
        if yes_from is not None:
            return YesNoLabels(np.where(np.isnan(self.table), np.nan, self.table >= yes_from))
        if not self.of_labels:
            raise InputError(
                f"{dimension} isn't yes or no; set the lowest rating that counts as yes: yes_from=4"
            )
        return YesNoLabels(self.table)


class YesNoLabels(Ratings):
    """Labels of N samples by up to R raters each: 1 for yes, 0 for no."""

    @property
    def consensus(self) -> Array:
        """Whether more than half of a sample's raters say yes (N,)."""
        mean = self.mean
        return np.where(np.isnan(mean), np.nan, mean > 0.5)


def read_ratings(dimension: str, values: Iterable[Any], size: int) -> Ratings:
    """Ratings from a number, a list of numbers or None a sample; "yes" and "no" are 1 and 0.

    A list of errors, dicts with a severity, is minus their weights (see `span_ratings`).

    Raises:
        InputError: another length, or what isn't a number.
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiub":
        table = np.asarray(values, np.float64)
        table = table[:, None] if table.ndim == 1 else table
        if table.ndim != 2 or len(table) != size:
            raise InputError(f"{dimension} has the shape {values.shape} for {size} samples")
        return Ratings(table)
    values = list(values)
    values = span_ratings(dimension, values) if are_spans(values) else values
    cells = [value if isinstance(value, (list, tuple, np.ndarray)) else [value] for value in values]
    if len(cells) != size:
        raise InputError(f"{dimension} has {len(cells)} ratings for {size} samples")
    table = np.full((size, max([1, *map(len, cells)])), np.nan)
    for at, cell in enumerate(cells):
        table[at, : len(cell)] = [_number(dimension, at, value) for value in cell]
    return Ratings(table)


def _number(dimension: str, at: int, value: Any) -> float:
    if value is None:
        return float("nan")
    if isinstance(value, str):
        word = value.strip().lower()
        if word in ("", "nan"):
            return float("nan")
        if word in _WORDS:
            return _WORDS[word]
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(
            f"sample {at}: {dimension} is {what(value)}; a rating is a number, yes or no"
        ) from None


def read_scores(name: str, values: Sequence[Any] | Array, size: int) -> Array:
    """A metric's scores of the samples (N,), `nan` where it has none.

    Raises:
        InputError: another length, or what isn't a number.
    """
    try:
        scores = np.asarray(
            [np.nan if value is None or value == "" else value for value in values], np.float64
        )
    except (TypeError, ValueError):
        raise InputError(f"the scores of {name} aren't one number per sample") from None
    if scores.shape != (size,):
        raise InputError(f"{name} has scores of the shape {scores.shape} for {size} samples")
    return scores
