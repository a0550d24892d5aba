"""SQuAD 2.0: exact match and F1 of answers to questions that may have none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from metric_cards._bases.answer_texts import loose_matches
from metric_cards._bases.squad_answers import answered, probability, texts_of_answers
from metrichub.authoring import Array, Check, Metric, Range, Row, Scores


@dataclass(frozen=True, kw_only=True)
class SquadV2(Metric):
    """F1 and exact match, of all questions, of those with an answer and of those without.

    Attributes:
        threshold: The highest probability of no answer, in the column `no_answer_probabilities`, at
            which a prediction counts; above it, the system is taken to give no answer. If None, all
            predictions count, and the column isn't read.
    """

    threshold: Annotated[float, Range(0, 1)] | None = None

    takes_nothing: ClassVar[bool] = True
    text_of_objects: ClassVar = {"references": texts_of_answers}

    def inputs(self) -> tuple[str, ...]:
        """The answers, and the probability if there is a threshold."""
        inputs = ("prediction", "references")
        return inputs if self.threshold is None else (*inputs, "no_answer_probability")

    def system_inputs(self) -> tuple[str, ...]:
        """The probability."""
        return self.inputs()[2:]

    def text_checks(self, usual: Sequence[Check]) -> Sequence[Check]:
        """All but those of empty texts, which are the answers to some questions here."""
        return [check for check in usual if check.name not in ("empty", "empty references")]

    def observe(
        self,
        prediction: str | None,
        references: Sequence[str],
        no_answer_probability: Any = None,
    ) -> Row:
        """Both scores of an answer, and both again if the question has one."""
        f1, exact, answerable, loose = answers = answered(prediction, references)
        limit = self.threshold
        if limit is not None and probability(no_answer_probability, self.name) > limit:
            f1 = exact = answers.silent
            loose = False
        return {
            "f1": f1,
            "exact": exact,
            "answerable": answerable,
            "answerable_f1": f1 * answerable,
            "answerable_exact": exact * answerable,
            "noted_loose": float(loose),
        }

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """How many matches are of answers that differ."""
        loose = int(totals.get("noted_loose", 0))
        return (
            [loose_matches(loose, "exact_match(normalization='strip') keeps them")] if loose else ()
        )

    def score(
        self,
        f1: Array,
        exact: Array,
        answerable: Array,
        answerable_f1: Array,
        answerable_exact: Array,
        count: Array,
    ) -> Scores:
        """The means over all questions, over those with an answer, and over those without."""
        return {
            "score": f1 / count,
            "exact": exact / count,
            "HasAns_f1": answerable_f1 / answerable,
            "HasAns_exact": answerable_exact / answerable,
            "NoAns_exact": (exact - answerable_exact) / (count - answerable),
        }

    def score_samples(self, f1: Array, exact: Array, **_: Array) -> Scores:
        """The question's own scores, whether it has an answer or not."""
        names = ("exact", "HasAns_exact", "NoAns_exact")
        return {"score": f1, "HasAns_f1": f1} | dict.fromkeys(names, exact)
