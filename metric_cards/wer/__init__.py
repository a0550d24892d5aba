"""Word error rate: edits per word of the reference, and what else the same alignment tells."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from metric_cards._bases.error_rates import ErrorRate
from metrichub.authoring import OMIT_DEFAULT
from metrichub.text import Tokenizer


@dataclass(frozen=True, kw_only=True)
class WordErrorRate(ErrorRate):
    """Counts of an alignment of words, pooled over the corpus (micro).

    Attributes:
        unit: What is compared: words, or for the mixed error rate each character of scripts without
            spaces (Han, kana, Thai, Lao, Khmer, Burmese) and words elsewhere.
    """

    tokenizer: ClassVar[str] = "jiwer-words"

    unit: Literal["word", "mixed"] = field(default="word", metadata=OMIT_DEFAULT)

    def declared_tokenizer(self) -> Tokenizer:
        """The tokenizer that splits texts into the units that are compared."""
        return "mixed" if self.unit == "mixed" else self.tokenizer
