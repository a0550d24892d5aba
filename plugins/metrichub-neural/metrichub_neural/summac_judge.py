"""The judge `summac`: claims are verified against each sentence of the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from metrichub_neural.engine.encoder import ModelName
from metrichub_neural.engine.entailment import Answer, Question, entailment_of
from metrichub_neural.local_models import ModelFiles
from metrichub_neural.nli import NliJudge
from metrichub_neural.summac import LIMIT, UNITS, VITAMINC
from metrichub_neural.summac.granularity import units


@dataclass(frozen=True, kw_only=True)
class SummaCJudge(NliJudge):
    """A judge that asks a model whether a sentence of the evidence entails a claim, as SummaC does.

    Claims are the sentences of a text, by the rules of the judge `offline`, which answers all else
    that rules can, too. It can't grade or choose.

    Attributes:
        model: The model, which classifies pairs and has a label "entailment": a name on the Hugging
            Face hub, a folder, or an installed package; it has to be on this machine.
        threshold: From which score on a claim is supported: the largest probability of entailment
            by a sentence less the largest one of contradiction.
    """

    kind = "summac"

    model: ModelName = VITAMINC

    def answered(self, files: ModelFiles, questions: Sequence[Question]) -> list[Answer]:
        """The model's answer to each question."""
        split = lambda text: units(text, "sentence")[:UNITS]
        return entailment_of(files, self.dtype).answers(questions, split, LIMIT)

    def supported(self, answer: Answer) -> float:
        """The score that has to reach the threshold."""
        return answer.entailed - answer.contradicted
