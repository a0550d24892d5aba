"""JSON validity: whether a prediction is JSON, and what is wrong where it isn't."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from metric_cards._bases.strictjson import read, unfenced
from metrichub.authoring import Metric, Row

_OUTCOMES = (
    *("score", "empty", "truncated", "surrounded", "syntax", "duplicate_keys", "wrong_root"),
)


@dataclass(frozen=True, kw_only=True)
class JsonValidity(Metric):
    """The fraction of predictions that are JSON after RFC 8259, NaN and Infinity refused.

    Attributes:
        extract: Whether the text of the first fenced code block is read, one marked `json` before
            others; a prediction without a block is read whole.
        duplicate_keys: Whether an object may have a key twice. RFC 8259 allows it and says that
            names should be unique.
        root: What the text has to be: any JSON value, an object or an array.
    """

    extract: bool = False
    duplicate_keys: Literal["allowed", "refused"] = "allowed"
    root: Literal["any", "object", "array"] = "any"

    def observe(self, prediction: str) -> Row:
        """1 for what the prediction is, 0 for the other outcomes."""
        outcome = self._outcome(unfenced(prediction) if self.extract else prediction)
        return {name: int(name == outcome) for name in _OUTCOMES}

    def _outcome(self, text: str) -> str:
        reading = read(text, duplicate_keys=self.duplicate_keys == "allowed")
        if reading.problem:
            return reading.problem
        expected = {"any": object, "object": dict, "array": list}[self.root]
        return "score" if isinstance(reading.value, expected) else "wrong_root"
