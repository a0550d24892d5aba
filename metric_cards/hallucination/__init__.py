"""Hallucination: the fraction of an answer's claims that its contexts don't support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from metrichub.authoring import JudgeMetric, Questions, Unscored, WithTrace, ratio

CLASH = ("contradicted", "compatible")


@dataclass(frozen=True, kw_only=True)
class Hallucination(JudgeMetric):
    """Unsupported claims over all claims, the mean of samples (macro): 1 minus faithfulness.

    Attributes:
        unit: What is counted: with "claims", the claims of the answer that the contexts contradict
            or don't support; with "contexts", the contexts that the answer contradicts, as in
            deepeval up to 4.1.
    """

    unit: Literal["claims", "contexts"] = "claims"

    def outputs(self) -> tuple[str, ...]:
        """All of the card, or the score alone where contexts are counted."""
        return tuple(self.card.scores) if self.unit == "claims" else ("score",)

    def questions(self) -> Questions:
        """Claims and their support, or which contexts are contradicted."""
        if self.unit == "contexts":
            return {"verify": ("contradicted",)}
        return {"extract": ("claims",), "verify": ("supported",)}

    async def observe(self, prediction: str, contexts: Sequence[str]) -> WithTrace | Unscored:
        """The scores of one answer, with the verdict on each claim or context."""
        counted = self._claims if self.unit == "claims" else self._contexts
        return await counted(prediction, contexts)

    async def _claims(self, answer: str, contexts: Sequence[str]) -> WithTrace | Unscored:
        verdicts = await self.checked_claims(answer, contexts)
        if not verdicts:
            return Unscored("the answer makes no claim", "no_claims")
        row = {
            "score": ratio(verdicts, {"no": 1.0, "idk": 1.0}),
            "contradicted": ratio(verdicts, "no"),
            "unsupported": ratio(verdicts, "idk"),
        }
        return WithTrace(row, {"claims": verdicts})

    async def _contexts(self, answer: str, contexts: Sequence[str]) -> WithTrace | Unscored:
        if not answer.strip():
            return Unscored("there is no answer", "empty")
        passages = [context for context in contexts if context.strip()]
        if not passages:
            return Unscored("there is no context", "no_contexts")
        verdicts = await self.verify("contradicted", passages, verdicts=CLASH, answer=answer)
        return WithTrace({"score": ratio(verdicts, CLASH[0])}, {"contexts": verdicts})
