"""MoverScore: how far a text's tokens in context have to move (Zhao et al., 2019)."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from metrichub.authoring import Array, Checkpoint, Unscored
from metrichub.errors import ModelError
from metrichub.text import RaggedTexts, Texts
from metrichub_neural.engine.encoder import TokenVectors
from metrichub_neural.engine.frequencies import Frequencies, MeanOfWeighted
from metrichub_neural.engine.metric import EncoderMetric
from metrichub_neural.engine.transport import REQUIRES, transported

Row = tuple[str, tuple[str, ...]]
"""A prediction and its references that have tokens."""


class _Bag(NamedTuple):
    """The tokens of a text that count: their unit vectors, (n, d), and shares, (n,)."""

    vectors: Array
    shares: Array


@dataclass(frozen=True, kw_only=True)
class MoverScore(EncoderMetric, MeanOfWeighted):
    """How near the tokens of prediction and references are by the transport between them.

    Attributes:
        idf: Whether a token weighs less the more texts have it: of the predictions for those of a
            prediction, of the references for the others.
        definition: What becomes of the distance d: 1 - d, as in the package moverscore 1.0.3, or
            1 / (1 + d), as in the authors' repository.
        stop_words: Tokens that are left out, beside punctuation and the further pieces of a word.
    """

    checkpoints = (Checkpoint("distilbert/distilbert-base-uncased"),)

    idf: bool = True
    definition: Literal["pypi", "repository"] = "pypi"
    stop_words: tuple[str, ...] = ()

    def default_model(self) -> str:
        """The one of the authors' faster version."""
        return self.checkpoints[0].name

    def requires(self) -> tuple[str, ...]:
        """The packages that the engine needs, and the solver of the transport."""
        return (*super().requires(), *REQUIRES)

    def reuse_key(self) -> None:
        """None: it measures texts, which are read by the model where it concludes from them."""

    def measure(self, prediction: Texts, references: RaggedTexts) -> list[Row | Unscored]:
        """Each prediction with its references that have tokens."""
        tokens = self.encoder().tokenizer
        others = list(dict.fromkeys(references.items))
        encoded = zip(others, tokens.encode(others), strict=True)
        blank = {text for text, each in encoded if each.added.all()}
        rows = [
            (mine, tuple(text for text in texts if text not in blank))
            for mine, texts in zip(prediction, references, strict=True)
        ]
        return [row if row[1] else Unscored("no reference has tokens") for row in rows]

    def notes_of_rows(self, rows: Sequence[Row]) -> Sequence[str]:
        """How many texts were longer than the model takes."""
        sides = {
            "predictions": [mine for mine, _ in rows],
            "references": [text for _, others in rows for text in others],
        }
        try:
            encode = self.encoder().tokenizer.encode
        # A report may be read where the model isn't.
        except ModelError:
            return ()
        return self.notes_of_texts(**{kind: encode(texts) for kind, texts in sides.items()})

    def scores_of_rows(self, rows: Sequence[Row]) -> list[float]:
        """The mean over the references of each row, (R,)."""
        predictions = [text for text, _ in rows]
        references = [text for _, others in rows for text in others]
        texts = list(dict.fromkeys([*predictions, *references]))
        read = dict(zip(texts, self.encoder().vectors(texts), strict=True))
        mine, theirs = self._bags(predictions, read), self._bags(references, read)
        return [
            float(np.mean([self._similarity(mine[text], theirs[other]) for other in others]))
            for text, others in rows
        ]

    def _bags(self, texts: Sequence[str], read: Mapping[str, TokenVectors]) -> dict[str, _Bag]:
        frequencies = Frequencies.of(read[text].ids for text in texts)
        return {text: self._bag(read[text], frequencies) for text in dict.fromkeys(texts)}

    def _bag(self, text: TokenVectors, frequencies: Frequencies) -> _Bag:
        dropped = {*self.stop_words, *string.punctuation}
        names = self.encoder().tokenizer.names(text.ids)
        counts = np.array([name not in dropped and "##" not in name for name in names])
        weights = counts * (frequencies.weights(text.ids) if self.idf else 1.0)
        # Where nothing weighs anything, as in a corpus of one text, all that counts is equal.
        if not weights.any():
            weights = counts * 1.0 if counts.any() else np.ones(len(names))
        used = weights > 0
        vectors = text.vectors[used].astype(np.float64)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return _Bag(vectors / np.where(norms > 0, norms, 1), weights[used] / weights.sum())

    def _similarity(self, first: _Bag, second: _Bag) -> float:
        # The Euclidean distance of unit vectors.
        costs = np.sqrt(np.maximum(0, 2 - 2 * first.vectors @ second.vectors.T))
        distance = transported(first.shares, second.shares, costs, self.name)
        return 1 - distance if self.definition == "pypi" else 1 / (1 + distance)
