"""Criteria: the weighted fraction of its own criteria that a reply or a conversation meets."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np

from metric_cards._bases.own_card import OwnCard
from metric_cards.criteria.reading import Criterion, criteria_of, criteria_text
from metrichub.authoring import (
    Array,
    Card,
    ConversationMetric,
    LocalPath,
    Message,
    Questions,
    Scale,
    Scores,
    Unscored,
    WithTrace,
    values,
)


@dataclass(frozen=True, kw_only=True)
class Criteria(ConversationMetric):
    """The points of the criteria met over all positive points, as in HealthBench.

    Attributes:
        criteria: The criteria of all samples: a list of texts or objects, JSON text of one, or the
            path of a file. They are kept as JSON text. If None, each sample's own are taken from
            the column `criteria`.
        tags: Tags of criteria, each of which gets a separate output, such as `tag_safety`.
        each: Whether the judge is asked about each criterion in a separate call.
    """

    asks: ClassVar[Questions] = {"verify": ("met",)}

    card = OwnCard()
    averaging = "macro"

    criteria: tuple[str | dict[str, Any], ...] | Annotated[str | Path, LocalPath()] | None = None
    tags: tuple[str, ...] = ()
    each: bool = False

    def __post_init__(self) -> None:
        """Read the criteria."""
        super().__post_init__()
        if self.criteria is not None:
            object.__setattr__(self, "criteria", criteria_text(self.name, self.criteria))

    def inputs(self) -> tuple[str, ...]:
        """The conversation, and the sample's criteria if the parameter gives none."""
        return ("messages",) if self.criteria else ("messages", "criteria")

    def outputs(self) -> tuple[str, ...]:
        """The score, the fraction and whether all is met, and the score by tag."""
        return ("score", "met", "all_met", *(f"tag_{tag}" for tag in self.tags))

    def own_card(self, card: Card) -> Card:
        """The card with the outputs of the tags."""
        tagged = {output: Scale(None, 1, "higher") for output in self.outputs()[3:]}
        headline = (*card.headline, *tagged)
        return (
            replace(card, scores={**card.scores, **tagged}, headline=headline) if tagged else card
        )

    def scales(self, totals: Mapping[str, Array], count: int) -> Mapping[str, Scale]:
        """Those of the means, which are clipped, other than the scores of samples."""
        return {output: Scale(0, 1, "higher") for output in ("score", *self.outputs()[3:])}

    async def observe(
        self, messages: Sequence[Message], criteria: Sequence[Any] = ()
    ) -> WithTrace | Unscored:
        """The scores of one conversation, with the verdict on each criterion."""
        read = criteria_of(self.name, criteria if self.criteria is None else str(self.criteria))
        if not any(criterion.points > 0 for criterion in read):
            return Unscored("no criterion has positive points" if read else "there is no criterion")
        if not messages:
            return Unscored("there is no message", "empty")
        texts = [criterion.criterion for criterion in read]
        groups = [[text] for text in texts] if self.each else [texts]
        asked = await asyncio.gather(*(self.verify_in("met", some, messages) for some in groups))
        verdicts = [verdict for group in asked for verdict in group]
        met = values(verdicts)
        by_tag = {
            tag: _share(read, met, tag) for tag in dict.fromkeys(t for c in read for t in c.tags)
        }
        shares = [_share(read, met), *(by_tag.get(tag, float("nan")) for tag in self.tags)]
        row = {
            "share": np.nan_to_num(shares),
            "rated": ~np.isnan(shares),
            "fraction": sum(met) / len(met),
            "whole": all(m == (c.points > 0) for c, m in zip(read, met, strict=True) if c.points),
        }
        judged = [
            {**asdict(verdict), "index": index, "points": criterion.points, "tags": criterion.tags}
            for index, (verdict, criterion) in enumerate(zip(verdicts, read, strict=True))
        ]
        return WithTrace(row, {"criteria": judged, "tags": by_tag})

    def score(
        self, share: Array, rated: Array, fraction: Array, whole: Array, count: Array
    ) -> Scores:
        """Means over samples; those of points are clipped to [0, 1]."""
        return self._named(np.clip(share / rated, 0, 1), fraction / count, whole / count)

    def score_samples(
        self, share: Array, rated: Array, fraction: Array, whole: Array, count: Array
    ) -> Scores:
        """Those of single samples, which may be below 0."""
        return self._named(share / rated, fraction / count, whole / count)

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """That the mean is clipped, where it is, and what it is; the tags that no criterion has."""
        mean = float(totals["share"][..., 0] / totals["rated"][..., 0])
        hint = "systems below 0 have the same score and may differ in met"
        clipped = [f"the mean of the samples is {mean:.3g}, which is clipped to 0; {hint}"]
        rated = dict(zip(self.tags, totals["rated"][1:], strict=True))
        absent = [
            f"no criterion with positive points has the tag {t!r}" for t in rated if not rated[t]
        ]
        return [*super().notes(totals), *(clipped if mean < 0 else ()), *absent]

    def _named(self, shares: Array, met: Array, whole: Array) -> Scores:
        by_tag = (shares[..., number + 1] for number in range(len(self.tags)))
        return dict(zip(self.outputs(), (shares[..., 0], met, whole, *by_tag), strict=True))


def _share(criteria: Sequence[Criterion], met: Sequence[float], tag: str | None = None) -> float:
    """The points met over the positive points, of all criteria or of a tag's; `nan` for 0/0."""
    pairs = [(c.points, m) for c, m in zip(criteria, met, strict=True) if tag in (None, *c.tags)]
    positive = sum(points for points, _ in pairs if points > 0)
    return sum(points * m for points, m in pairs) / positive if positive else float("nan")
