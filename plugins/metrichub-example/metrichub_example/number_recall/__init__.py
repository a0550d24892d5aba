"""Number recall: the fraction of the reference's numbers that the prediction states."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from metrichub.authoring import Array, Metric, Row, Scores


@dataclass(frozen=True, kw_only=True)
class NumberRecall(Metric):
    """The fraction of the reference's numbers that the prediction states, pooled (micro)."""

    def observe(self, prediction: str, reference: str) -> Row:
        """How many numbers the reference has, and how many of them the prediction has too."""
        predicted, expected = numbers(prediction), numbers(reference)
        return {"kept": (predicted & expected).total(), "wanted": expected.total()}

    def score(self, kept: Array, wanted: Array) -> Scores:
        """Kept over wanted; `nan` where the reference has no number."""
        return {"score": kept / wanted}


def numbers(text: str) -> Counter[str]:
    """The numbers written in digits, without the commas that group them."""
    return Counter(n.replace(",", "") for n in re.findall(r"[0-9]+(?:[.,][0-9]+)*", text))
