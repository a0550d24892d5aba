"""Character error rate: edits per character of the reference, and related rates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from metric_cards._bases.error_rates import ErrorRate
from metric_cards.cer.graphemes import graphemes
from metrichub.authoring import OMIT_DEFAULT
from metrichub.text import Texts, Tokenizer


@dataclass(frozen=True, kw_only=True)
class CharacterErrorRate(ErrorRate):
    """Counts of an alignment of characters, pooled over the corpus (micro).

    Attributes:
        unit: What is compared: code points, as jiwer does, or graphemes: letters with their vowel
            signs and accents, and emoji that are joined.
        spaces: Whether white space counts; False removes it first, as is usual for Chinese.
    """

    tokenizer: ClassVar[str] = "jiwer-chars"

    unit: Literal["character", "grapheme"] = field(default="character", metadata=OMIT_DEFAULT)
    spaces: bool = field(default=True, metadata=OMIT_DEFAULT)

    def declared_tokenizer(self) -> Tokenizer:
        """The tokenizer that splits texts into the units that are compared."""
        return graphemes if self.unit == "grapheme" else self.tokenizer

    def _prepared(self, texts: Texts) -> Texts:
        texts = super()._prepared(texts)
        if self.spaces:
            return texts
        return texts.cached("without spaces", lambda: Texts(["".join(t.split()) for t in texts]))
