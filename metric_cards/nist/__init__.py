"""NIST: n-gram precision weighted by information, equal to mteval's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log, nan
from typing import Annotated, ClassVar, Literal

import numpy as np

from metric_cards.nist.corpus import BETA, Corpus, Row, hashed
from metric_cards.nist.matches import Order, orders
from metrichub.authoring import Array, CorpusMetric, Range, Resampler
from metrichub.text import RaggedTexts, Texts, Words, highlight, spans


@dataclass(frozen=True, kw_only=True)
class Nist(CorpusMetric):
    """NIST (Doddington 2002) as mteval-v13a.pl computes it.

    Attributes:
        tokenize: The tokenizer, by sacrebleu's name; "13a" is that of mteval.
        max_order: The maximum order of the n-grams.
        lowercase: Whether case is ignored; mteval ignores it unless it is run with `-c`.
        convention: The implementation to follow; `mteval` and `nltk` differ if there are several
            references, and for word pairs that start with "0".
    """

    resamples: ClassVar[bool] = False
    """Information falls with every copy of a reference, and a larger corpus has more of it."""

    tokenize: Literal[
        "13a", "intl", "zh", "char", "none", "ja-mecab", "ko-mecab", "flores101", "flores200", "spm"
    ] = "13a"
    max_order: Annotated[int, Range(1, 9)] = 5
    lowercase: bool = False
    convention: Literal["mteval", "nltk"] = "mteval"

    def measure(self, prediction: Texts, references: RaggedTexts) -> list[Row]:
        """The tokens of every sample; information is known once all references are.

        They are named by 64-bit hashes, of which 1e6 different ones collide once in 1e7 runs.
        """
        if self.lowercase:
            prediction, references = prediction.lower(), references.lower()
        predicted, referenced = self._named(prediction), self._named(references.items)
        limits = pairwise(references.offsets.tolist())
        return [(text, referenced[a:b]) for text, (a, b) in zip(predicted, limits, strict=True)]

    def conclude(self, rows: Sequence[Row]) -> Mapping[str, float]:
        """The score of the corpus; `nan` if no reference has a token."""
        precision = length = 0.0
        for order in self._orders(rows):
            precision += _sum(order.information) / max(1, int(order.ngrams.sum()))
            length += _sum(order.reference_length)
        return self._scores(precision, sum(len(prediction) for prediction, _ in rows), length)

    def samples(self, rows: Sequence[Row]) -> Mapping[str, Sequence[float]]:
        """The score of each sample, with the information of all references."""
        precision, length = np.zeros(len(rows)), np.zeros(len(rows))
        for order in self._orders(rows):
            precision += order.information / np.maximum(1, order.ngrams)
            length += order.reference_length
        sizes = [len(prediction) for prediction, _ in rows]
        each = list(map(self._scores, precision.tolist(), sizes, length.tolist()))
        return {name: [scores[name] for scores in each] for name in self.outputs()}

    def resampler(self, rows: Sequence[Row]) -> Resampler | None:
        """Counts of n-grams add up; not so the best of several references, which nltk takes."""
        if self.convention == "nltk" and any(len(references) > 1 for _, references in rows):
            return None
        return Corpus(hashed(rows), self.max_order, self._ignored()).scores

    def explain(self, prediction: str, references: Sequence[str]) -> highlight.Step:
        """The prediction with its matches marked, and their number for each order."""
        orders = range(1, self.max_order + 1)
        return highlight.shared(prediction, references, self.tokenize, orders, lower=self.lowercase)

    def _named(self, texts: Texts) -> list[Words]:
        tokens = texts.tokens(self.tokenize)
        names = tokens.hashes
        return [names[start:end] for start, end in spans(tokens.offsets)]

    def _orders(self, rows: Sequence[Row]) -> Iterator[Order]:
        best = self.convention == "nltk"
        return orders(hashed(rows), self.max_order, self._ignored(), best)

    def _ignored(self) -> int | None:
        """The context that is none: the word "0" is false in Perl."""
        return int(self._named(Texts(["0"]))[0][0]) if self.convention == "mteval" else None

    def _scores(self, precision: float, size: int, length: float) -> dict[str, float]:
        """The scores of what `size` words tell in all orders together."""
        ratio = self.max_order * size / length if length else nan
        penalty = _penalty(ratio)
        return {"score": precision * penalty, "length_penalty": penalty, "length_ratio": ratio}


def _sum(values: Array) -> float:
    """The sum as a loop makes it: numpy's own adds pairs first."""
    return float(np.cumsum(values)[-1])


def _penalty(ratio: float) -> float:
    """1 for predictions that are long enough, 1/2 for those of two thirds of the length."""
    if 0 < ratio < 1:
        return exp(BETA * log(ratio) ** 2)
    return min(ratio, 1.0)
