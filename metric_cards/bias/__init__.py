"""Bias: the fraction of a text's opinions that are biased."""

from __future__ import annotations

from dataclasses import dataclass

from metrichub.authoring import StatementMetric


@dataclass(frozen=True, kw_only=True)
class Bias(StatementMetric):
    """The fraction of a text's opinions that are biased, and of texts with a biased one."""

    policy = "biased"
