"""Context relevance: the fraction of the contexts' sentences that the question needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from metrichub.authoring import JudgeMetric, Questions, Unscored, WithTrace, ratio, sentences


@dataclass(frozen=True, kw_only=True)
class ContextRelevance(JudgeMetric):
    """Needed sentences over all, averaged over samples (macro); Es et al. (2024), section 3."""

    asks: ClassVar[Questions] = {"verify": ("needed",)}

    async def observe(self, question: str, contexts: Sequence[str]) -> WithTrace | Unscored:
        """The ratio of one sample, with the verdict on each sentence."""
        if not question.strip():
            return Unscored("there is no question")
        candidates = [sentence for context in contexts for sentence in sentences(context)]
        if not candidates:
            return Unscored("the contexts have no sentence", "no_contexts")
        verdicts = await self.verify("needed", candidates, question=question)
        return WithTrace({"score": ratio(verdicts)}, {"sentences": verdicts})
