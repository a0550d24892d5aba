"""DROP: F1 and exact match of answers that are numbers, dates or several spans."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf
from typing import Annotated, Any

import numpy as np

from metric_cards._bases.pairing import best_pairing
from metrichub.authoring import OMIT_DEFAULT, Metric, Range, Row, Unscored

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def spans_of_answers(value: Any) -> Any:
    """The spans of an answer as DROP's files have it, a line each; or those of several answers.

    Raises:
        ValueError: it isn't such an answer.
    """
    if isinstance(value, (list, tuple)):
        return [item if isinstance(item, str) else spans_of_answers(item) for item in value]
    if isinstance(value, Mapping) and value.keys() & {"number", "date", "spans"}:
        date, spans = value.get("date") or {}, value.get("spans") or []
        if isinstance(number := value.get("number"), (str, int, float)) and number != "":
            return f"{number}"
        if isinstance(spans, (list, tuple)) and all(isinstance(span, str) for span in spans):
            if spans:
                return "\n".join(" ".join(span.split()) for span in spans)
            if isinstance(date, Mapping):
                return " ".join(
                    f"{date.get(part, '')}" for part in ("day", "month", "year")
                ).strip()
    raise ValueError("it isn't an answer with a number, a date or spans")


@dataclass(frozen=True, kw_only=True)
class DropF1(Metric):
    """F1 of the tokens of an answer's spans, and whether all of them match (Dua et al. 2019).

    Attributes:
        max_pairs: The most pairs of a prediction's and a reference's spans; a sample with more is
            unanswered, unless one answer holds the other. None compares any.
    """

    max_pairs: Annotated[int | None, Range(1)] = field(default=1_000_000, metadata=OMIT_DEFAULT)

    text_of_objects = staticmethod(spans_of_answers)

    def observe(self, prediction: str, references: Sequence[str]) -> Row | Unscored:
        """The highest F1 and exact match over the references that aren't empty."""
        expected = [_spans(reference) for reference in references if reference.strip()]
        if not expected:
            return Unscored("all references are empty")
        predicted = _spans(prediction)
        most = len(predicted) * max(map(len, expected))
        if most > (self.max_pairs or inf) and not all(_nested(predicted, e) for e in expected):
            why = f"there are over {self.max_pairs:,} pairs of spans; max_pairs=None compares them"
            return Unscored(why, "too_long")
        return {
            "score": max(_f1(predicted, spans) for spans in expected),
            "exact": max(_exact(predicted, spans) for spans in expected),
        }


def _spans(text: str) -> list[str]:
    """The normalized spans, one for each line that isn't blank."""
    lines = [line for line in text.split("\n") if line.strip()] or [""]
    return [
        " ".join(" ".join(map(_token, re.split(" |-", line.lower()))).split()) for line in lines
    ]


@lru_cache(maxsize=1 << 16)
def _token(token: str) -> str:
    """A number as Python writes its float; else the token without punctuation and articles."""
    token = token if _is_number(token) else token.translate(_WITHOUT_PUNCTUATION)
    return str(float(token)) if _is_number(token) else _ARTICLES.sub(" ", token)


@lru_cache(maxsize=1 << 16)
def _is_number(token: str) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return True


def _exact(predicted: Sequence[str], expected: Sequence[str]) -> float:
    return float({*predicted} == {*expected} and len(predicted) == len(expected))


def _f1(predicted: Sequence[str], expected: Sequence[str]) -> float:
    """The mean F1 of the best pairs of spans, over the longer of both lists; two decimals."""
    longest = max(len(expected), len(predicted))
    # Where one list holds all of the other, no pairing is better than that of equal spans.
    if _nested(predicted, expected):
        return round(min(len(expected), len(predicted)) / longest * 100) / 100
    rows, columns = ([{*span.split()} for span in spans] for spans in (expected, predicted))
    scores = [[_overlap(row, column) for column in columns] for row in rows]
    single = len(rows) == len(columns) == 1
    best = scores[0][0] if single else best_pairing(np.array(scores))
    # numpy's rounding: Python's may differ in the last digit.
    return round(best / longest * 100) / 100


def _nested(predicted: Sequence[str], expected: Sequence[str]) -> bool:
    """Whether one of two lists holds all spans of the other, as often as that has them."""
    fewer, more = sorted((Counter(expected), Counter(predicted)), key=Counter.total)
    return fewer <= more


def _overlap(expected: set[str], predicted: set[str]) -> float:
    """F1 of two sets of tokens; 0 if the expected one has numbers of which none is predicted."""
    numbers = {*filter(_is_number, expected)}
    if numbers and not numbers & predicted:
        return 0.0
    shared = len(expected & predicted)
    if not shared:
        return float(expected == predicted)
    # The script's order of operations: another may turn the digit that is rounded.
    precision, recall = shared / len(predicted), shared / len(expected)
    return 2 * precision * recall / (precision + recall)
