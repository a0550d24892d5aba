"""Noise sensitivity: the fraction of an answer's claims that are wrong and from its contexts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from metrichub.authoring import (
    JudgeMetric,
    Questions,
    Unscored,
    Verdict,
    WithTrace,
    missing_input,
    no_claims,
)


@dataclass(frozen=True, kw_only=True)
class NoiseSensitivity(JudgeMetric):
    """The fraction of claims that are wrong and come from the contexts; Ru et al. (2024).

    Attributes:
        mode: Which incorrect claims count: claims that a "relevant" passage supports, or claims
            that only an "irrelevant" one supports. A passage is relevant if it supports a
            claim of the reference.
    """

    asks: ClassVar[Questions] = {"extract": ("claims",), "verify": ("supported",)}

    mode: Literal["relevant", "irrelevant"] = "relevant"

    async def observe(
        self, prediction: str, reference: str, contexts: Sequence[str]
    ) -> WithTrace | Unscored:
        """The score of one answer, with the verdicts on both texts' claims."""
        if missing := missing_input({"prediction": prediction, "reference": reference}):
            return missing
        passages = {place: text for place, text in enumerate(contexts) if text.strip()}
        if not passages:
            return Unscored("there is no context", "no_contexts")
        claims, facts = await asyncio.gather(self.claims(prediction), self.claims(reference))
        for name, statements in {"prediction": claims, "reference": facts}.items():
            if not statements:
                return no_claims(name)
        asked = [(claims, reference)]
        asked += [(items, text) for text in passages.values() for items in (facts, claims)]
        correct, *lists = await asyncio.gather(
            *(self.support(items, [text]) for items, text in asked)
        )
        supported: dict[bool, set[int]] = {True: set(), False: set()}
        steps = []
        for place, about, verdicts in zip(passages, lists[::2], lists[1::2], strict=True):
            relevant = bool(_supported(about))
            supported[relevant] |= _supported(verdicts)
            steps.append(
                {
                    "context": place,
                    "relevant": relevant,
                    "reference_claims": about,
                    "claims": verdicts,
                }
            )
        sources = supported[True] if self.mode == "relevant" else supported[False] - supported[True]
        noise = sorted(sources - _supported(correct))
        return WithTrace(
            {"score": len(noise) / len(claims)},
            {"noise": [claims[i] for i in noise], "claims": correct, "contexts": steps},
        )


def _supported(verdicts: Sequence[Verdict]) -> set[int]:
    return {verdict.index for verdict in verdicts if verdict.verdict == "yes"}
