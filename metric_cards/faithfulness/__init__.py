"""Faithfulness: the fraction of an answer's claims that its contexts support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from metrichub.authoring import JudgeMetric, Questions, Range, Unscored, WithTrace, ratio


@dataclass(frozen=True, kw_only=True)
class Faithfulness(JudgeMetric):
    """Supported over all claims, the mean of samples (macro); Es et al. (2024), section 3.

    Attributes:
        idk: The value of a claim that the contexts neither support nor contradict.
    """

    asks: ClassVar[Questions] = {"extract": ("claims",), "verify": ("supported",)}

    idk: Annotated[float, Range(0, 1)] = 0.0

    async def observe(self, prediction: str, contexts: Sequence[str]) -> WithTrace | Unscored:
        """The ratio of one answer, with the verdict on each claim."""
        verdicts = await self.checked_claims(prediction, contexts)
        if not verdicts:
            return Unscored("the answer makes no claim", "no_claims")
        return WithTrace(
            {"score": ratio(verdicts, {"yes": 1.0, "idk": self.idk})}, {"claims": verdicts}
        )
