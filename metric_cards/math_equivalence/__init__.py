"""Math equivalence: whether two mathematical expressions are the same, by math-verify."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated

import numpy as np

from metric_cards._bases.label_texts import texts_of_numbers
from metric_cards.math_equivalence.workers import verdicts
from metrichub.authoring import Measured, Metric, Range
from metrichub.errors import MissingDependency
from metrichub.text import Texts

_UNDECIDED = "the comparison took too long or too much memory"


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
        found: dict[tuple[str, str], bool | None] = {
            pair: pair[0].strip() == pair[1].strip() for pair in rows
        }
        asked = [pair for pair, same in found.items() if not same and all(map(str.strip, pair))]
        # An extraction takes off the signs that tell math-verify where the formula is.
        bare = bool(self.extraction)
        formulas = [(own, _as_formula(made) if bare else made) for own, made in asked]
        options = {
            "float_rounding": self.float_rounding,
            "strict": self.strict,
            "allow_set_relation_comp": self.allow_set_relation_comp,
        }
        found.update(zip(asked, verdicts(formulas, options, self.seconds), strict=True))
        scores = np.array([found[pair] for pair in rows], np.float64)
        undecided = np.flatnonzero(np.isnan(scores)).tolist()
        return Measured(
            {"score": scores},
            dict.fromkeys(undecided, _UNDECIDED),
            dict.fromkeys(undecided, "undecided"),
        )


def _as_formula(answer: str) -> str:
    return answer if "$" in answer or "\\boxed" in answer else f"${answer}$"
