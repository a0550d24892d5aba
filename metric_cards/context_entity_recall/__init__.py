"""Context entity recall: the fraction of the reference's entities that the contexts name."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from metrichub.authoring import JudgeMetric, Questions, Unscored, WithTrace


@dataclass(frozen=True, kw_only=True)
class ContextEntityRecall(JudgeMetric):
    """The fraction of the reference's entities that the contexts name, averaged over samples.

    Attributes:
        match: How entities are compared: "normalized" ignores case and the kind and amount of
            whitespace; "exact" compares every character.
    """

    asks: ClassVar[Questions] = {"extract": ("entities",)}

    match: Literal["normalized", "exact"] = "normalized"

    async def observe(self, reference: str, contexts: Sequence[str]) -> WithTrace | Unscored:
        """The score of one sample, with the entities of both sides."""
        if not reference.strip():
            return Unscored("there is no reference")
        passages = [text for text in contexts if text.strip()]
        expected, *lists = await asyncio.gather(
            *(self.extract("entities", text=text) for text in (reference, passages) if text)
        )
        in_contexts = lists[0] if lists else []
        named: dict[str, str] = {}
        for entity in filter(str.strip, expected):
            named.setdefault(self._key(entity), entity)
        if not named:
            return Unscored("the reference names no entity")
        keys = {self._key(entity) for entity in in_contexts}
        score = len(keys & named.keys()) / len(named)
        entities = [{"entity": text, "found": key in keys} for key, text in named.items()]
        return WithTrace({"score": score}, {"entities": entities, "context_entities": in_contexts})

    def _key(self, entity: str) -> str:
        return entity if self.match == "exact" else " ".join(entity.casefold().split())
