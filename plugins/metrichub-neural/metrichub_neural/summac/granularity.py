"""The units of a text that SummaC pairs with those of another."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from metrichub.authoring import sentences

Granularity = Literal["sentence", "2sents", "paragraph", "document"]
_SHORT = 10


def units(text: str, granularity: Granularity) -> list[str]:
    """The parts of a text; of ten characters or fewer only if it is the whole."""
    if granularity == "document":
        return [text]
    if granularity == "paragraph":
        blocks = text.split("\n\n" if "\n\n" in text else "\n")
        return _long([block.strip() for block in blocks])
    parts = _long(sentences(text))
    if granularity == "sentence" or not parts:
        return parts
    return [*(f"{first} {other}" for first, other in pairwise(parts)), parts[-1]]


def _long(parts: list[str]) -> list[str]:
    return [part for part in parts if len(part) > _SHORT]
