"""Citations: whether the passages that a text cites support its sentences, and are needed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

from metric_cards._bases.citation_marks import MARK, cited_numbers
from metrichub.authoring import (
    JudgeMetric,
    Questions,
    Range,
    Unscored,
    Verdict,
    WithTrace,
    sentences,
)

_WORD = re.compile(r"\w")
_SPACED_MARK = re.compile(rf"\s*(?:{MARK.pattern})")


class Cited(NamedTuple):
    """A statement, and the numbers of the passages that are to support it, from 1."""

    claim: str
    passages: tuple[int, ...]

    def alone(self, number: int) -> Cited:
        """The statement with one of its passages."""
        return Cited(self.claim, (number,))

    def without(self, number: int) -> Cited:
        """The statement with all of its passages but one."""
        return Cited(self.claim, tuple(other for other in self.passages if other != number))


Verdicts = Mapping[Cited, Verdict]


@dataclass(frozen=True, kw_only=True)
class Citations(JudgeMetric):
    """Recall and precision of citations, and their F1, macro; Gao et al. (2023), section 4.3.

    Attributes:
        at_most_citations: How many citations of a sentence count, from its first; None for all.
    """

    asks: ClassVar[Questions] = {"verify": ("supported",)}

    at_most_citations: Annotated[int, Range(1)] | None = 3

    async def observe(self, prediction: str, contexts: Sequence[str]) -> WithTrace | Unscored:
        """The rates of one text, with the verdicts on its sentences and their citations."""
        parts = [self._cited(sentence, len(contexts)) for sentence in sentences(prediction)]
        parts = [part for part in parts if _WORD.search(part.claim)]
        if not parts:
            return Unscored("the text makes no statement", "no_claims")
        verdicts = await self._asked(parts, contexts, {})
        pairs = [(p, number) for p in parts if _supported(verdicts, p) for number in p.passages]
        verdicts = await self._asked((p.alone(n) for p, n in pairs), contexts, verdicts)
        doubted = [p.without(n) for p, n in pairs if not _supported(verdicts, p.alone(n))]
        verdicts = await self._asked(doubted, contexts, verdicts)
        explained = [_explained(verdicts, part) for part in parts]
        recall = sum(_supported(verdicts, part) for part in parts) / len(parts)
        marks = sum(len(part.passages) for part in parts)
        precise = sum(len(sentence["precise"]) for sentence in explained)
        precision = precise / marks if marks else 0.0
        row = {
            "score": 2 * precision * recall / (precision + recall) if precise else 0.0,
            "recall": recall,
            "precision": precision,
            "cited": sum(bool(part.passages) for part in parts) / len(parts),
        }
        return WithTrace(row, {"sentences": explained})

    def _cited(self, sentence: str, contexts: int) -> Cited:
        """The sentence without its marks; it cites nothing if a number isn't that of a passage."""
        numbers = tuple(dict.fromkeys(cited_numbers(sentence)))
        valid = all(1 <= number <= contexts for number in numbers)
        claim = _SPACED_MARK.sub("", sentence).strip()
        return Cited(claim, numbers[: self.at_most_citations] if valid else ())

    async def _asked(
        self, parts: Iterable[Cited], contexts: Sequence[str], earlier: Verdicts
    ) -> Verdicts:
        """All verdicts, `earlier` ones too; statements with equal passages are asked together."""
        claims: dict[tuple[int, ...], list[str]] = {}
        for part in dict.fromkeys(parts):
            if part.passages and part not in earlier:
                claims.setdefault(part.passages, []).append(part.claim)
        answers = await asyncio.gather(
            *(self.support(texts, [contexts[n - 1] for n in ns]) for ns, texts in claims.items())
        )
        verdicts = dict(earlier)
        for (passages, texts), answered in zip(claims.items(), answers, strict=True):
            verdicts |= {Cited(c, passages): v for c, v in zip(texts, answered, strict=True)}
        return verdicts


def _supported(verdicts: Verdicts, part: Cited) -> bool:
    return part in verdicts and verdicts[part].verdict == "yes"


def _explained(verdicts: Verdicts, part: Cited) -> dict[str, Any]:
    """The verdicts that were asked for, and the citations that suffice alone or are needed."""
    others = [other for n in part.passages for other in (part.alone(n), part.without(n))]
    asked = [other for other in dict.fromkeys([part, *others]) if other in verdicts]
    precise = [
        number
        for number in part.passages
        if _supported(verdicts, part.alone(number))
        or not _supported(verdicts, part.without(number))
    ]
    return {
        "sentence": part.claim,
        "verdicts": [{"passages": claim.passages, "verdict": verdicts[claim]} for claim in asked],
        "precise": precise if _supported(verdicts, part) else [],
    }
