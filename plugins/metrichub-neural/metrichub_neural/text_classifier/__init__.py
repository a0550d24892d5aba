"""Text classifier: how probable a label of any classifier is for the predictions."""

from __future__ import annotations

from dataclasses import dataclass

from metrichub.authoring import ModelFiles
from metrichub.errors import MissingModel
from metrichub_neural._classification import LabelMetric


@dataclass(frozen=True, kw_only=True)
class TextClassifier(LabelMetric):
    """The mean probability of a label (macro), and how many predictions it is likely for.

    Attributes:
        target: The label, by its name in the model's configuration, such as "POSITIVE"; case
            doesn't matter.
    """

    target: str = "LABEL_1"

    def files(self) -> ModelFiles:
        """The model's files; there is no default."""
        if self.model is None:
            example = "model='distilbert/distilbert-base-uncased-finetuned-sst-2-english'"
            how = f"name it and one of its labels, as in {self.name}({example}, target='POSITIVE')"
            raise MissingModel(self.name, "of your choice", f"{how} (Apache 2.0)")
        return super().files()
