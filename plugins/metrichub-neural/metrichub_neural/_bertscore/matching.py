"""Greedy matching: each token with the most similar one of the other text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from metrichub.authoring import Checkpoint, Range
from metrichub.errors import ParameterError, did_you_mean
from metrichub.text import Flags, Integers
from metrichub_neural._bertscore.tables import Baseline, baseline_of, default_layer, default_model
from metrichub_neural.engine.batching import FloatArray, distinct, other_than
from metrichub_neural.engine.encoder import Encoder
from metrichub_neural.engine.matching import Best, best_cosines
from metrichub_neural.engine.metric import EncoderMetric

_WEIGHTLESS = ("cls_token", "sep_token")
NO_BASELINE = Baseline(0.0, 0.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class BertScoreMetric(EncoderMetric):
    """The parameters and the matching of BERTScore, with and without weights.

    Attributes:
        language: The language of the texts, "en" or "zh", which chooses the model where none is
            named, and the baseline.
        rescale: Whether scores are stretched so that unrelated sentences score about 0.
        baseline: What unrelated sentences score by this model: precision, recall and F1. Without
            it, what bert-score measured.
    """

    checkpoints = (Checkpoint("roberta-large"),)

    language: str = "en"
    rescale: bool = False
    baseline: tuple[Annotated[float, Range(-1, 1)], ...] | None = None

    def __post_init__(self) -> None:
        """Check the parameters, and that there is a baseline if one is needed."""
        super().__post_init__()
        if self.model is None and not re.fullmatch("[a-z]{2,3}(-[a-z]+)?", self.language):
            near = did_you_mean(self.language, ("en", "zh"))
            allowed = f"the code of a language, such as 'en', or name the model too{near}"
            raise ParameterError(self.name, "language", self.language, allowed)
        baseline = self.baseline
        if baseline is not None and (len(baseline) != 3 or not self.rescale or max(baseline) >= 1):
            allowed = "three numbers below 1, for precision, recall and F1, with rescale=True"
            raise ParameterError(self.name, "baseline", baseline, allowed)
        if self.rescale and baseline is None and not self._published():
            named = self.model or default_model(self.language)
            raise ParameterError(
                self.name,
                "rescale",
                self.rescale,
                f"baseline=[…, …, …] too: none was published for {named} in {self.language!r}",
            )

    def default_model(self) -> str:
        """The model of the language."""
        return default_model(self.language)

    def default_layer(self, model: str) -> int:
        """The layer that agrees best with people; it has to be named where that wasn't measured."""
        return default_layer(model, self.name)

    def resolved(self) -> Mapping[str, object]:
        """The model as it is run, and the baseline."""
        resolved = dict(super().resolved())
        return {**resolved, "baseline": tuple(self.stretch())} if self.rescale else resolved

    def stretch(self) -> Baseline:
        """The baseline that scores are rescaled by."""
        if not self.rescale:
            return NO_BASELINE
        return Baseline(*self.baseline) if self.baseline else (self._published() or NO_BASELINE)

    def _published(self) -> Baseline | None:
        model = self.model or default_model(self.language)
        return baseline_of(self.language, model, self.layer)


class Match(NamedTuple):
    """Two texts' tokens with the similarity of each to the nearest token of the other.

    Attributes:
        ids: The prediction's tokens, (n,).
        best: Their largest cosines, (n,).
        weighed: Which of them count, (n,).
        other_ids: The reference's tokens, (m,).
        other_best: Their largest cosines, (m,).
        other_weighed: Which of them count, (m,).
        flaws: Those of the prediction and of the reference; see `engine.flaws`.
    """

    ids: Integers
    best: FloatArray
    weighed: Flags
    other_ids: Integers
    other_best: FloatArray
    other_weighed: Flags
    flaws: tuple[int, int]


def matches(encoder: Encoder, pairs: Sequence[tuple[str, str]]) -> list[Match]:
    """The match of each pair of a prediction and a reference; equal pairs are matched once."""
    unique, index = distinct(pairs)
    texts = list(dict.fromkeys(text for pair in unique for text in pair))
    places = {text: place for place, text in enumerate(texts)}
    numbered = [(places[prediction], places[reference]) for prediction, reference in unique]
    read = encoder.units(texts) if encoder.stays else encoder.vectors(texts)
    if encoder.stays:
        cosines = best_cosines([text.vectors for text in read], numbered, encoder.name)
    else:
        units = [_unit(text.vectors) for text in read]
        cosines = [_best(units[first], units[second]) for first, second in numbered]
    weightless = _weightless(encoder)
    weighed = [other_than(text.ids, weightless) for text in read]
    matches = [
        Match(
            read[first].ids,
            best,
            weighed[first],
            read[second].ids,
            other_best,
            weighed[second],
            (read[first].flaws, read[second].flaws),
        )
        for (first, second), (best, other_best) in zip(numbered, cosines, strict=True)
    ]
    return [matches[place] for place in index.tolist()]


def means(match: Match) -> tuple[float, float]:
    """Precision and recall: 0 if the prediction has no tokens, `nan` if the reference has none."""
    mine, others = np.count_nonzero(match.weighed), np.count_nonzero(match.other_weighed)
    if not others:
        return np.nan, np.nan
    if not mine:
        return 0.0, 0.0
    # A third of the time of `mean`, for thousands of short texts.
    precision = np.add.reduce(match.best[match.weighed], dtype=np.float64) / mine
    recall = np.add.reduce(match.other_best[match.other_weighed], dtype=np.float64) / others
    return float(precision), float(recall)


def f1(precision: np.ndarray, recall: np.ndarray) -> np.ndarray:
    """The harmonic mean; 0 where both are 0."""
    with np.errstate(all="ignore"):
        scores = 2 * precision * recall / (precision + recall)
    return np.where(np.isfinite(scores), scores, 0.0)


def rescaled(value: np.ndarray, baseline: float) -> np.ndarray:
    """A score stretched so that the baseline is 0 and 1 stays 1."""
    return (value - baseline) / (1 - baseline)


def _weightless(encoder: Encoder) -> list[int]:
    """The two tokens that frame a text, which count nothing and can still be matched."""
    special = encoder.tokenizer.special
    return [special[name] for name in _WEIGHTLESS if name in special]


def _best(first: FloatArray, second: FloatArray) -> Best:
    similar = first @ second.T
    best, other_best = (np.clip(similar.max(axis=axis), -1.0, 1.0) for axis in (1, 0))
    return best, other_best


def _unit(vectors: FloatArray) -> FloatArray:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(norms > 0, norms, 1), np.float32)
