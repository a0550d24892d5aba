"""Character error rate: edits per character of the reference, and related rates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from metric_cards._bases.error_rates import ErrorRate
from metric_cards.cer.graphemes import graphemes
from metrichub.authoring import OMIT_DEFAULT
from metrichub.text import Tokenizer


@dataclass(frozen=True, kw_only=True)
class CharacterErrorRate(ErrorRate):
    """Counts of an alignment of characters, pooled over the corpus (micro).

    Attributes:
        unit: What is compared: code points, as jiwer does, or graphemes: letters with their vowel
            signs and accents, and emoji that are joined.
    """

    tokenizer: ClassVar[str] = "jiwer-chars"

    unit: Literal["character", "grapheme"] = field(default="character", metadata=OMIT_DEFAULT)

    def units(self) -> Tokenizer:
        """What splits texts into the units that are compared."""
        return graphemes if self.unit == "grapheme" else self.tokenizer
