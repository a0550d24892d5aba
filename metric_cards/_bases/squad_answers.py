"""SQuAD 2.0's answers: the score of one against the references, which may be none."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from metric_cards._bases.answer_texts import answer_tokens, differ_in_meaning, shared_tokens
from metrichub.errors import InputError


class Answered(NamedTuple):
    """F1 and exact match of an answer, whether the question has one, and whether a match differs.

    See `differ_in_meaning`.
    """

    f1: float
    exact: float
    answerable: bool
    loose: bool = False

    @property
    def silent(self) -> float:
        """The score of no answer."""
        return 0.0 if self.answerable else 1.0


def answered(prediction: str | None, references: Sequence[str]) -> Answered:
    """The best scores over the references; a question with none, or only empty ones, has no answer.

    References that the normalization leaves nothing of are dropped, unless all are. None for a
    prediction is wrong.
    """
    answerable = any(references)
    if prediction is None:
        return Answered(0.0, 0.0, answerable)
    expected = list(filter(None, map(answer_tokens, references))) or [()]
    predicted = answer_tokens(prediction)
    if not predicted or expected == [()]:
        same = float(predicted in expected)
        return Answered(same, same, answerable, _is_loose(prediction, references))
    f1 = max(shared_tokens(predicted, tokens).f1 for tokens in expected)
    return Answered(f1, float(predicted in expected), answerable, _is_loose(prediction, references))


def _is_loose(prediction: str, references: Sequence[str]) -> bool:
    """Whether an answer equals references only by what the normalization deletes."""
    tokens = answer_tokens(prediction)
    equal = [text for text in references or [""] if answer_tokens(text) == tokens]
    return bool(equal) and all(differ_in_meaning(prediction, text) for text in equal)


def probability(value: Any, metric: str) -> float:
    """A probability that there is no answer.

    Raises:
        InputError: it isn't a number from 0 to 1.
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 <= number <= 1:
        raise InputError(
            f"{metric}: no_answer_probabilities has {value!r}, which isn't a number from 0 to 1"
        )
    return number


def texts_of_answers(value: Any) -> Any:
    """The texts of answers as SQuAD's files and data sets have them; "" for none.

    Raises:
        ValueError: they aren't such answers.
    """
    if isinstance(value, Mapping):
        texts = value.get("text")
    else:
        texts = [item.get("text") if isinstance(item, Mapping) else None for item in value]
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        raise ValueError("isn't a list of answers; give texts, or objects with a 'text'")
    return list(texts) or ""
