"""Character error rate: the word error rate with every character as a word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from metric_cards.wer import WordErrorRate


@dataclass(frozen=True, kw_only=True)
class CharacterErrorRate(WordErrorRate):
    """Counts of an alignment of characters, pooled over the corpus (micro)."""

    tokenizer: ClassVar[str] = "jiwer-chars"
