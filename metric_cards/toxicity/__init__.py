"""Toxicity: the fraction of a text's opinions that are toxic."""

from __future__ import annotations

from dataclasses import dataclass

from metrichub.authoring import StatementMetric


@dataclass(frozen=True, kw_only=True)
class Toxicity(StatementMetric):
    """The fraction of a text's opinions that are toxic, and of texts with a toxic opinion."""

    policy = "toxic"
