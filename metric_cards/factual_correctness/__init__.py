"""Factual correctness: how well the claims of an answer and its reference support each other."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from metrichub.authoring import (
    ClaimCounts,
    JudgeMetric,
    Questions,
    Range,
    Unscored,
    Verdict,
    WithTrace,
    f_beta,
    missing_input,
    no_claims,
    ratio,
)

_MAKER = {"precision": "prediction", "recall": "reference"}


@dataclass(frozen=True, kw_only=True)
class FactualCorrectness(JudgeMetric):
    """F-beta, precision or recall of claims, averaged over samples; Ru et al. (2024), 3.3.1.

    Attributes:
        mode: The measure that `score` reports. "precision" asks only for the claims of the
            prediction, "recall" only for the claims of the reference.
        beta: How many times as much weight recall has as precision in F.
        counts: How claims are counted: "separate" computes each fraction over the claims of one
            text; "mixed" computes recall and F from the prediction's correct claims and the
            reference's missing ones, as ragas does.
    """

    asks: ClassVar[Questions] = {"extract": ("claims",), "verify": ("supported",)}

    mode: Literal["f", "precision", "recall"] = "f"
    beta: Annotated[float, Range(0)] = 1.0
    counts: Literal["separate", "mixed"] = "separate"

    def outputs(self) -> tuple[str, ...]:
        """The score, and the fractions of the texts whose claims it needs."""
        if self.mode == "f" or (self.mode, self.counts) == ("recall", "mixed"):
            return ("score", "precision", "recall")
        return ("score", self.mode)

    async def observe(self, prediction: str, reference: str) -> WithTrace | Unscored:
        """The scores of one answer, with the verdict on each claim."""
        if missing := missing_input({"prediction": prediction, "reference": reference}):
            return missing
        pairs = {"precision": (prediction, [reference]), "recall": (reference, [prediction])}
        parts = self.outputs()[1:]
        verdicts = await asyncio.gather(*(self.checked_claims(*pairs[part]) for part in parts))
        by_part = dict(zip(parts, verdicts, strict=True))
        for part in parts:
            if not by_part[part]:
                return no_claims(_MAKER[part])
        row = {part: ratio(by_part[part]) for part in parts}
        step = {f"{_MAKER[part]}_claims": by_part[part] for part in parts}
        return WithTrace({"score": self._score(row, by_part), **row}, step)

    def _score(self, row: Mapping[str, float], verdicts: Mapping[str, Sequence[Verdict]]) -> float:
        if self.counts == "mixed" and self.mode != "precision":
            counts = ClaimCounts.of(verdicts["precision"], verdicts["recall"])
            if self.mode == "f":
                return f_beta(*counts, self.beta)
            return counts.true / (counts.true + counts.missed) if counts.true else 0.0
        if self.mode != "f":
            return row[self.mode]
        weight = self.beta**2
        total = weight * row["precision"] + row["recall"]
        # F lies between the two shares, so that 0 and 0 make 0.
        return (1 + weight) * row["precision"] * row["recall"] / total if total else 0.0
