"""CharacTER: character edits after words are shifted, per character of the prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from rapidfuzz.distance import Levenshtein

from metric_cards.character.search import Run, later_runs, shifted, spell
from metrichub.authoring import Array, Measured, Metric
from metrichub.text import Texts, highlight


@dataclass(frozen=True, kw_only=True)
class CharacTer(Metric):
    """CharacTER (Wang et al. 2016), averaged over samples (macro), as cer 1.2.0 computes it."""

    def measure(self, prediction: Texts, reference: Texts) -> Measured:
        """The score of each pair, (N,); `nan` if both texts are empty."""
        rated = [
            _rate(predicted.split(), expected.split())
            for predicted, expected in zip(prediction, reference, strict=True)
        ]
        scores, stopped = np.array(rated, np.float64).reshape(-1, 2).T
        reasons = {i: "both texts are empty" for i in np.flatnonzero(np.isnan(scores)).tolist()}
        unsearched = {"noted_unsearched": stopped} if stopped.any() else {}
        return Measured({"score": scores, **unsearched}, reasons)

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """For how many samples the search for shifts was stopped."""
        # A fraction of a sample is one of several references.
        number = int(np.ceil(totals.get("noted_unsearched", 0)))
        if not number:
            return ()
        samples = "1 sample" if number == 1 else f"{number} samples"
        return (f"the shifts of {samples} weren't searched to the end, as the texts are too long",)

    def explain(self, prediction: str, reference: str) -> highlight.Step:
        """The words whose shift costs, and the alignment of the characters after the shifts."""
        words, expected = prediction.split(), reference.split()
        text, runs, _ = _shift(words, expected)
        chunks = [" ".join(words[start:end]) for start, end in runs]
        return {"shifted": chunks} | highlight.aligned(text, " ".join(expected), "chars")


def _shift(words: list[str], reference: list[str]) -> tuple[str, list[Run], bool]:
    """The prediction after all shifts, its runs of words that are shifted to a later place.

    And whether the search for shifts was stopped.
    """
    before, expected = spell(words, reference)
    after, stopped = shifted(before, expected)
    names = dict(zip(before, words, strict=True))
    return " ".join([names[letter] for letter in after]), later_runs(before, after), stopped


def _rate(words: list[str], reference: list[str]) -> tuple[float, bool]:
    """Character edits and the mean word lengths of all shifts, per character; at most 1.

    And whether the search for shifts was stopped.
    """
    text, runs, stopped = _shift(words, reference)
    cost = sum(fmean(map(len, words[start:end])) for start, end in runs)
    cost += Levenshtein.distance(text, " ".join(reference))
    if not text:
        return 1.0 if cost else float("nan"), stopped
    return min(1.0, cost / len(text)), stopped
