"""HotpotQA: answers, the facts that support them, and both together."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from metric_cards._bases.answer_texts import Rates, answer_tokens, shared_tokens
from metrichub.authoring import Metric, Row
from metrichub.errors import InputError

_WHOLE = (("yes",), ("no",), ("noanswer",))
"""Answers that are right as a whole, or not at all."""


@dataclass(frozen=True, kw_only=True)
class Hotpot(Metric):
    """Joint F1 of answers and supporting facts, with each of the two, macro."""

    takes_nothing: ClassVar[bool] = True

    def system_inputs(self) -> tuple[str, ...]:
        """The facts that the system names."""
        return ("facts",)

    def observe(
        self,
        prediction: str | None,
        reference: str,
        facts: Sequence[Any],
        supporting_facts: Sequence[Any],
    ) -> Row:
        """Exact match, F1, precision and recall of the answer, of the facts and of both.

        Raises:
            InputError: a fact isn't a text, or a title with the number of a sentence.
        """
        named, expected = (
            self._read("facts", facts),
            self._read("supporting_facts", supporting_facts),
        )
        exact, answer = 0.0, Rates()
        if prediction is not None:
            predicted, right = answer_tokens(prediction), answer_tokens(reference)
            exact = float(predicted == right)
            if exact or not {predicted, right} & {*_WHOLE}:
                answer = shared_tokens(predicted, right)
        support = shared_tokens([*named], [*expected])
        support_exact = float(named == expected)
        precision, recall = answer.precision * support.precision, answer.recall * support.recall
        joint = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        return {
            "score": joint,
            **_outputs("joint", exact * support_exact, precision, recall),
            "answer_f1": answer.f1,
            **_outputs("answer", exact, answer.precision, answer.recall),
            "facts_f1": support.f1,
            **_outputs("facts", support_exact, support.precision, support.recall),
        }

    def _read(self, column: str, facts: Sequence[Any]) -> set[Hashable]:
        if len(facts) == 1 and isinstance(facts[0], Mapping):
            columns = [facts[0].get(name) for name in ("title", "sent_id")]
            titles, sentences = (c if isinstance(c, (list, tuple)) else [] for c in columns)
            if titles and len(titles) == len(sentences):
                facts = list(zip(titles, sentences, strict=True))
        return {self._fact(column, fact) for fact in facts}

    def _fact(self, column: str, fact: Any) -> Hashable:
        if isinstance(fact, str):
            return fact
        if isinstance(fact, (list, tuple)) and len(fact) == 2:
            title, sentence = fact
            if isinstance(title, str) and isinstance(sentence, Hashable):
                return title, sentence
        raise InputError(
            f"{self.name}: {column} has {fact!r}, which isn't a fact; give a title and the number "
            "of a sentence, or a text"
        )


def _outputs(of: str, exact: float, precision: float, recall: float) -> dict[str, float]:
    return {f"{of}_exact": exact, f"{of}_precision": precision, f"{of}_recall": recall}
