"""Best threshold of SQuAD 2.0: when a system should rather give no answer, and what it gains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from metric_cards._bases.squad_answers import answered, probability, texts_of_answers
from metrichub.authoring import Array, CorpusMetric, Resampler

_OUTPUTS = (("score", "f1_threshold"), ("best_exact", "exact_threshold"))
"""The outputs for each score of a question, in their order."""

Question = Sequence[float]
"""F1 and exact match of an answer, the score of none, and the probability that there is none."""


@dataclass(frozen=True, kw_only=True)
class SquadV2Best(CorpusMetric):
    """The highest F1 and exact match of all thresholds of the probability of no answer."""

    takes_nothing: ClassVar[bool] = True
    text_of_objects: ClassVar = {"references": texts_of_answers}

    def system_inputs(self) -> tuple[str, ...]:
        """The probability."""
        return ("no_answer_probability",)

    def observe(
        self, prediction: str | None, references: Sequence[str], no_answer_probability: Any
    ) -> Question:
        """The gain or loss of the answer, and the probability."""
        answers = answered(prediction, references)
        number = probability(no_answer_probability, self.name)
        return [answers.f1, answers.exact, answers.silent, number]

    def conclude(self, rows: Sequence[Question]) -> Mapping[str, float]:
        """The best scores and their thresholds; the lowest where several are best."""
        if not rows:
            return dict.fromkeys(self.outputs(), np.nan)
        return {name: float(v[0]) for name, v in _best(rows)(np.ones((1, len(rows)))).items()}

    def resampler(self, rows: Sequence[Question]) -> Resampler:
        """The same of many resamples."""
        return _best(rows)

    def samples(self, rows: Sequence[Question]) -> Mapping[str, Sequence[float]]:
        """The scores of each question at the best thresholds of all."""
        best, table = self.conclude(rows), np.array(rows).reshape(-1, 4)
        scores: dict[str, Sequence[float]] = {}
        for place, (name, threshold) in enumerate(_OUTPUTS):
            answers = table[:, 3] <= best[threshold]
            scores[name] = np.where(answers, table[:, place], table[:, 2]).tolist()
            scores[threshold] = [best[threshold]] * len(rows)
        return scores


def _best(rows: Sequence[Question]) -> Resampler:
    """A function of how often each question was drawn, (b, R)."""
    table = np.array(rows).reshape(-1, 4)
    order = np.argsort(table[:, 3])
    table = table[order]
    thresholds = np.unique([0.0, *table[:, 3]])
    # How many questions a threshold answers: all up to it, so that equal ones go together.
    answers = np.searchsorted(table[:, 3], thresholds, side="right")

    def best(counts: Array) -> Mapping[str, Array]:
        drawn = counts[:, order]
        scores: dict[str, Array] = {}
        for place, (name, threshold) in enumerate(_OUTPUTS):
            gained = np.cumsum(drawn * (table[:, place] - table[:, 2]), axis=1)
            gained = np.hstack([np.zeros((len(drawn), 1)), gained])[:, answers]
            most = gained.max(axis=1)
            # The sums of F1 are rounded.
            first = np.argmax(gained >= most[:, None] - 1e-9, axis=1)
            scores[name] = (drawn @ table[:, 2] + most) / drawn.sum(axis=1)
            scores[threshold] = thresholds[first]
        return scores

    return best
