"""Exact match: whether the prediction equals the reference after the chosen normalization."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from metric_cards._bases.answer_texts import blanked, differ_in_meaning, loose_matches
from metric_cards._bases.label_texts import texts_of_numbers
from metric_cards.exact_match.location import Location, stands_at
from metrichub.authoring import OMIT_DEFAULT, Array, Metric
from metrichub.errors import ParameterError
from metrichub.text import Texts, equal_rows, highlight

_TOKENIZERS = {"squad": "squad", "words": "bag", "triviaqa": "squad"}


@dataclass(frozen=True, kw_only=True)
class ExactMatch(Metric):
    """The fraction of predictions that equal a reference, or have it where it is looked for.

    Attributes:
        regexes_to_ignore: Regular expressions whose matches are removed first, one after the
            other.
        ignore_case: Whether case is ignored; this comes second.
        ignore_punctuation: Whether ASCII punctuation is removed.
        ignore_numbers: Whether the digits 0 to 9 are removed.
        normalization: The last step: `squad` ignores case, ASCII punctuation, the English
            articles and the amount of whitespace; `words` the same but for articles; `triviaqa`
            puts blanks in the place of punctuation and ‘ ’ ´ ` first; `strip` removes whitespace at
            both ends, `edges` also ASCII punctuation there, and folds case if it is ignored (ß is
            ss); `none` does nothing.
        location: Where the reference is looked for: it has to be the whole prediction (`exact`),
            its beginning, its end, or `any` part of it.
        whole_words: Whether a reference that is found may not begin or end inside a word, and an
            empty one is found in an empty prediction alone.
        match_empty: Whether an empty prediction can match.
    """

    text_of_objects = staticmethod(texts_of_numbers)
    whole_objects = True
    several_objects = True

    regexes_to_ignore: tuple[str, ...] = ()
    ignore_case: bool = False
    ignore_punctuation: bool = False
    ignore_numbers: bool = False
    normalization: Literal["none", "strip", "edges", "squad", "words", "triviaqa"] = "none"
    location: Location = field(default="exact", metadata=OMIT_DEFAULT)
    whole_words: bool = field(default=True, metadata=OMIT_DEFAULT)
    match_empty: bool = field(default=True, metadata=OMIT_DEFAULT)

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
        """1 for a prediction that matches its reference, else 0, (N,)."""
        originals = (prediction, reference)
        some = np.fromiter(map(bool, prediction), np.bool_, len(prediction)) | self.match_empty
        prediction, reference = self._cleaned(prediction), self._cleaned(reference)
        tokenizer = _TOKENIZERS.get(self.normalization)
        if self.location == "exact" and tokenizer:
            score = (equal_rows(prediction, reference, tokenizer) & some).astype(np.int64)
            return {"score": score, **self._loose(score, *originals)}
        if tokenizer:
            prediction, reference = (
                Texts([" ".join(tokens) for tokens in texts.tokens(tokenizer).all_strings()])
                for texts in (prediction, reference)
            )
        places = (
            stands_at(self.location, *pair, self.whole_words)
            for pair in zip(prediction, reference, strict=True)
        )
        score = np.fromiter(places, np.int64, len(prediction)) * some
        return {"score": score, **self._loose(score, *originals)}

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """How many matches are of answers that differ."""
        loose = int(totals.get("noted_loose", 0))
        return [loose_matches(loose, "normalization='strip' keeps them")] if loose else ()

    def _loose(self, score: Array, prediction: Texts, reference: Texts) -> dict[str, Array]:
        """Which matches differ in signs or numbers, or are articles, if any."""
        deletes = self.normalization in _TOKENIZERS or self.ignore_punctuation
        if self.location != "exact" or self.ignore_numbers or not deletes:
            return {}
        matches = np.flatnonzero(score).tolist()
        rows = [row for row in matches if differ_in_meaning(prediction[row], reference[row])]
        return {"noted_loose": np.bincount(rows, minlength=len(score))} if rows else {}

    def explain(self, prediction: str, reference: str) -> highlight.Step:
        """The alignment of both texts after the normalization, and the number of edits."""
        predicted, expected = self._cleaned(Texts([prediction, reference]))
        return highlight.aligned(predicted, expected, _TOKENIZERS.get(self.normalization, "chars"))

    def _cleaned(self, texts: Texts) -> Texts:
        options = (self.ignore_case, self.ignore_punctuation, self.ignore_numbers)
        ends = self.normalization if self.normalization in ("strip", "edges") else ""
        if self.regexes_to_ignore or any(options) or ends:
            key = ("exact_match", self.regexes_to_ignore, options, ends)
            plain = texts
            texts = plain.cached(key, lambda: Texts([self._clean(text) for text in plain]))
        return blanked(texts) if self.normalization == "triviaqa" else texts

    def _clean(self, text: str) -> str:
        for regex in self.regexes_to_ignore:
            text = re.sub(regex, "", text)
        text = text.lower() if self.ignore_case else text
        dropped = string.punctuation * self.ignore_punctuation + string.digits * self.ignore_numbers
        text = text.translate(str.maketrans("", "", dropped)) if dropped else text
        if self.normalization == "edges":
            text = text.casefold() if self.ignore_case else text
            return text.strip().strip(string.whitespace + string.punctuation)
        return text.strip() if self.normalization == "strip" else text
