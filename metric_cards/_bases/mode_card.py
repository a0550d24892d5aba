"""The card of a metric whose `score` is one of its other outputs, which its `mode` names."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from metrichub.authoring import Card, Metric


class CardOfMode:
    """The card in the metric's folder, where `score` has the scale of the chosen output."""

    def __get__(self, metric: Any, owner: type) -> Card:
        card: Card = Metric.__dict__["card"].__get__(None, owner)
        return card if metric is None else _with_scale(owner, metric.mode)


@cache
def _with_scale(owner: type, mode: str) -> Card:
    card: Card = Metric.__dict__["card"].__get__(None, owner)
    scale = card.scale(mode)
    return card if scale is None else replace(card, scores={**card.scores, "score": scale})
