"""Exact match: whether the prediction equals the reference after the chosen normalization."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from typing import Literal

import numpy as np

from metrichub.authoring import Array, Metric
from metrichub.errors import ParameterError
from metrichub.text import Texts, equal_rows, highlight


@dataclass(frozen=True, kw_only=True)
class ExactMatch(Metric):
    """The fraction of predictions that equal a reference.

    Attributes:
        regexes_to_ignore: Regular expressions whose matches are removed first, one after the
            other.
        ignore_case: Whether case is ignored; this comes second.
        ignore_punctuation: Whether ASCII punctuation is removed.
        ignore_numbers: Whether the digits 0 to 9 are removed.
        normalization: The last step: `squad` ignores case, ASCII punctuation, the English
            articles and the amount of whitespace; `none` does nothing.
    """

    regexes_to_ignore: tuple[str, ...] = ()
    ignore_case: bool = False
    ignore_punctuation: bool = False
    ignore_numbers: bool = False
    normalization: Literal["none", "squad"] = "none"

    def __post_init__(self) -> None:
        """Check that each expression can be compiled."""
        super().__post_init__()
        for regex in self.regexes_to_ignore:
            try:
                re.compile(regex)
            except (re.error, OverflowError) as error:
                allowed = f"regular expressions of Python's re; {regex!r} isn't one: {error}"
                value = self.regexes_to_ignore
                raise ParameterError(self.name, "regexes_to_ignore", value, allowed) from None

    def measure(self, prediction: Texts, reference: Texts) -> dict[str, Array]:
        """1 for a prediction that equals its reference, else 0, (N,)."""
        prediction, reference = self._cleaned(prediction), self._cleaned(reference)
        if self.normalization == "squad":
            return {"score": equal_rows(prediction, reference, "squad").astype(np.int64)}
        equal = (a == b for a, b in zip(prediction, reference, strict=True))
        return {"score": np.fromiter(equal, np.int64, len(prediction))}

    def explain(self, prediction: str, reference: str) -> highlight.Step:
        """The alignment of both texts after the normalization, and the number of edits."""
        predicted, expected = self._cleaned(Texts([prediction, reference]))
        tokenizer = {"none": "chars", "squad": "squad"}[self.normalization]
        return highlight.aligned(predicted, expected, tokenizer)

    def _cleaned(self, texts: Texts) -> Texts:
        options = (self.ignore_case, self.ignore_punctuation, self.ignore_numbers)
        if not self.regexes_to_ignore and not any(options):
            return texts
        key = ("exact_match", self.regexes_to_ignore, options)
        return texts.cached(key, lambda: Texts([self._clean(text) for text in texts]))

    def _clean(self, text: str) -> str:
        for regex in self.regexes_to_ignore:
            text = re.sub(regex, "", text)
        text = text.lower() if self.ignore_case else text
        dropped = string.punctuation * self.ignore_punctuation + string.digits * self.ignore_numbers
        return text.translate(str.maketrans("", "", dropped))
