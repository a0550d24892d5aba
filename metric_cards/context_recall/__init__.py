"""Context recall: the share of the reference answer's claims that the contexts hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from metrichub.evaluation.explanation import Explained
from metrichub.judge.aggregate import ratio
from metrichub.judge.metric import JudgeMetric
from metrichub.judge.protocol import Questions
from metrichub.metric import Unscored


@dataclass(frozen=True, kw_only=True)
class ContextRecall(JudgeMetric):
    """Attributable over all claims of the reference, the mean of samples (macro)."""

    asks: ClassVar[Questions] = {"extract": ("claims",), "verify": ("supported",)}

    async def observe(self, reference: str, contexts: Sequence[str]) -> Explained | Unscored:
        """The ratio of one sample, with the verdict on each claim."""
        if not any(context.strip() for context in contexts):
            return Unscored("there is no context")
        claims = await self.claims(reference)
        if not claims:
            return Unscored("the reference makes no claim")
        verdicts = await self.support(claims, contexts)
        return Explained({"score": ratio(verdicts)}, {"claims": verdicts})
