"""CharacTER: character edits after words are shifted, per character of the prediction."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean

import numpy as np
from rapidfuzz.distance import Levenshtein

from metric_cards.character.search import Run, later_runs, shifted, spell
from metrichub.authoring import Measured, Metric
from metrichub.text import Texts, highlight


@dataclass(frozen=True, kw_only=True)
class CharacTer(Metric):
    """CharacTER (Wang et al. 2016), averaged over samples (macro), as cer 1.2.0 computes it."""

    def measure(self, prediction: Texts, reference: Texts) -> Measured:
        """The score of each pair, (N,); `nan` if both texts are empty."""
        scores = [
            _rate(predicted.split(), expected.split())
            for predicted, expected in zip(prediction, reference, strict=True)
        ]
        reasons = {i: "both texts are empty" for i in np.flatnonzero(np.isnan(scores)).tolist()}
        return Measured({"score": np.array(scores, np.float64)}, reasons)

    def explain(self, prediction: str, reference: str) -> highlight.Step:
        """The words whose shift costs, and the alignment of the characters after the shifts."""
        words, expected = prediction.split(), reference.split()
        text, runs = _shift(words, expected)
        chunks = [" ".join(words[start:end]) for start, end in runs]
        return {"shifted": chunks} | highlight.aligned(text, " ".join(expected), "chars")


def _shift(words: list[str], reference: list[str]) -> tuple[str, list[Run]]:
    """The prediction after all shifts, and its runs of words that are shifted to a later place."""
    before, expected = spell(words, reference)
    after = shifted(before, expected)
    names = dict(zip(before, words, strict=True))
    return " ".join([names[letter] for letter in after]), later_runs(before, after)


def _rate(words: list[str], reference: list[str]) -> float:
    """Character edits and the mean word lengths of all shifts, per character; at most 1."""
    text, runs = _shift(words, reference)
    cost = sum(fmean(map(len, words[start:end])) for start, end in runs)
    cost += Levenshtein.distance(text, " ".join(reference))
    if not text:
        return 1.0 if cost else float("nan")
    return min(1.0, cost / len(text))
