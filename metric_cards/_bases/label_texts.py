"""Label texts: labels and numbers as they are compared, in Unicode's form NFC, and in order."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Literal

import numpy as np

from metrichub.errors import ParameterError, what

_WHOLE = re.compile(r"(-?[1-9][0-9]*|0)\.0")
"""A whole number as pandas writes it if its column has fractions or empty cells."""


def texts_of_labels(value: object) -> Any:
    """The text of a label, or those of a list of them: 1 and 1.0 as "1", True as "True".

    Raises:
        ValueError: a label is neither a text nor a number, nor True or False.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return list(map(texts_of_labels, value))
    if isinstance(value, str):
        return value
    if not isinstance(value, (int, float)) or str(value) == "nan":
        raise ValueError(f"is {what(value)}, not a label: a text, a number, or True or False")
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def texts_of_numbers(value: object, decimal: str = ".") -> Any:
    """A number as text, also each in a list; anything else as it is.

    18.0 is "18", as a table has fractions where one of its whole numbers is missing.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [texts_of_numbers(item, decimal) for item in value]
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return value
    # A whole number may be too large for a float.
    if not isinstance(value, int) and not math.isfinite(value):
        return value
    text = str(int(value)) if value == int(value) else f"{Decimal(str(value)):f}"
    return text.replace(".", decimal)


def check_listed(
    metric: str, labels: Sequence[str | int], unknown: Literal["wrong", "error"]
) -> None:
    """Check that listed labels differ, and that there are some if others are an error.

    Raises:
        ParameterError: they don't, or there are none.
    """
    if len({normal(str(label)) for label in labels}) < len(labels):
        raise ParameterError(metric, "labels", labels, "different labels")
    if unknown == "error" and not labels:
        raise ParameterError(metric, "unknown", unknown, "'wrong' without labels")


def normal(label: str) -> str:
    """The label in the form NFC."""
    return label if label.isascii() else unicodedata.normalize("NFC", label)


def label_of(text: str) -> str:
    """The label in the form NFC, a whole number without a fraction: "1.0" as "1".

    1.0 is "1" by `texts_of_labels`, so that a data frame and its CSV have the same labels.
    """
    match = _WHOLE.fullmatch(text)
    return match[1] if match else normal(text)


def ordered(labels: Iterable[str]) -> list[str]:
    """The labels by their numbers if all are numbers, else by their code points."""
    try:
        return sorted(labels, key=lambda label: (_number(label), label))
    except ValueError:
        return sorted(labels)


def _number(label: str) -> float:
    number = float(label)
    if math.isnan(number):
        raise ValueError(label)
    return number
