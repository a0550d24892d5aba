"""UniEval: how probable it is that a model answers a question about a text with yes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metrichub.authoring import Array, Checkpoint, Measured, Scale, Scores, sentences
from metrichub.errors import ModelError
from metrichub.text import RaggedTexts, Texts
from metrichub_neural._seq2seq import FirstTokenMetric, by_row, probability, summed
from metrichub_neural.engine.flaws import noted
from metrichub_neural.unieval.published import PUBLISHED
from metrichub_neural.unieval.questions import MODELS, QUESTIONS, SUMMARIES, Dimension


@dataclass(frozen=True, kw_only=True)
class UniEval(FirstTokenMetric):
    """How probable the answer Yes is, as against No, to a question about a text (macro).

    Attributes:
        dimension: What is asked. Without a prefix, it is about summaries.
    """

    averaging = "macro"
    checkpoints = (Checkpoint(SUMMARIES), *map(Checkpoint, MODELS.values()))
    published = PUBLISHED

    dimension: Dimension = "coherence"

    def inputs(self) -> tuple[str, ...]:
        """The prediction and what the question needs beside it."""
        return ("prediction", *QUESTIONS[self.dimension].others)

    def default_model(self) -> str:
        """The checkpoint of the dimension's task."""
        return MODELS.get(self.dimension.partition("_")[0], SUMMARIES)

    def limit(self) -> int:
        """The tokens that the authors' program takes."""
        return 1024

    def scales(self, totals: Mapping[str, Array], count: int) -> Mapping[str, Scale]:
        """A sum over sentences has no upper bound, and grows with them."""
        if QUESTIONS[self.dimension].sentences != "sum":
            return {}
        return {"score": Scale(0, None, "higher", length_bound="rises")}

    def measure(
        self,
        prediction: Texts,
        source: Texts | None = None,
        reference: Texts | None = None,
        contexts: RaggedTexts | None = None,
    ) -> Measured:
        """The answer to each question, and whether its text was cut, (N,)."""
        question = QUESTIONS[self.dimension]
        facts = None if contexts is None else [_lines(part_texts) for part_texts in contexts]
        columns = {"source": source, "reference": reference, "contexts": facts}
        present = {name: column for name, column in columns.items() if column is not None}
        parts = [self._parts(text) for text in prediction]
        texts = [
            question.text(part, {name: column[row] for name, column in present.items()})
            for row, part_texts in enumerate(parts)
            for part in part_texts
        ]
        answers = self.first_tokens(texts, self._yes_and_no(), inserted=1 + len(question.others))
        sizes = np.array([len(part_texts) for part_texts in parts], np.int64)
        scores = summed(probability(answers.logits), sizes)
        if question.sentences != "sum":
            scores /= sizes
        blank = {
            row: f"the {name} is empty" if name != "contexts" else "there is no context"
            for name, column in present.items()
            for row, text in enumerate(column)
            if not text.strip()
        }
        scores[list(blank)] = np.nan
        flaws = noted(predictions=by_row(answers.flaws, sizes))
        return Measured({"scored": scores, **flaws}, blank)

    def score(self, scored: Array, count: Array) -> Scores:
        """The mean over the samples."""
        return {"score": scored / count}

    def _parts(self, prediction: str) -> Sequence[str]:
        """The texts that are judged: the whole text, or its sentences; the sum of none is 0."""
        by = QUESTIONS[self.dimension].sentences
        if by == "whole":
            return [prediction]
        parts = sentences(prediction) or [prediction.strip()]
        return parts if by == "mean" else [part for part in parts if part]

    def _yes_and_no(self) -> list[int]:
        """The first tokens of both answers."""
        tokenizer = self.seq2seq().tokenizer
        yes, no, end = tokenizer.encode_as_given(["Yes", "No", "</s>"])
        # The model knows the parts of a question by it.
        if end.ids[-2] != end.ids[-1]:
            raise ModelError(f"{self.files().name} doesn't read </s> as the end of a part")
        return [int(answer.ids[~answer.added][0]) for answer in (yes, no)]


def _lines(facts: Sequence[str]) -> str:
    """Facts as in the data that the models were made for, each with the end of its line."""
    return "".join(f"{fact}\n" for fact in facts)
