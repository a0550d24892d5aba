"""Faithfulness: the share of an answer's claims that its contexts support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from metrichub.catalog.parameters import Range
from metrichub.evaluation.explanation import Explained
from metrichub.judge.aggregate import ratio
from metrichub.judge.metric import JudgeMetric
from metrichub.judge.protocol import Questions
from metrichub.metric import Unscored


@dataclass(frozen=True, kw_only=True)
class Faithfulness(JudgeMetric):
    """Supported over all claims, the mean of samples (macro); Es et al. (2024), section 3.

    Attributes:
        idk: What a claim counts that the contexts neither support nor contradict.
    """

    asks: ClassVar[Questions] = {"extract": ("claims",), "verify": ("supported",)}

    idk: Annotated[float, Range(0, 1)] = 0.0

    async def observe(self, prediction: str, contexts: Sequence[str]) -> Explained | Unscored:
        """The ratio of one answer, with the verdict on each claim."""
        if not any(context.strip() for context in contexts):
            return Unscored("there is no context")
        claims = await self.claims(prediction)
        if not claims:
            return Unscored("the answer makes no claim")
        verdicts = await self.support(claims, contexts)
        return Explained(
            {"score": ratio(verdicts, {"yes": 1.0, "idk": self.idk})}, {"claims": verdicts}
        )
