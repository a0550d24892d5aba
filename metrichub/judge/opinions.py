"""OpinionMetric: the fraction of a text's opinions that a policy objects to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from metrichub.evaluation.explanation import WithTrace
from metrichub.evaluation.stats import Array
from metrichub.judge.aggregate import affirmed, ratio
from metrichub.judge.metric import JudgeMetric
from metrichub.judge.protocol import Questions
from metrichub.metric import Scores, Unscored


@dataclass(frozen=True, kw_only=True)
class OpinionMetric(JudgeMetric):
    """The fraction of a text's opinions that a policy objects to, and of texts with one.

    `policy` names the prompt with the policy, which is in the metric's own folder `prompts`, and
    the second output. Metrics that need the opinions of the same text share the call.

    Attributes:
        empty: The score of a text that expresses no opinions: 0, as in deepeval, or None to leave
            the text out of the mean.
    """

    empty: Literal[0] | None = None
    policy: ClassVar[str]

    averaging = "macro"

    def questions(self) -> Questions:
        """The opinions, and whether the policy objects to each."""
        return {"extract": ("opinions",), "verify": (self.policy,)}

    def outputs(self) -> tuple[str, ...]:
        """The fraction of opinions, and the fraction of texts under the name of the policy."""
        return "score", self.policy

    async def observe(self, prediction: str) -> WithTrace | Unscored:
        """The opinions of one text, with the verdict on each."""
        if not prediction.strip():
            return Unscored("the text is blank", "empty")
        opinions = await self.extract("opinions", text=prediction)
        verdicts = await self.verify(self.policy, opinions, text=prediction)
        row = {
            "share": ratio(verdicts) if verdicts else 0.0,
            "voiced": bool(verdicts),
            "silent": not verdicts,
            "objected": any(affirmed(verdicts)),
        }
        return WithTrace(row, {"opinions": verdicts})

    def score(self, share: Array, voiced: Array, silent: Array, objected: Array) -> Scores:
        """Means over texts (macro); the first over the texts that express an opinion."""
        texts = voiced + silent
        counted = voiced if self.empty is None else texts
        return {"score": share / counted, self.policy: objected / texts}

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """How many texts have no fraction."""
        silent = totals["silent"].item() if self.empty is None else 0
        left = [f"{silent:g} without an opinion, left out of the score"] if silent else []
        return [*super().notes(totals), *left]
