"""Recorded: numbers that another program or a person gave each sample, such as `acc`."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from metrichub.authoring import Array, Card, Measured, Metric, Scale, Scores
from metrichub.errors import MetricError, ParameterError

_LARGEST = 1e150
"""The squares of larger numbers, which the error of their mean takes, are infinite in float64."""
_WORDS = {"true": True, "false": False}


class _CardAsSet:
    """The card in this folder, with the range and direction that a metric was given."""

    def __get__(self, metric: Recorded | None, owner: type) -> Card:
        card: Card = Metric.__dict__["card"].__get__(None, owner)
        if metric is None:
            return card
        low, high = metric.range
        scale = Scale(low, high, metric.better or "neither", share=metric.share is True)
        return replace(card, scores={"score": scale})


@dataclass(frozen=True, kw_only=True)
class Recorded(Metric):
    """The mean of numbers that stand in a column, one a sample. It is named after the column.

    Attributes:
        column: The column that holds the numbers: numbers, texts of numbers, or True and False.
        better: Whether higher or lower numbers are better; if None, systems are compared and not
            ranked.
        range: The lowest and the highest possible number, None where there is no bound.
        share: Whether each number is 0 or 1, so that the mean is a share with Wilson's interval; if
            None, this holds for a column of True and False.
    """

    column: str = "score"
    better: Literal["higher", "lower"] | None = None
    range: tuple[float | None, ...] = (None, None)
    share: bool | None = None

    averaging = "macro"
    card = _CardAsSet()

    def __post_init__(self) -> None:
        """Name the metric after its column, and check the range."""
        if not self.name and self.column != "score":
            object.__setattr__(self, "name", re.sub(r"\W+", "_", f"{self.column}"))
        super().__post_init__()
        bounds = [bound for bound in self.range if bound is not None]
        if len(self.range) != 2 or (len(bounds) == 2 and bounds[0] >= bounds[1]):
            raise ParameterError(self.name, "range", self.range, "two bounds, such as (0, 1)")
        if self.share and self.range not in ((None, None), (0, 1)):
            raise ParameterError(self.name, "range", self.range, "(0, 1) for a share")

    def inputs(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def system_inputs(self) -> tuple[str, ...]:
        """The column: each system has numbers of its own."""
        return (self.column,)

    def measure(self, **columns: Sequence[Any]) -> Measured:
        """The numbers (N,), `nan` where there is none, and which of them are True or False.

        Raises:
            MetricError: a number is outside of the range.
        """
        (values,) = columns.values()
        values = [_only(value) for value in values]
        read = [_number(value) for value in values]
        scores = np.array([math.nan if number is None else number for number in read], np.float64)
        too_large = abs(scores) > _LARGEST
        scores[too_large] = math.nan
        reasons = {
            row: f"no {self.column} is recorded"
            if value is None or value == ""
            else f"{value!r} is too large for a mean"
            if too_large[row]
            else f"{value!r} isn't a number"
            for row, value in enumerate(values)
            if math.isnan(scores[row])
        }
        self._check(scores)
        booleans = [isinstance(number, bool) for number in read]
        return Measured({"recorded": scores, "booleans": np.array(booleans, np.int64)}, reasons)

    def score(self, recorded: Array, booleans: Array, count: Array) -> Scores:
        """The mean."""
        return {"score": recorded / count}

    def scales(self, totals: Mapping[str, Array], count: int) -> Mapping[str, Scale]:
        """A column of nothing but True and False is a share."""
        if self.share is not None or totals["booleans"] < count:
            return {}
        return {"score": Scale(0, 1, self.better or "neither", share=True)}

    def _check(self, numbers: Array) -> None:
        low, high = (0, 1) if self.share else self.range
        scale = Scale(low, high)
        for number in numbers[~np.isnan(numbers)]:
            if float(number) not in scale or (self.share and number not in (0, 1)):
                allowed = "is neither 0 nor 1" if self.share else f"lies outside {scale.interval}"
                raise MetricError(
                    f"{self.name}: {number:g} in the column {self.column!r} {allowed}"
                )


def _only(value: Any) -> Any:
    """The one number of a sample; a column with a plural name, such as "words", has a list."""
    several = isinstance(value, Sequence) and not isinstance(value, str)
    return value[0] if several and len(value) == 1 else value


def _number(value: object) -> float | bool | None:
    """The number, or None where there is none."""
    if isinstance(value, str):
        text = value.strip().lower()
        if text in _WORDS:
            return _WORDS[text]
        try:
            value = float(text)
        except ValueError:
            return None
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if not isinstance(value, numbers.Real):
        return None
    return float(value) if math.isfinite(float(value)) else None
