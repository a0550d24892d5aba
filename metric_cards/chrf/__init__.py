"""chrF and chrF++: F-score of character (and word) n-grams, equal to sacrebleu's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Annotated

import numpy as np

from metrichub.authoring import Array, Metric, Range, Scores
from metrichub.text import RaggedTexts, Texts, best_pairs, highlight, shared_ngrams

_EPSILON = 1e-16


@dataclass(frozen=True, kw_only=True)
class Chrf(Metric):
    """chrF (Popović 2015) and chrF++ (Popović 2017) as sacrebleu 2.6 computes them.

    Attributes:
        char_order: The maximum order of character n-grams.
        word_order: The maximum order of word n-grams: 2 for chrF++, 0 for chrF.
        beta: How many times as much weight recall has as precision.
        lowercase: Whether case is ignored.
        whitespace: Whether n-grams include whitespace characters.
        eps_smoothing: Whether an F-score is computed for each order and averaged over all orders,
            as in chrF++.py and nltk; if not, only orders that both texts are long enough for
            count.
    """

    char_order: Annotated[int, Range(1, 16)] = 6
    word_order: Annotated[int, Range(0, 8)] = 0
    beta: Annotated[float, Range(0)] = 2
    lowercase: bool = False
    whitespace: bool = False
    eps_smoothing: bool = False

    def measure(self, prediction: Texts, references: RaggedTexts) -> dict[str, Array]:
        """The n-grams of every order, (N, char_order + word_order), with the best reference."""
        if self.lowercase:
            prediction, references = prediction.lower(), references.lower()
        paired, reference = prediction.take(references.rows), references.items
        parts = [shared_ngrams(paired, reference, self._characters, self.char_order)]
        if self.word_order:
            parts.append(shared_ngrams(paired, reference, "chrf", self.word_order))
        matches, predicted, referenced = (np.hstack(arrays) for arrays in zip(*parts, strict=True))
        # sacrebleu leaves these out of the sums over a corpus.
        predicted[referenced == 0] = 0
        rows = {"matches": matches, "predicted": predicted, "referenced": referenced}
        if len(reference) == len(prediction):
            return rows
        with np.errstate(all="ignore"):
            best = best_pairs(self.score(**rows)["score"], references)
        return {name: array[best] for name, array in rows.items()}

    def score(self, matches: Array, predicted: Array, referenced: Array) -> Scores:
        """F, precision and recall, each averaged over the orders; 0 without a match."""
        precision = np.where(predicted > 0, matches / predicted, _EPSILON)
        recall = np.where(referenced > 0, matches / referenced, _EPSILON)
        if self.eps_smoothing:
            orders = self.char_order + self.word_order
            each = _total(self._f_score(precision, recall, _EPSILON)) / orders
            return {
                "score": each,
                "precision": _total(precision) / orders,
                "recall": _total(recall) / orders,
            }
        valid = (predicted > 0) & (referenced > 0)
        count = np.maximum(valid.sum(axis=-1), 1)
        mean_precision = _total(np.where(valid, precision, 0.0)) / count
        mean_recall = _total(np.where(valid, recall, 0.0)) / count
        score = self._f_score(mean_precision, mean_recall, 0.0)
        return {"score": score, "precision": mean_precision, "recall": mean_recall}

    def explain(self, prediction: str, references: Sequence[str]) -> highlight.Step:
        """The prediction and the best reference with shared character n-grams marked."""
        best, *others = references
        if others:
            predicted = Texts([prediction] * len(references))
            with np.errstate(all="ignore"):
                rows = self.measure(predicted, RaggedTexts.of([[r] for r in references]))
                best = references[int(self.score(**rows)["score"].argmax())]
        orders = range(1, self.char_order + 1)
        return highlight.shared_by_both(
            prediction, best, self._characters, orders, lower=self.lowercase
        )

    @property
    def _characters(self) -> str:
        return "chars" if self.whitespace else "nospace"

    def _f_score(self, precision: Array, recall: Array, undefined: float) -> Array:
        factor = self.beta**2
        below = factor * precision + recall
        return np.where(below > 0, (1 + factor) * precision * recall / below, undefined)


def _total(orders: Array) -> Array:
    """The sum over the orders, from the first to the last: which reference is best hangs on it."""
    total: Array = reduce(np.add, np.moveaxis(orders, -1, 0))
    return total
