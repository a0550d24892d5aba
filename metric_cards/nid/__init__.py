"""NID: one minus the entropy of a text's words, over the highest that its length allows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log, nan
from typing import Literal

import numpy as np

from metric_cards.nid.stopwords import ENGLISH
from metrichub.authoring import Measured, Metric
from metrichub.text import Texts, intern_one

_WORD = re.compile(r"\b\w\w+\b")


@dataclass(frozen=True, kw_only=True)
class NormalizedInverseOfDiversity(Metric):
    """NID (Xiao and Carenini 2020), the mean over texts (macro).

    Attributes:
        stop_words: "english" leaves lowercase function words and one-letter words out of the
            entropy, as the authors' code does.
        tokenizer: How texts are split into tokens for the length and, if no word is left out, for
            the entropy; `unicode` ignores case and punctuation.
    """

    stop_words: Literal["none", "english"] = "none"
    tokenizer: Literal["unicode", "13a", "intl", "zh", "char", "whitespace"] = "unicode"

    def measure(self, prediction: Texts) -> Measured:
        """The NID of each text, (N,); `nan` with fewer than two tokens or only stop words."""
        scores, reasons = [], {}
        tokens = intern_one(prediction, self.tokenizer).lists
        for row, (text, all_words) in enumerate(zip(prediction, tokens, strict=True)):
            words: Sequence[object] = all_words
            if self.stop_words == "english":
                words = _content_words(text)
            if len(all_words) < 2:
                reasons[row] = "the text has fewer than two tokens"
            elif not words:
                reasons[row] = "the text has no words but stop words"
            scored = row not in reasons
            # A hyphenated token may hold more words than one, so that the difference is below 0.
            scores.append(max(1 - _entropy(words) / log(len(all_words)), 0.0) if scored else nan)
        kinds = dict.fromkeys(reasons, "too_short")
        return Measured({"score": np.array(scores, np.float64)}, reasons, kinds)


def _content_words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if word not in ENGLISH]


def _entropy(words: Sequence[object]) -> float:
    """The entropy of the words' distribution, in nats."""
    return _of_counts(tuple(Counter(words).values()))


@lru_cache(maxsize=1 << 14)
def _of_counts(counts: tuple[int, ...]) -> float:
    shares = np.array(counts) / sum(counts)
    return float(-(shares * np.log(shares)).sum())
