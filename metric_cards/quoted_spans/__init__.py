"""Quoted spans: whether what a reply quotes is in the retrieved passages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from metrichub.authoring import Metric, Range, Row, Unscored
from metrichub.text import Texts, lengths

_QUOTED = re.compile(
    r'"([^"\n]+)"|[“„‟]([^“”„‟\n]+)[”“‟]|«([^«»\n]+)»|»([^«»\n]+)«|「([^「」\n]+)」|『([^『』\n]+)』'
)
_APOSTROPHES = str.maketrans("‘’ʼ", "'''")
_ENDS = " .,;:!?…。，、；：！？"
"""What a sentence around a quotation may put within its marks."""


@dataclass(frozen=True, kw_only=True)
class QuotedSpans(Metric):
    """The share of a reply's quoted spans that a passage has, averaged (macro).

    Attributes:
        min_words: The fewest words of a span that counts; letters in scripts without spaces.
        ignore_case: Whether case is ignored.
    """

    min_words: Annotated[int, Range(1, 1000)] = 3
    ignore_case: bool = True

    def observe(self, prediction: str, contexts: Sequence[str]) -> Row | Unscored:
        """The share of one reply."""
        quotes = self._quotes(prediction, contexts)
        if not quotes:
            return Unscored("the reply quotes nothing", "no_quotes")
        return {"score": sum(is_there for _, is_there in quotes) / len(quotes)}

    def explain(self, prediction: str, contexts: Sequence[str]) -> Mapping[str, Any]:
        """Each span, and whether a passage has it."""
        quotes = self._quotes(prediction, contexts)
        return {"spans": [{"span": span, "found": is_there} for span, is_there in quotes]}

    def _quotes(self, prediction: str, contexts: Sequence[str]) -> list[tuple[str, bool]]:
        quoted = ("".join(groups).strip(_ENDS) for groups in _QUOTED.findall(prediction))
        spans = [span for span in quoted if span]
        words = lengths(Texts(spans), "mixed").tolist()
        passages = list(map(self._plain, contexts))
        return [
            (span, any(self._plain(span) in passage for passage in passages))
            for span, number in zip(spans, words, strict=True)
            if number >= self.min_words
        ]

    def _plain(self, text: str) -> str:
        """The text with straight apostrophes and one space for each run of blanks."""
        plain = " ".join(text.translate(_APOSTROPHES).split())
        return plain.casefold() if self.ignore_case else plain
