"""JSON validity: whether a prediction is JSON, and what is wrong where it isn't."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from metric_cards._bases.strictjson import read, unfenced
from metrichub.authoring import Metric, Row

_OUTCOMES = (
    *("score", "empty", "truncated", "surrounded", "syntax", "duplicate_keys", "wrong_root"),
)

_ROOTS = {"any": object, "object": dict, "array": list}


@dataclass(frozen=True, kw_only=True)
class JsonValidity(Metric):
    """The fraction of predictions that are JSON as RFC 8259 defines it, without NaN and Infinity.

    Attributes:
        extract: Whether only the first fenced code block is read, preferably one marked `json`; a
            prediction without a block is read as a whole.
        duplicate_keys: Whether an object may repeat a key. RFC 8259 allows it, but says that names
            should be unique.
        root: The required type of the text: any JSON value, an object or an array.
    """

    extract: bool = False
    duplicate_keys: Literal["allowed", "refused"] = "allowed"
    root: Literal["any", "object", "array"] = "any"

    def observe(self, prediction: str) -> Row:
        """1 for the prediction's outcome, 0 for the others."""
        outcome = self._outcome(unfenced(prediction) if self.extract else prediction)
        return {name: int(name == outcome) for name in _OUTCOMES}

    def _outcome(self, text: str) -> str:
        reading = read(text, duplicate_keys=self.duplicate_keys == "allowed")
        if reading.problem:
            return reading.problem
        return "score" if isinstance(reading.value, _ROOTS[self.root]) else "wrong_root"
