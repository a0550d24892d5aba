"""Text classifier: how probable a label of any classifier is for the predictions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from metrichub.authoring import Card, Metric
from metrichub.errors import MissingModel
from metrichub_neural._classification import LabelMetric
from metrichub_neural.local_models import ModelFiles

Better = Literal["higher", "lower"]


class _CardAsSet:
    """The card in this folder, with the direction that a metric was given."""

    def __get__(self, metric: TextClassifier | None, owner: type) -> Card:
        return _with_direction(owner, metric.better if metric else None)


@cache
def _with_direction(owner: type, better: Better | None) -> Card:
    card: Card = Metric.__dict__["card"].__get__(None, owner)
    if better is None:
        return card
    scales = {name: scale._replace(better=better) for name, scale in card.scores.items()}
    return replace(card, scores=scales)


@dataclass(frozen=True, kw_only=True)
class TextClassifier(LabelMetric):
    """The mean probability of a label (macro), and how many predictions it is likely for.

    Attributes:
        target: The label, by its name in the model's configuration, such as "POSITIVE"; case
            doesn't matter.
        better: "higher" if the label is wanted, "lower" if it isn't; if None, systems are compared
            and not ranked.
    """

    target: str = "LABEL_1"
    better: Better | None = None

    card = _CardAsSet()

    def files(self) -> ModelFiles:
        """The model's files; there is no default."""
        if self.model is None:
            example = "model='distilbert/distilbert-base-uncased-finetuned-sst-2-english'"
            how = f"name it and one of its labels, as in {self.name}({example}, target='POSITIVE')"
            raise MissingModel(self.name, "of your choice", f"{how} (Apache 2.0)")
        return super().files()
