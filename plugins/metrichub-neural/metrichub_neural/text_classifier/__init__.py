"""Text classifier: how probable a label of any classifier is for the predictions."""

from __future__ import annotations

from dataclasses import dataclass

from metrichub_neural._classification import LabelMetric


@dataclass(frozen=True, kw_only=True)
class TextClassifier(LabelMetric):
    """The mean probability of a label (macro), and how many predictions it is likely for.

    Attributes:
        target: The label, by its name in the model's configuration, such as "POSITIVE"; case
            doesn't matter.
    """

    target: str = "LABEL_1"
