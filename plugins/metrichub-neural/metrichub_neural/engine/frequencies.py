"""Frequencies: in how many texts of a corpus each token is, and what it weighs by that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metrichub.authoring import Array, CorpusMetric, Resampler, Unscored
from metrichub.errors import ModelError
from metrichub.text import Integers, RaggedTexts, Texts
from metrichub_neural.engine.flaws import ReadingMetric
from metrichub_neural.engine.tokens import Encoded

Row = tuple[str, tuple[str, ...]]
"""A prediction and its references that have tokens."""


@dataclass(frozen=True)
class Frequencies:
    """In how many of some texts each token is."""

    having: Counter[int]
    texts: int

    @classmethod
    def of(cls, texts: Iterable[Integers]) -> Frequencies:
        """Those of the tokens of some texts."""
        tokens = [set(ids.tolist()) for ids in texts]
        return cls(Counter(token for each in tokens for token in each), len(tokens))

    def weights(self, ids: Integers) -> Array:
        """log((M + 1) / (d + 1)) of each token, of which d of the M texts have any, (n,)."""
        having = np.array([self.having[number] for number in ids.tolist()], np.float64)
        return np.asarray(np.log((self.texts + 1) / (having + 1)))


class MeanOfWeighted(ReadingMetric, CorpusMetric):
    """A metric whose score is the mean over rows, which depend on all rows where `idf` holds."""

    idf: bool

    @property
    def resamples(self) -> bool:  # type: ignore[override]  # it depends on a parameter
        """Whether a score depends on its row alone; with idf, each draw has other weights."""
        return not self.idf

    testable = resamples

    def encoded(self, texts: Sequence[str]) -> Sequence[Encoded]:
        """The tokens of each text."""
        raise NotImplementedError  # a metric has its own

    def scores_of_rows(self, rows: Sequence[Row]) -> list[float]:
        """The score of each row, (R,), with the weights of all of them."""
        raise NotImplementedError  # a metric has its own

    def reuse_key(self) -> None:
        """None: it measures texts, which are read by the model where it concludes from them."""

    def measure(self, prediction: Texts, references: RaggedTexts) -> list[Row | Unscored]:
        """Each prediction with its references that have tokens."""
        others = list(dict.fromkeys(references.items))
        encoded = zip(others, self.encoded(others), strict=True)
        blank = {text for text, each in encoded if each.added.all()}
        rows = [
            (mine, tuple(text for text in texts if text not in blank))
            for mine, texts in zip(prediction, references, strict=True)
        ]
        return [row if row[1] else Unscored("no reference has tokens") for row in rows]

    def notes_of_rows(self, rows: Sequence[Row]) -> Sequence[str]:
        """The flaws of texts as the model reads them."""
        try:
            mine, others = map(self.encoded, sides_of(rows))
        # A report may be read where the model isn't.
        except (ModelError, ImportError):
            return ()
        return self.notes_of_texts(predictions=mine, references=others)

    def conclude(self, rows: Sequence[Row]) -> Mapping[str, float]:
        """The mean over the rows."""
        return {"score": float(np.mean(self.scores_of_rows(rows)))}

    def samples(self, rows: Sequence[Row]) -> Mapping[str, Sequence[float]]:
        """The score of each row, (R,), with the weights of all of them."""
        return {"score": self.scores_of_rows(rows)}

    def resampler(self, rows: Sequence[Row]) -> Resampler | None:
        """Without idf, the rows' own scores as often as each was drawn."""
        if self.idf or not rows:
            return None
        values = np.array(self.scores_of_rows(rows))
        return lambda counts: {"score": counts @ values / counts.sum(axis=1)}


def sides_of(rows: Sequence[Row]) -> tuple[list[str], list[str]]:
    """The prediction of each row, and the references of all, one row's behind the other's."""
    return [mine for mine, _ in rows], [text for _, others in rows for text in others]
