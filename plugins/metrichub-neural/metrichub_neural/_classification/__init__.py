"""Shared by classifiers of single texts: the model, and its labels by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from metrichub.authoring import Array, Range, Scores
from metrichub.errors import ModelError
from metrichub.text import Texts
from metrichub_neural.engine.classifier import Classified, classifier_of, labels_of
from metrichub_neural.engine.flaws import noted
from metrichub_neural.engine.settings import read_config
from metrichub_neural.engine.whole import WholeMetric


@dataclass(frozen=True, kw_only=True)
class ClassifierMetric(WholeMetric):
    """A metric that asks a classifier about each prediction."""

    def places(self, *labels: str) -> list[int]:
        """The places of labels among the model's, by their names; case doesn't matter.

        Raises:
            ModelError: it has no such label, or isn't a classifier with probabilities.
        """
        files = self.files()
        config = read_config(files)
        heads = config.get("architectures") or ([] if config else ["no config.json"])
        if heads and not any("Classification" in head for head in heads):
            raise ModelError(f"{files.name} isn't a classifier: it has {', '.join(heads)}")
        if config.get("problem_type") == "regression":
            raise ModelError(f"{files.name} is a regression, which has no probabilities of labels")
        indices = labels_of(config)
        for label in labels:
            if label.strip().lower() not in indices:
                raise ModelError(
                    f"{files.name} has no label {label!r} (it has: {', '.join(indices)})"
                )
        return [indices[label.strip().lower()] for label in labels]

    def classified(self, texts: Sequence[str]) -> list[Classified]:
        """The model's probabilities for each text."""
        return classifier_of(self.files(), self.dtype).of_texts(texts)


@dataclass(frozen=True, kw_only=True)
class LabelMetric(ClassifierMetric):
    """How probable one label is.

    Attributes:
        target: The label, by its name in the model's configuration; case doesn't matter.
        threshold: From which probability on a prediction counts for `share`.
    """

    target: str
    threshold: Annotated[float, Range(0, 1)] = 0.5

    def measure(self, prediction: Texts) -> Mapping[str, Array]:
        """The label's probability for each text, and whether it reaches the threshold, (N,)."""
        (place,) = self.places(self.target)
        rows = self.classified(list(prediction))
        probability = np.array([row.probabilities[place] for row in rows], np.float64)
        return {
            "probability": probability,
            "reached": (probability >= self.threshold).astype(np.float64),
            **noted(predictions=rows),
        }

    def score(self, probability: Array, reached: Array, count: Array) -> Scores:
        """The mean probability, and the share of the texts that reach the threshold."""
        return {"score": probability / count, "share": reached / count}
