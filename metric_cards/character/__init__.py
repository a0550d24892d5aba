"""CharacTER: character edits after phrases are shifted, per character of the prediction."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import Annotated

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from metrichub.authoring import Measured, Metric, Range
from metrichub.text import Shift, Texts, best_shifts, highlight


@dataclass(frozen=True, kw_only=True)
class CharacTer(Metric):
    """CharacTER (Wang et al. 2016), averaged over samples (macro).

    Attributes:
        threshold: Words that differ in less than this fraction of their characters may be shifted
            as if they were equal; with 0, words have to be equal.
    """

    threshold: Annotated[float, Range(0, 1)] = 0.5

    def measure(self, prediction: Texts, reference: Texts) -> Measured:
        """The score of each pair, (N,); `nan` if both texts are empty."""
        pairs = [
            (predicted.split(), expected.split())
            for predicted, expected in zip(prediction, reference, strict=True)
        ]
        letters = [self._letters(*pair) for pair in pairs]
        made = best_shifts(
            [predicted for predicted, _ in letters], [expected for _, expected in letters]
        )
        scores = [_rate(*pair, shifts) for pair, shifts in zip(pairs, made, strict=True)]
        reasons = {i: "both texts are empty" for i in np.flatnonzero(np.isnan(scores)).tolist()}
        return Measured({"score": np.array(scores, np.float64)}, reasons)

    def explain(self, prediction: str, reference: str) -> highlight.Step:
        """The words that are shifted, and the alignment of the characters after the shifts."""
        words, expected = prediction.split(), reference.split()
        predicted, letters = self._letters(words, expected)
        (made,) = best_shifts([predicted], [letters])
        shifted = []
        for shift in made:
            shifted.append(" ".join(words[shift.start : shift.end]))
            words = shift(words)
        return {"shifted": shifted} | highlight.aligned(
            " ".join(words), " ".join(expected), "chars"
        )

    def _letters(self, words: list[str], reference: list[str]) -> tuple[str, str]:
        """Both texts with a character for every word, the same for words that match."""
        names: dict[str, str] = {}
        expected = [names.setdefault(word, _letter(len(names))) for word in reference]
        known = list(names)
        for word in words:
            if word not in names:
                near = process.extractOne(
                    word, known, scorer=Levenshtein.normalized_distance, score_cutoff=self.threshold
                )
                matches = near is not None and near[1] < self.threshold
                names[word] = names[near[0]] if near and matches else _letter(len(names))
        return "".join([names[word] for word in words]), "".join(expected)


def _letter(number: int) -> str:
    """One character a number, without surrogates."""
    return chr(1 + number if number < 0xD7FF else 0x801 + number)


def _rate(words: list[str], reference: list[str], shifts: list[Shift]) -> float:
    """Character edits and the mean word lengths of all shifts, per character; at most 1."""
    cost = 0.0
    for shift in shifts:
        cost += fmean(map(len, words[shift.start : shift.end]))
        words = shift(words)
    text = " ".join(words)
    cost += Levenshtein.distance(text, " ".join(reference))
    if not text:
        return 1.0 if cost else float("nan")
    return min(1.0, cost / len(text))
