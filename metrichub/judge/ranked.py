"""RankedMetric: the average precision of ranked passages, from a judge's verdict on each."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from metrichub.catalog.parameters import Range
from metrichub.evaluation.explanation import WithTrace
from metrichub.judge.aggregate import average_precision, values
from metrichub.judge.metric import JudgeMetric, absent
from metrichub.judge.protocol import Questions
from metrichub.metric import Unscored


@dataclass(frozen=True, kw_only=True)
class RankedMetric(JudgeMetric):
    """A metric whose `observe` returns the result of `ranked`: whether useful passages come first.

    Metrics that ask the same about the same question, answer and passages share the call.

    Attributes:
        epsilon: Added to the number of useful passages in the denominator; 1e-10 gives the numbers
            that ragas prints.
        shuffle_seed: Shows the judge the passages in another order, drawn by this seed, as their
            ranks may influence it; None shows them as they are ranked.
    """

    asks: ClassVar[Questions] = {"verify": ("useful",)}

    epsilon: Annotated[float, Range(0)] = 0.0
    shuffle_seed: Annotated[int, Range(0)] | None = None

    async def ranked(
        self, question: str, answer: str, contexts: Sequence[str], *, predicted: bool
    ) -> WithTrace | Unscored:
        """The average precision of one sample, with the verdict on each passage.

        `predicted` says whether the answer is the prediction rather than a reference.
        """
        texts = {"question": question, "answer": answer, "context": contexts}
        if missing := absent(texts, prediction="answer" if predicted else None):
            return missing
        shown = self._order(question, answer, contexts)
        found = await self.verify(
            "useful", [contexts[rank] for rank in shown], question=question, answer=answer
        )
        verdicts = [replace(found[shown.index(rank)], index=rank) for rank in range(len(contexts))]
        labels = values(verdicts)
        useful = sum(labels)
        exact = average_precision(labels)
        score = exact * useful / (useful + self.epsilon) if useful else 0.0
        return WithTrace({"score": score}, {"contexts": verdicts})

    def _values(self) -> dict[str, object]:
        """The parameters, with the seed only if there is one, as in reports of before it."""
        values = super()._values()
        if self.shuffle_seed is None:
            del values["shuffle_seed"]
        return values

    def _order(self, question: str, answer: str, contexts: Sequence[str]) -> list[int]:
        """The passages' ranks in the order in which the judge sees them, the same for a sample."""
        ranks = list(range(len(contexts)))
        if self.shuffle_seed is not None:
            sample = json.dumps([self.shuffle_seed, question, answer, *contexts])
            random.Random(sample).shuffle(ranks)
        return ranks
