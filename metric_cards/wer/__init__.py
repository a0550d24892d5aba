"""Word error rate: edits per word of the reference, and what else the same alignment tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from metric_cards._bases.error_rates import ErrorRate


@dataclass(frozen=True, kw_only=True)
class WordErrorRate(ErrorRate):
    """Counts of an alignment of words, pooled over the corpus (micro)."""

    tokenizer: ClassVar[str] = "jiwer-words"
