"""BERTScore with weights: rare tokens count more (Zhang et al., 2020, equation 1 with idf)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metrichub.authoring import CorpusMetric, Resampler
from metrichub.text import RaggedTexts, Texts
from metrichub_neural._bertscore.matching import BertScoreMetric, matches
from metrichub_neural._bertscore.published import of_roberta_large
from metrichub_neural._bertscore.weighing import IdfCorpus, Row, flaws_of, mean, row_of

_WEIGHTLESS = "every reference of the corpus has all tokens of this one, so that they weigh nothing"
_BLANK = "no reference has tokens"


@dataclass(frozen=True, kw_only=True)
class BertScoreIdf(BertScoreMetric, CorpusMetric):
    """How similar the tokens of prediction and references are, weighed by how rare they are.

    A token's weight is log((M + 1) / (d + 1)), where d of the corpus's M references have it.
    """

    published = of_roberta_large({"score": [0.98325294, 0.97261697, 0.90587538]})

    def measure(self, prediction: Texts, references: RaggedTexts) -> list[Row]:
        """The tokens of each pair with their best cosines, for each prediction."""
        pairs = [
            (mine, other)
            for mine, others in zip(prediction, references, strict=True)
            for other in others
        ]
        matched = iter(matches(self.encoder(), pairs))
        return [row_of([next(matched) for _ in others]) for others in references]

    def conclude(self, rows: Sequence[Row]) -> Mapping[str, float]:
        """The mean over the predictions, each by its best reference."""
        if not rows:
            return dict.fromkeys(("score", "precision", "recall"), float("nan"))
        scores = IdfCorpus(rows, self.stretch()).scores()
        return {name: mean(values, np.ones(len(rows))) for name, values in scores.items()}

    def notes_of_rows(self, rows: Sequence[Row]) -> Sequence[str]:
        """How many texts were longer than the model takes."""
        flaws = [flaws_of(row) for row in rows]
        return self.notes_of_texts(
            predictions=[int(of_row[0, 0]) for of_row in flaws],
            references=[each for of_row in flaws for each in of_row[:, 1].tolist()],
        )

    def unscored(self, rows: Sequence[Row]) -> Mapping[int, str]:
        """The rows whose references all weigh nothing, or have no tokens."""
        if not rows:
            return {}
        corpus = IdfCorpus(rows, self.stretch())
        blank, scores = corpus.blank(), corpus.scores()["score"]
        weightless = np.flatnonzero(np.isnan(scores)).tolist()
        return {row: _BLANK if blank[row] else _WEIGHTLESS for row in weightless}

    def samples(self, rows: Sequence[Row]) -> Mapping[str, Sequence[float]]:
        """The scores of each prediction, with the weights of all rows together."""
        scores = IdfCorpus(rows, self.stretch()).scores()
        return {name: values.tolist() for name, values in scores.items()}

    def resampler(self, rows: Sequence[Row]) -> Resampler | None:
        """A function that scores resamples, each with the weights of its own references."""
        return IdfCorpus(rows, self.stretch()).resampled if rows else None
