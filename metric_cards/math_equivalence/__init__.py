"""Math equivalence: whether two mathematical expressions are the same, by math-verify."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated, Any

import numpy as np

from metric_cards._bases.label_texts import texts_of_numbers
from metric_cards.math_equivalence.workers import Verdict, verdicts
from metrichub.authoring import Array, Measured, Metric, Range, Scores
from metrichub.errors import MissingDependency
from metrichub.text import Texts

_UNDECIDED = "the comparison took too long or too much memory"
_MARKED = re.compile(r"(?<!\\)(?:\$|\\(?:boxed|fbox|\(|\[))")
"""What tells math-verify where a formula is."""
_LATEX = re.compile(r"[\\^_{}]")
_COMMAND = re.compile(
    r"\\(?:text\w*|mbox|mathrm|mathbf|operatorname|begin|end)\s*\{[^{}]*\}|\\[A-Za-z]+"
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_PROSE = re.compile(r"[^\W\d_]{2,}(?::|\s+[^\W\d_]{2,})")
_QUANTITY = re.compile(r"[^\w\\]*\d[\d.,/^]*\s+[^\W\d_]{2,}")
"""A number and words, as in "3 apples" and "10 cm^2"."""
_PLAIN = re.compile(
    r"[\s\"'(\[]*[^\W\d_][\s\"')\].!?]*"
    r"|\s*[-+\u2212]?(?:\d{1,3}(?:,\d{3})+|\d*)(?:[.,]\d+)?(?:[eE][-+]?\d+)?(?:\s*[/:]?\s*\d+)*\s*%?\.?\s*"
)
"""A letter alone, which may be a choice, or a number."""


@dataclass(frozen=True, kw_only=True)
class MathEquivalence(Metric):
    """The fraction of predictions that math-verify finds equivalent to their reference.

    Attributes:
        float_rounding: The decimals to which numbers are rounded before they are compared.
        strict: Whether symbols have to have the same names, and sets aren't tuples.
        allow_set_relation_comp: Whether a relation such as 1 < x < 2 equals an interval also where
            the interval is the reference.
        seconds: The seconds of a processor after which a comparison is given up, as undecided.
    """

    text_of_objects = staticmethod(texts_of_numbers)
    whole_objects = True
    several_objects = True
    averaging = "macro"

    float_rounding: Annotated[int, Range(0, 15)] = 6
    strict: bool = True
    allow_set_relation_comp: bool = False
    seconds: Annotated[float, Range(0.01, 3600)] = 0.3

    def measure(self, prediction: Texts, reference: Texts) -> Measured:
        """1 for a prediction that is equivalent or the same text, else 0; nan if undecided, (N,).

        Raises:
            MissingDependency: math-verify isn't installed.
        """
        if find_spec("math_verify") is None:
            raise MissingDependency(self.name, "math-verify", "pip install 'metrichub[math]'")
        rows = list(zip(reference, prediction, strict=True))
        by_pair = {p: Verdict(p[0].strip() == p[1].strip(), (False, False)) for p in rows}
        asked = [p for p, same in by_pair.items() if not same.equal and all(map(str.strip, p))]
        # An extraction takes off the signs that tell math-verify where the formula is.
        formulas = [
            (
                _reference_signed(gold),
                _answer_signed(answer) if self.extraction else _reply_signed(answer, gold),
            )
            for gold, answer in asked
        ]
        options = {
            "float_rounding": self.float_rounding,
            "strict": self.strict,
            "allow_set_relation_comp": self.allow_set_relation_comp,
        }
        by_pair.update(zip(asked, verdicts(formulas, options, self.seconds), strict=True))
        scores = np.array([by_pair[pair].equal for pair in rows], np.float64)
        unread = np.array([by_pair[pair].unread for pair in rows], np.int64).reshape(-1, 2)
        undecided = np.flatnonzero(np.isnan(scores)).tolist()
        return Measured(
            {"score": scores, "unread": unread},
            dict.fromkeys(undecided, _UNDECIDED),
            dict.fromkeys(undecided, "undecided"),
        )

    def score(self, *_: Any, **observed: Any) -> Scores:
        """The mean of the verdicts."""
        return {"score": observed["score"] / observed["count"]}

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """How many references and extracted answers math-verify couldn't read in whole."""
        references, answers = totals["unread"].tolist()
        notes = [f"{_unread(references, 'reference')}; put formulas between $ signs"]
        return [
            *(notes if references else []),
            *([_unread(answers, "extracted answer")] if answers and self.extraction else []),
        ]


def _unread(count: float, what: str) -> str:
    return f"{count:g} {what}{'' if count == 1 else 's'} couldn't be read, or only in part"


def _reference_signed(text: str) -> str:
    """The reference between dollar signs if it is a formula without them, such as 2^{16}."""
    return _signed(text) if _is_formula(text) else text


def _is_formula(text: str) -> bool:
    if _MARKED.search(text) or _QUANTITY.match(text):
        return False
    words = _COMMAND.sub(" ", text)
    plain = _PROSE.search(words) if _LATEX.search(text) else _WORD.search(text)
    return not (plain or _PLAIN.fullmatch(text))


def _answer_signed(text: str) -> str:
    """An extracted answer between dollar signs unless it has them or words beside its number."""
    return text if _MARKED.search(text) or _QUANTITY.match(text) else _signed(text)


def _reply_signed(text: str, reference: str) -> str:
    """A whole prediction between dollar signs if it is a formula without them, and nothing else.

    It may do without LaTeX where the reference is a formula; beside a number, 5 m stays 5.
    """
    if _MARKED.search(text) or _WORD.search(_COMMAND.sub(" ", text)):
        return text
    formula = _is_formula(text) and _is_formula(reference.strip().strip("$"))
    return _signed(text) if _LATEX.search(text) or formula else text


def _signed(text: str) -> str:
    return f"${' '.join(text.splitlines())}$"
