"""Character error rate: the word error rate with every character as a word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from metric_cards.wer import WordErrorRate


@dataclass(frozen=True, kw_only=True)
class CharacterErrorRate(WordErrorRate):
    """Counts of an alignment of characters, pooled over the corpus (micro).

    Attributes:
        lowercase: Whether both texts are put in lower case first.
        punctuation: Whether punctuation counts; False removes it first (Unicode categories P).
        alignment: Whether to find out which edits were made; False gives `score` alone, faster.
    """

    tokenizer: ClassVar[str] = "jiwer-chars"
