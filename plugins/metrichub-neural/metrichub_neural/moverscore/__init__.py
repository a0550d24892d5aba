"""MoverScore: how far a text's tokens in context have to move (Zhao et al., 2019)."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from metrichub.authoring import Array, Checkpoint
from metrichub_neural.engine.encoder import TokenVectors
from metrichub_neural.engine.frequencies import Frequencies, MeanOfWeighted, Row, sides_of
from metrichub_neural.engine.metric import EncoderMetric
from metrichub_neural.engine.tokens import Encoded
from metrichub_neural.engine.transport import REQUIRES, transported


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

    def encoded(self, texts: Sequence[str]) -> Sequence[Encoded]:
        """The tokens of each text."""
        return self.encoder().tokenizer.encode(texts)

    def scores_of_rows(self, rows: Sequence[Row]) -> list[float]:
        """The mean over the references of each row, (R,)."""
        predictions, references = sides_of(rows)
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
