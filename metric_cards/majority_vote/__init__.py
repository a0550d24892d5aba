"""Majority vote: whether the most frequent of several answers is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from metric_cards._bases.label_texts import texts_of_numbers
from metric_cards._bases.value_keys import value_key
from metrichub.authoring import Metric, Row


@dataclass(frozen=True, kw_only=True)
class MajorityVote(Metric):
    """The share of samples whose most frequent answer is right (self-consistency, maj@k).

    Attributes:
        normalization: What makes two answers equal: the same number, or else the same text without
            case and runs of blanks (`number`), such a text (`text`), or the same characters
            (`none`).
    """

    text_of_objects = staticmethod(texts_of_numbers)
    whole_objects = True
    several_objects = True
    reads_tries = True

    takes_nothing: ClassVar[bool] = True
    normalizes_unicode: ClassVar[bool] = True

    normalization: Literal["number", "text", "none"] = "number"

    def observe(self, predictions: Sequence[str | None], references: Sequence[str]) -> Row:
        """Whether the vote is right, the share of right answers, and that of the chosen one."""
        answers = [None if answer is None else self._key(answer) for answer in predictions]
        right = {self._key(reference) for reference in references}
        votes = Counter(answer for answer in answers if answer is not None)
        # The first of the most frequent: a counter keeps the order.
        chosen = max(votes, key=votes.__getitem__, default=None)
        return {
            "score": int(chosen in right),
            "average": sum(answer in right for answer in answers) / len(answers),
            "agreement": votes[chosen] / len(answers),
        }

    def _key(self, answer: str) -> object:
        return value_key(answer, "exact" if self.normalization == "none" else self.normalization)
