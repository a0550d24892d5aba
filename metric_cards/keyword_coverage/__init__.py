"""Keyword coverage: how many of the keywords that a reply has to mention are in it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from metrichub.authoring import Array, Metric, Row, Scores, Unscored
from metrichub.errors import InputError, ParameterError, what

_UNSPACED = (
    r"\u0e00-\u0eff\u0f00-\u109f\u1780-\u17ff\u1950-\u19df\u3040-\u30ff\u3400-\u9fff\ua980-\ua9df"
    r"\uf900-\ufaff\U00020000-\U0003ffff"
)
"""The letters of scripts without spaces, in which no mark shows where a word ends."""
_JOINED = re.compile(rf"[^\W{_UNSPACED}]")
"""A letter or digit that makes another word of the one that it stands beside."""


@dataclass(frozen=True, kw_only=True)
class KeywordCoverage(Metric):
    """The fraction of all keywords that the replies mention (micro).

    Attributes:
        keywords: The keywords for all samples; if there are none, each sample's own are taken from
            the column `keywords`.
        whole_words: Whether a keyword has to stand alone, so that "cat" isn't in "concatenate".
        ignore_case: Whether case is ignored.
    """

    keywords: tuple[str, ...] = ()
    whole_words: bool = True
    ignore_case: bool = True

    def __post_init__(self) -> None:
        """Check that every keyword has a character."""
        super().__post_init__()
        if not all(map(self._plain, self.keywords)):
            raise ParameterError(self.name, "keywords", self.keywords, "texts that aren't empty")

    def inputs(self) -> tuple[str, ...]:
        """The prediction, and the sample's keywords if the parameter gives none."""
        return ("prediction",) if self.keywords else ("prediction", "keywords")

    def observe(self, prediction: str, keywords: Sequence[str] = ()) -> Row | Unscored:
        """How many of the keywords are mentioned, and whether all are.

        Raises:
            InputError: a keyword isn't a text, or is empty.
        """
        needed = dict.fromkeys(map(self._checked, self.keywords or keywords))
        if not needed:
            return Unscored("the sample has no keywords")
        text = self._plain(prediction)
        mentioned = sum(_mentions(text, keyword, self.whole_words) for keyword in needed)
        return {"mentioned": mentioned, "keywords": len(needed), "all": mentioned == len(needed)}

    def score(self, mentioned: Array, keywords: Array, all: Array, count: Array) -> Scores:
        """The fraction of all keywords, and of the samples with all of theirs."""
        return {"score": mentioned / keywords, "all": all / count}

    def _checked(self, keyword: object) -> str:
        plain = self._plain(keyword) if isinstance(keyword, str) else ""
        if not plain:
            raise InputError(
                f"{self.name}: the column 'keywords' holds {what(keyword)}; a keyword is a text "
                "that isn't empty"
            )
        return plain

    def _plain(self, text: str) -> str:
        """The text with one form of each character, and one space for each run of blanks."""
        plain = " ".join(unicodedata.normalize("NFC", text).split())
        return unicodedata.normalize("NFC", plain.casefold()) if self.ignore_case else plain


def _mentions(text: str, keyword: str, whole_words: bool) -> bool:
    start = text.find(keyword)
    while start >= 0:
        end = start + len(keyword)
        edges = (text[max(start - 1, 0) : start], keyword[0]), (keyword[-1], text[end : end + 1])
        if not (whole_words and any(all(map(_JOINED.match, edge)) for edge in edges)):
            return True
        start = text.find(keyword, start + 1)
    return False
