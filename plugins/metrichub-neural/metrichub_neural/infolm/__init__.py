"""InfoLM: what a masked language model expects in two texts, compared (Colombo et al., 2022)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from metrichub.authoring import Array, Checkpoint, Published, Range, Unscored
from metrichub.errors import ParameterError
from metrichub.text import Integers, RaggedTexts, Texts
from metrichub_neural.engine.batching import FloatArray
from metrichub_neural.engine.encoder import ModelName
from metrichub_neural.engine.frequencies import Frequencies, MeanOfWeighted, Row, sides_of
from metrichub_neural.engine.masked import Masked, masked_of
from metrichub_neural.engine.tokens import Encoded
from metrichub_neural.engine.whole import WholeMetric
from metrichub_neural.infolm.measures import Measure, divergence, refused


@dataclass(frozen=True, kw_only=True)
class InfoLm(WholeMetric, MeanOfWeighted):
    """How far apart the distributions over the vocabulary are that a model gives two texts (macro).

    Attributes:
        model: The masked language model: a name on the Hugging Face hub, or a folder; it has to be
            on this machine.
        information_measure: How two distributions are compared.
        alpha: A parameter of the divergences alpha, AB and Rényi.
        beta: A parameter of the divergences beta and AB.
        temperature: What the model's scores of tokens are divided by: below 1, distributions are
            sharper.
        idf: Whether a place weighs less the more texts have its token: of the predictions for those
            of a prediction, of the references for those of a reference.
    """

    checkpoints = (
        Checkpoint("google-bert/bert-base-uncased"),
        Checkpoint("google/bert_uncased_L-2_H-128_A-2"),
    )
    published = (
        Published(
            "torchmetrics 1.9.0, functional/text/infolm.py, whose KL divergence has a minus",
            {"model": "google/bert_uncased_L-2_H-128_A-2", "idf": False},
            {
                "predictions": ["he read the book because he was interested in world history"],
                "references": ["he was interested in world history because he read the book"],
            },
            {"score": [0.1784]},
            0.0001,
        ),
    )

    model: ModelName = "google-bert/bert-base-uncased"
    information_measure: Measure = "kl_divergence"
    alpha: float | None = None
    beta: float | None = None
    temperature: Annotated[float, Range(1e-3)] = 0.25
    idf: bool = True

    def __post_init__(self) -> None:
        """Check that the measure is defined for its parameters."""
        super().__post_init__()
        if refusal := refused(self.information_measure, self.alpha, self.beta):
            name, _, allowed = refusal.partition(": ")
            raise ParameterError(self.name, name, getattr(self, name), allowed)

    def encoded(self, texts: Sequence[str]) -> Sequence[Encoded]:
        """The tokens of each text."""
        return self._model().encoded(texts)

    def measure(self, prediction: Texts, references: RaggedTexts) -> list[Row | Unscored]:
        """Each prediction that has tokens, with its references that have some."""
        blank = Unscored("the prediction has no tokens", "no_tokens")
        rows = zip(super().measure(prediction, references), self.encoded(prediction), strict=True)
        return [blank if isinstance(row, tuple) and mine.added.all() else row for row, mine in rows]

    def scores_of_rows(self, rows: Sequence[Row]) -> list[float]:
        """The smallest divergence from a reference of each row, (R,)."""
        mine, theirs = map(self._distributions, sides_of(rows))
        coming = iter(theirs)
        return [
            float(
                divergence(
                    self.information_measure,
                    each[None].astype(np.float64),
                    np.stack([next(coming) for _ in others]).astype(np.float64),
                    self.alpha,
                    self.beta,
                ).min()
            )
            for each, (_, others) in zip(mine, rows, strict=True)
        ]

    def _distributions(self, texts: Sequence[str]) -> list[FloatArray]:
        model = self._model()
        weights: Callable[[Integers], Array] = lambda ids: np.ones(len(ids))
        if self.idf:
            weights = Frequencies.of(text.ids for text in self.encoded(texts)).weights
        return model.distributions(texts, weights, self.temperature)

    def _model(self) -> Masked:
        return masked_of(self.files(), self.dtype)
