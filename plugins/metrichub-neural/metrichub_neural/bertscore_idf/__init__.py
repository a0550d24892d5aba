"""BERTScore with weights: rare tokens count more (Zhang et al., 2020, equation 1 with idf)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metrichub.authoring import CorpusMetric, Resampler, Unscored
from metrichub.text import Flags, Integers, RaggedTexts, Texts
from metrichub_neural._bertscore.matching import BertScoreMetric, Match, matches
from metrichub_neural._bertscore.published import of_roberta_large
from metrichub_neural._bertscore.weighing import IdfCorpus, Side, mean
from metrichub_neural.engine.batching import FloatArray

_WEIGHTLESS = "every reference of the corpus has all tokens of this one, so that they weigh nothing"
Row = tuple[tuple[Side, Side], ...]
"""One prediction's matches: for each reference its own side and the reference's."""


@dataclass(frozen=True, kw_only=True)
class BertScoreIdf(BertScoreMetric, CorpusMetric):
    """How similar the tokens of prediction and references are, weighed by how rare they are.

    A token's weight is log((M + 1) / (d + 1)), where d of the corpus's M references have it.
    """

    published = of_roberta_large({"score": [0.98325294, 0.97261697, 0.90587538]})

    def measure(self, prediction: Texts, references: RaggedTexts) -> list[Row | Unscored]:
        """The tokens of each pair with their best cosines, for each prediction."""
        pairs = [
            (mine, other)
            for mine, others in zip(prediction, references, strict=True)
            for other in others
        ]
        matched = iter(matches(self.encoder(), pairs))
        return [_row([next(matched) for _ in others]) for others in references]

    def conclude(self, rows: Sequence[Row]) -> Mapping[str, float]:
        """The mean over the predictions, each by its best reference."""
        if not rows:
            return dict.fromkeys(("score", "precision", "recall"), float("nan"))
        scores = IdfCorpus(rows, self.stretch()).scores()
        return {name: mean(values, np.ones(len(rows))) for name, values in scores.items()}

    def unscored(self, rows: Sequence[Row]) -> Mapping[int, str]:
        """The rows whose references all weigh nothing."""
        scores = IdfCorpus(rows, self.stretch()).scores()["score"] if rows else np.zeros(0)
        return dict.fromkeys(np.flatnonzero(np.isnan(scores)).tolist(), _WEIGHTLESS)

    def samples(self, rows: Sequence[Row]) -> Mapping[str, Sequence[float]]:
        """The scores of each prediction, with the weights of all rows together."""
        scores = IdfCorpus(rows, self.stretch()).scores()
        return {name: values.tolist() for name, values in scores.items()}

    def resampler(self, rows: Sequence[Row]) -> Resampler | None:
        """A function that scores resamples, each with the weights of its own references."""
        return IdfCorpus(rows, self.stretch()).resampled if rows else None


def _row(pairs: Sequence[Match]) -> Row | Unscored:
    sides = [_sides(match) for match in pairs]
    row = tuple(pair for pair in sides if pair[1][0])
    return row or Unscored("no reference has tokens")


def _sides(match: Match) -> tuple[Side, Side]:
    return (
        _side(match.ids, match.best, match.weighed),
        _side(match.other_ids, match.other_best, match.other_weighed),
    )


def _side(ids: Integers, best: FloatArray, weighed: Flags) -> Side:
    return tuple(ids[weighed].tolist()), tuple(best[weighed].tolist())
