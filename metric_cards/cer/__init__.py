"""Character error rate: edits per character of the reference, and related rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from metric_cards._bases.error_rates import ErrorRate


@dataclass(frozen=True, kw_only=True)
class CharacterErrorRate(ErrorRate):
    """Counts of an alignment of characters, pooled over the corpus (micro)."""

    tokenizer: ClassVar[str] = "jiwer-chars"
