"""Extended edit distance: character edits with jumps at blanks, and a charge for repetition."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

import numpy as np

from metric_cards.eed.recurrence import jump_costs, of_like_lengths
from metrichub.authoring import OMIT_DEFAULT, Array, Measured, Metric, Range
from metrichub.text import Texts

_RHO = 0.3
_MARK = re.compile(r"([.,!?])")
_GAP = re.compile(r"\s+")


@dataclass(frozen=True, kw_only=True)
class ExtendedEditDistance(Metric):
    """EED (Stanchev et al. 2019), averaged over samples (macro).

    Attributes:
        convention: Which of the authors' two programs to follow, in C++ or in Python; they differ.
        max_cells: The most pairs of a prediction's and a reference's characters; texts with more
            are unanswered. None compares any.
    """

    block_characters: ClassVar[int | None] = 4_000_000
    """Pairs of like lengths are taken together; these are enough to find some."""

    convention: Literal["cpp", "python"] = "cpp"
    max_cells: Annotated[int | None, Range(1)] = field(default=100_000_000, metadata=OMIT_DEFAULT)

    def measure(self, prediction: Texts, reference: Texts) -> Measured:
        """The score of each pair, (N,); `nan` if it is too long."""
        predicted, expected = (
            [_spaced(text) for text in prediction],
            [_spaced(text) for text in reference],
        )
        scores = np.zeros(len(predicted))
        too_long = [
            i
            for i, (first, second) in enumerate(zip(predicted, expected, strict=True))
            if len(first) * len(second) > (self.max_cells or np.inf) and first != second
        ]
        for i in too_long:
            predicted[i] = expected[i] = " "
        for group in of_like_lengths(predicted, expected):
            rows = ([texts[i] for i in group.tolist()] for texts in (predicted, expected))
            scores[group] = self._scores(*rows)
        scores[too_long] = np.nan
        why = "there are over {:,} pairs of characters; max_cells=None compares them"
        reasons = {i: why.format(self.max_cells) for i in too_long}
        return Measured({"score": scores}, reasons, dict.fromkeys(too_long, "too_long"))

    def _scores(self, predicted: list[str], expected: list[str]) -> Array:
        costs, visits = jump_costs(predicted, expected, truncated=self.convention == "cpp")
        # A place that was never visited counts like one that was visited twice.
        charged = np.where(visits > 0, visits - 1, 1)
        if self.convention == "cpp":
            charged[0, visits[0] == 0] = 0
        lengths = np.array([len(text) for text in predicted])
        charged *= np.arange(len(visits))[:, None] <= lengths
        coverage = _RHO * charged.sum(axis=0)
        rows = np.array([len(text) for text in expected])
        score: Array = np.minimum((costs + coverage) / (rows + coverage), 1.0)
        return score


def _spaced(text: str) -> str:
    """The text between blanks, with a blank before each point, comma and mark.

    A text that begins with one of them, or with white space, has two blanks at its start.
    """
    spaced = _MARK.sub(r" \1", text.rstrip())
    return f" {_GAP.sub(' ', spaced)} "
