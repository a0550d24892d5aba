"""RankedMetric: the average precision of ranked passages, out of a judge's verdict on each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from metrichub.catalog.parameters import Range
from metrichub.evaluation.explanation import WithTrace
from metrichub.judge.aggregate import average_precision, values
from metrichub.judge.metric import JudgeMetric, absent
from metrichub.judge.protocol import Questions
from metrichub.metric import Unscored


@dataclass(frozen=True, kw_only=True)
class RankedMetric(JudgeMetric):
    """A metric whose `observe` gives what `ranked` gives: whether useful passages stand first.

    Metrics that ask the same of the same question, answer and passages share the call.

    Attributes:
        epsilon: Added to the number of useful passages in the denominator; 1e-10 gives the numbers
            that ragas prints.
    """

    asks: ClassVar[Questions] = {"verify": ("useful",)}

    epsilon: Annotated[float, Range(0)] = 0.0

    async def ranked(
        self, question: str, answer: str, contexts: Sequence[str], *, predicted: bool
    ) -> WithTrace | Unscored:
        """The average precision of one sample, with the verdict on each passage.

        `predicted` says whether the answer is the prediction, or a reference.
        """
        texts = {"question": question, "answer": answer, "context": contexts}
        if missing := absent(texts, prediction="answer" if predicted else None):
            return missing
        verdicts = await self.verify("useful", contexts, question=question, answer=answer)
        labels = values(verdicts)
        useful = sum(labels)
        exact = average_precision(labels)
        score = exact * useful / (useful + self.epsilon) if useful else 0.0
        return WithTrace({"score": score}, {"contexts": verdicts})
