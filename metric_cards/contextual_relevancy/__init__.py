"""Contextual relevancy: the fraction of the contexts' statements relevant to the question."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from metrichub.authoring import JudgeMetric, Questions, Unscored, Verdict, WithTrace, ratio


@dataclass(frozen=True, kw_only=True)
class ContextualRelevancy(JudgeMetric):
    """Relevant statements over all, averaged over samples (macro), after deepeval."""

    asks: ClassVar[Questions] = {"extract": ("claims",), "verify": ("relevant",)}

    async def observe(self, question: str, contexts: Sequence[str]) -> WithTrace | Unscored:
        """The ratio of one sample, with the verdicts on the statements of each context."""
        if not question.strip():
            return Unscored("there is no question")
        if not any(context.strip() for context in contexts):
            return Unscored("there is no context", "no_contexts")
        parts = await asyncio.gather(*(self._judged(question, context) for context in contexts))
        verdicts = [verdict for judged in parts for verdict in judged]
        if not verdicts:
            return Unscored("the contexts state nothing", "no_contexts")
        return WithTrace({"score": ratio(verdicts)}, {"contexts": parts})

    async def _judged(self, question: str, context: str) -> list[Verdict]:
        # One question a passage, so that no verdict hangs on what else was retrieved.
        statements = await self.claims(context) if context.strip() else []
        return await self.verify("relevant", statements, question=question)
