"""NLI faithfulness: how far the source entails the sentences of a prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metrichub.authoring import Array, Checkpoint, Measured, Scores, sentences
from metrichub.text import Texts
from metrichub_neural.engine.encoder import ModelName
from metrichub_neural.engine.entailment import Question, choose_entailment, entailment_of
from metrichub_neural.engine.flaws import noted
from metrichub_neural.engine.whole import WholeMetric
from metrichub_neural.local_models import ModelFiles


@dataclass(frozen=True, kw_only=True)
class NliFaithfulness(WholeMetric):
    """The mean probability that the source entails a sentence of the prediction (macro).

    Attributes:
        model: The model, which classifies pairs and has a label "entailment": a name on the Hugging
            Face hub, a folder, or an installed package; it has to be on this machine.
    """

    checkpoints = (Checkpoint("FacebookAI/roberta-large-mnli"),)
    where_cut = ", in a sentence of theirs or of the source"

    model: ModelName = "FacebookAI/roberta-large-mnli"

    def measure(self, prediction: Texts, source: Texts) -> Measured:
        """Means over each prediction's sentences, and whether one of them was cut, (N,)."""
        parts = [sentences(text) for text in prediction]
        questions = [
            Question(part, (text,))
            for split, text in zip(parts, source, strict=True)
            for part in split
        ]
        answers = iter(entailment_of(self.files(), self.dtype).answers(questions))
        entailed, contradicted = np.full(len(parts), np.nan), np.full(len(parts), np.nan)
        of_claims = [[next(answers) for _ in split] for split in parts]
        for row, sentence_answers in enumerate(of_claims):
            if sentence_answers and source[row].strip():
                entailed[row] = np.mean([answer.entailed for answer in sentence_answers])
                contradicted[row] = np.mean([answer.contradicted for answer in sentence_answers])
        missing = np.flatnonzero(np.isnan(entailed)).tolist()
        blank = {row for row in missing if not source[row].strip()}
        reasons = {
            row: "the source is empty" if row in blank else "the prediction has no sentence"
            for row in missing
        }
        undefined = {row: "no_claims" for row in missing if row not in blank}
        told = np.full(len(parts), float(choose_entailment(self.files())[1] is not None))
        values = {"entailed": entailed, "contradicted": contradicted, "told": told}
        return Measured({**values, **noted(predictions=of_claims)}, reasons, undefined)

    def score(self, entailed: Array, contradicted: Array, told: Array, count: Array) -> Scores:
        """The means over the samples; none of contradiction where the model has no label for it."""
        return {"score": entailed / count, "contradicted": contradicted / told}

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """What is to be said of texts, and that the model has no label for contradiction."""
        no_label = totals and totals["told"] < totals["noted_texts"]
        note = ["the model has no label for contradiction"] if no_label else []
        return [*super().notes(totals), *note]

    def files(self) -> ModelFiles:
        """The model's files, which name a label for entailment."""
        files = super().files()
        choose_entailment(files)
        return files
