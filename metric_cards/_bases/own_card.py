"""The card of a metric whose parameters say what its outputs are, or mean."""

from __future__ import annotations

from typing import Any

from metrichub.authoring import Card, Metric


class OwnCard:
    """The card in the metric's folder, or what a metric's `own_card` makes of it."""

    def __get__(self, metric: Any, owner: type) -> Card:
        card: Card = Metric.__dict__["card"].__get__(None, owner)
        return card if metric is None else metric.own_card(card)
