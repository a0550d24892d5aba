"""InfoLM: what a masked language model expects in two texts, compared (Colombo et al., 2022)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from metrichub.authoring import (
    Array,
    Checkpoint,
    Published,
    Range,
    Unscored,
)
from metrichub.errors import ModelError, ParameterError
from metrichub.text import Integers, Texts
from metrichub_neural.engine.batching import FloatArray
from metrichub_neural.engine.encoder import ModelName
from metrichub_neural.engine.frequencies import Frequencies, MeanOfWeighted
from metrichub_neural.engine.masked import Masked, masked_of
from metrichub_neural.engine.whole import WholeMetric
from metrichub_neural.infolm.measures import Measure, divergence, refused

Row = tuple[str, str]
"""A prediction and its reference, which both have tokens."""


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

    def reuse_key(self) -> None:
        """None: it measures texts, which are read by the model where it concludes from them."""

    def measure(self, prediction: Texts, reference: Texts) -> list[Row | Unscored]:
        """Each pair of texts that have tokens."""
        rows = list(zip(prediction, reference, strict=True))
        texts = list(dict.fromkeys(text for row in rows for text in row))
        encoded = zip(texts, self._model().encoded(texts), strict=True)
        blank = {text for text, each in encoded if each.added.all()}
        return [_row(row, blank) for row in rows]

    def notes_of_rows(self, rows: Sequence[Row]) -> Sequence[str]:
        """How many texts were longer than the model takes."""
        try:
            model = self._model()
        # A report may be read where the model isn't.
        except (ModelError, ImportError):
            return ()
        read = {
            kind: model.encoded([row[side] for row in rows])
            for side, kind in enumerate(("predictions", "references"))
        }
        return self.notes_of_texts(**read)

    def scores_of_rows(self, rows: Sequence[Row]) -> list[float]:
        """The divergence of each row, (R,)."""
        sides = (self._distributions([row[side] for row in rows]) for side in (0, 1))
        return [
            float(
                divergence(
                    self.information_measure,
                    first[None].astype(np.float64),
                    second[None].astype(np.float64),
                    self.alpha,
                    self.beta,
                )[0]
            )
            for first, second in zip(*sides, strict=True)
        ]

    def _distributions(self, texts: Sequence[str]) -> list[FloatArray]:
        model = self._model()
        weights: Callable[[Integers], Array] = lambda ids: np.ones(len(ids))
        if self.idf:
            weights = Frequencies.of(text.ids for text in model.encoded(texts)).weights
        return model.distributions(texts, weights, self.temperature)

    def _model(self) -> Masked:
        return masked_of(self.files(), self.dtype)


def _row(row: Row, blank: set[str]) -> Row | Unscored:
    if row[1] in blank:
        return Unscored("the reference has no tokens")
    if row[0] in blank:
        return Unscored("the prediction has no tokens", "no_tokens")
    return row
