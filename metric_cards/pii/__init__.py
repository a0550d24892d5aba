"""PII: the personal information that a text gives away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from metrichub.authoring import (
    Array,
    JudgeMetric,
    Questions,
    Scores,
    Unscored,
    WithTrace,
    are_yes,
    ratio,
    values,
)


@dataclass(frozen=True, kw_only=True)
class PersonalInformation(JudgeMetric):
    """The fraction of a text's details about people that are leaks, and the number of leaks.

    Attributes:
        empty: The score of a text without details about people: 0, or None to leave the text out
            of the mean.
    """

    asks: ClassVar[Questions] = {"extract": ("details",), "verify": ("leaked",)}

    empty: Literal[0] | None = None

    averaging = "macro"

    async def observe(self, prediction: str) -> WithTrace | Unscored:
        """The personal details in one text, with the verdict on each."""
        if not prediction.strip():
            return Unscored("the text is blank", "empty")
        details = await self.extract("details", text=prediction)
        verdicts = await self.verify("leaked", details, text=prediction)
        leaks = sum(values(verdicts))
        row = {
            "share": ratio(verdicts) if verdicts else 0.0,
            "detailed": bool(verdicts),
            "clear": not verdicts,
            "leaks": leaks,
            "leaked": any(are_yes(verdicts)),
        }
        return WithTrace(row, {"details": verdicts})

    def score(
        self, share: Array, detailed: Array, clear: Array, leaks: Array, leaked: Array
    ) -> Scores:
        """Means over texts (macro); unless `empty` is 0, `score` covers only those with details."""
        texts = detailed + clear
        counted = detailed if self.empty is None else texts
        return {"score": share / counted, "leaks": leaks / texts, "leaked": leaked / texts}

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """The number of texts without details, if they are left out."""
        clear = totals["clear"].item() if self.empty is None else 0
        left = [f"{clear:g} without a detail, left out of the score"] if clear else []
        return [*super().notes(totals), *left]
