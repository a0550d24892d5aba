"""ANLS: how similar the characters of an answer and a reference are, 0 if they hardly are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from metric_cards._bases.anls import similarity
from metrichub.authoring import Metric, Range
from metrichub.text import highlight


@dataclass(frozen=True, kw_only=True)
class Anls(Metric):
    """Average normalized Levenshtein similarity (Biten et al. 2019), macro.

    Attributes:
        threshold: The similarity below which an answer counts as 0.
    """

    threshold: Annotated[float, Range(0, 1)] = 0.5

    def observe(self, prediction: str, reference: str) -> float:
        """The similarity of both texts, in lower case and with single blanks."""
        return similarity(_plain(prediction), _plain(reference), self.threshold)

    def explain(self, prediction: str, reference: str) -> highlight.Step:
        """The alignment of both texts, and the number of edits."""
        return highlight.aligned(_plain(prediction), _plain(reference), "chars")


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
