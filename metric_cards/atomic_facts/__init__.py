"""Atomic facts: how many of a response's facts its evidence supports, and how many it states."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from metrichub.authoring import (
    JudgeMetric,
    Questions,
    Range,
    Unscored,
    Verdict,
    WithTrace,
    are_yes,
    f_beta,
    values,
)


@dataclass(frozen=True, kw_only=True)
class AtomicFacts(JudgeMetric):
    """Precision of facts, FActScore and F1@K, means of samples (macro); Min et al., Wei et al.

    Attributes:
        evidence: Where the facts have to be: in the passages of each sample, or in its source.
        question: Whether facts that are irrelevant to the question, from the column `questions`,
            are left out.
        gamma: The number of facts from which FActScore has no length penalty; 0 for none at all.
        k: The number of supported facts that is enough for full recall in F1@K.
        empty: The score of a response without facts: 0, as in SAFE, or None to leave it out of the
            mean, as in FActScore.
    """

    evidence: Literal["contexts", "source"] = "contexts"
    question: bool = False
    gamma: Annotated[float, Range(0)] = 10.0
    k: Annotated[int, Range(1)] = 64
    empty: Literal[0] | None = None

    def inputs(self) -> tuple[str, ...]:
        """The response, its evidence, and the question if the judge decides what is relevant."""
        return ("prediction", self.evidence, *(("question",) if self.question else ()))

    def questions(self) -> Questions:
        """The facts, their support and, with the question, their relevance."""
        relevance = ("relevant",) if self.question else ()
        return {"extract": ("claims",), "verify": ("supported", *relevance)}

    async def observe(
        self, prediction: str, contexts: Sequence[str] = (), source: str = "", question: str = ""
    ) -> WithTrace | Unscored:
        """The scores of one response, with the verdicts on each fact."""
        evidence = contexts if self.evidence == "contexts" else [source]
        if self.evidence == "source" and not source.strip():
            return Unscored("there is no source")
        if self.question and not question.strip():
            return Unscored("there is no question")
        facts = await self.claims(prediction) if prediction.strip() else []
        support, relevance = await asyncio.gather(
            self.support(facts, evidence), self._relevance(facts, question)
        )
        irrelevant = {i for i, yes in enumerate(are_yes(relevance)) if not yes}
        counted = [verdict for i, verdict in enumerate(support) if i not in irrelevant]
        if not counted and self.empty is None:
            return Unscored("the response states no fact", "no_claims")
        row = self._scores(sum(values(counted)), len(counted))
        return WithTrace(row, {"facts": support, "relevance": relevance})

    async def _relevance(self, facts: Sequence[str], question: str) -> list[Verdict]:
        """Whether each fact is relevant; no verdicts where all count."""
        if not self.question:
            return []
        return await self.verify("relevant", facts, question=question)

    def _scores(self, supported: float, facts: int) -> dict[str, float]:
        precision = supported / facts if facts else 0.0
        short = 0 < facts <= self.gamma
        return {
            "score": precision,
            "factscore": precision * (math.exp(1 - self.gamma / facts) if short else 1.0),
            "f1_at_k": f_beta(supported, facts - supported, max(self.k - supported, 0.0)),
            "facts": facts,
        }
