"""Context recall: the fraction of the reference answer's claims that the contexts support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from metrichub.authoring import JudgeMetric, Questions, Unscored, WithTrace, ratio


@dataclass(frozen=True, kw_only=True)
class ContextRecall(JudgeMetric):
    """Attributable claims over all claims of the reference, averaged over samples (macro)."""

    asks: ClassVar[Questions] = {"extract": ("claims",), "verify": ("supported",)}

    async def observe(self, reference: str, contexts: Sequence[str]) -> WithTrace | Unscored:
        """The ratio of one sample, with the verdict on each claim."""
        verdicts = await self.checked_claims(reference, contexts)
        if not verdicts:
            return Unscored("the reference makes no claim")
        return WithTrace({"score": ratio(verdicts)}, {"claims": verdicts})
