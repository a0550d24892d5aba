"""Numeric match: whether a prediction gives the number of its reference."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np

from metric_cards._bases.label_texts import texts_of_numbers
from metric_cards.numeric_match.numbers import Decimal, Number, reader
from metrichub.authoring import Array, Measured, Metric, Range
from metrichub.text import Texts

_SHORT = {
    ".": re.compile(r"-?[0-9]+(?:\.[0-9]+)?").fullmatch,
    ",": re.compile(r"-?[0-9]+").fullmatch,
}
"""Numbers that, if they have up to 15 characters, are equal only if their floats are."""
_MOST = 1e300
_NO_NUMBER = "the reference hasn't just one number"


@dataclass(frozen=True, kw_only=True)
class NumericMatch(Metric):
    """The fraction of predictions whose number is the reference's.

    Attributes:
        absolute: How far a number may be from the reference.
        relative: How far it may be as a share of the reference; the larger of both limits counts.
        percent: Whether 50% is 0.5 and nothing else (`same`), or also equals 50 (`either`).
        units: Whether what stands beside the number, such as "km" or "$", is ignored, or has to be
            the same (`require`).
        decimal: The character between a number's whole and its fraction.
    """

    whole_objects = True
    several_objects = True

    def text_of_objects(self, value: object) -> Any:
        """Numbers as texts with the decimal mark that is read."""
        return texts_of_numbers(value, self.decimal)

    absolute: Annotated[float, Range(0)] = 0.0
    relative: Annotated[float, Range(0)] = 0.0
    percent: Literal["same", "either"] = "same"
    units: Literal["ignore", "require"] = "ignore"
    decimal: Decimal = "."

    def measure(self, prediction: Texts, reference: Texts) -> Measured:
        """1 for a prediction with the reference's number, and 1 for one with a number, (N,)."""
        read, short = reader(self.decimal), _SHORT[self.decimal]
        scores, parsed = np.zeros(len(prediction)), np.ones(len(prediction))
        plain: list[int] = []
        reasons: dict[int, str] = {}
        for row, (text, gold) in enumerate(zip(prediction, reference, strict=True)):
            if len(text) <= 15 and len(gold) <= 15 and short(text) and short(gold):
                plain.append(row)
                continue
            number, expected = read(text), read(gold)
            parsed[row] = number is not None
            if expected is None:
                reasons[row] = _NO_NUMBER
                scores[row] = parsed[row] = np.nan
            elif number:
                scores[row] = self._matches(number, expected)
        scores[plain] = self._near(
            [prediction[row] for row in plain], [reference[row] for row in plain]
        )
        return Measured({"score": scores, "parsed": parsed}, reasons)

    def _matches(self, number: Number, expected: Number) -> bool:
        if self.units == "require" and number.unit != expected.unit:
            return False
        first, other = (n.value / 100 if n.percent else n.value for n in (number, expected))
        if self._is_near(first, other):
            return True
        either = self.percent == "either" and number.percent != expected.percent
        return either and self._is_near(number.value, expected.value)

    def _is_near(self, number: Fraction, expected: Fraction) -> bool:
        if not (self.absolute or self.relative):
            return number == expected
        # As they are written: 0.1 is a tenth here, and its float a little more.
        absolute, relative = (
            Fraction(str(min(limit, _MOST))) for limit in (self.absolute, self.relative)
        )
        return abs(number - expected) <= max(absolute, relative * abs(expected))

    def _near(self, texts: Sequence[str], golds: Sequence[str]) -> Array:
        """The same of short numbers, by their floats, and exactly where these leave a doubt."""
        numbers, expected = (np.array(list(map(float, column))) for column in (texts, golds))
        apart = np.abs(numbers - expected)
        limit = np.maximum(self.absolute, self.relative * np.abs(expected))
        near: Array = apart <= limit
        blur = 1e-9 * (np.abs(numbers) + np.abs(expected) + limit)
        for place in np.flatnonzero((apart > 0) & (np.abs(apart - limit) <= blur)).tolist():
            near[place] = self._is_near(Fraction(texts[place]), Fraction(golds[place]))
        return near
