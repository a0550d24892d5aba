"""Toxicity by a classifier: how probable hate is in the predictions (Vidgen et al., 2021)."""

from __future__ import annotations

from dataclasses import dataclass

from metrichub.authoring import Checkpoint, Published
from metrichub_neural._classification import LabelMetric
from metrichub_neural.engine.encoder import ModelName

_MODEL = "facebook/roberta-hate-speech-dynabench-r4-target"
_DANISH = "DaNLP/da-electra-hatespeech-detection"
_SOURCE = "Hugging Face evaluate 0.4.6, measurements/toxicity"
_TEXTS = {"predictions": ["she went to the library", "he is a douchebag"]}


@dataclass(frozen=True, kw_only=True)
class ToxicityClassifier(LabelMetric):
    """The mean probability of toxicity (macro), and the share of toxic predictions.

    Attributes:
        target: The label that means toxic, by its name in the model's configuration; case doesn't
            matter.
        threshold: From which probability on a prediction is toxic.
    """

    checkpoints = (Checkpoint(_MODEL), Checkpoint(_DANISH))
    published = (
        Published(_SOURCE, {"model": _MODEL}, _TEXTS, {"score": [0.00020702, 0.85637259]}, 1e-5),
        Published(
            _SOURCE,
            {"model": _DANISH, "target": "offensive"},
            _TEXTS,
            {"score": [0.01755451, 0.02032076]},
            1e-5,
        ),
    )

    model: ModelName = _MODEL
    target: str = "hate"
