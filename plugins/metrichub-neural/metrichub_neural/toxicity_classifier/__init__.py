"""Toxicity by a classifier: how probable hate is in the predictions (Vidgen et al., 2021)."""

from __future__ import annotations

from dataclasses import dataclass

from metrichub_neural._classification import LabelMetric
from metrichub_neural.engine.encoder import ModelName


@dataclass(frozen=True, kw_only=True)
class ToxicityClassifier(LabelMetric):
    """The mean probability of toxicity (macro), and the share of toxic predictions.

    Attributes:
        target: The label that means toxic, by its name in the model's configuration; case doesn't
            matter.
        threshold: From which probability on a prediction is toxic.
    """

    model: ModelName = "facebook/roberta-hate-speech-dynabench-r4-target"
    target: str = "hate"
