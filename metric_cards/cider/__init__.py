"""CIDEr: TF-IDF weighted similarity between a caption's n-grams and those of its references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Annotated, Literal

import numpy as np

from metric_cards._bases.ptb import words_by_chunk
from metric_cards._bases.resampling import drawn_sums
from metric_cards.cider.corpus import Corpus
from metrichub.authoring import Array, CorpusMetric, Range, Resampler, Scores
from metrichub.text import RaggedTexts, Texts, Tokenizer, spans

_ALIKE = (
    "all samples' references have the same n-grams, which then weigh nothing; score more samples "
    "together"
)


@dataclass(frozen=True, kw_only=True)
class Cider(CorpusMetric):
    """CIDEr and CIDEr-D (Vedantam et al. 2015) as pycocoevalcap computes them, a mean over samples.

    Attributes:
        variant: `cider-d` clips repeated n-grams and penalizes different lengths; `cider` doesn't.
        tokenizer: How texts are split into tokens: `ptb` gives lowercased words without
            punctuation, with clitics split off; `unicode` keeps lowercased letters and digits of
            any script; `whitespace` keeps the tokens between spaces as they are.
        max_order: The maximum order of n-grams.
        sigma: The width of CIDEr-D's length penalty, in tokens.
    """

    variant: Literal["cider-d", "cider"] = "cider-d"
    tokenizer: Literal["ptb", "unicode", "whitespace"] = "ptb"
    max_order: Annotated[int, Range(1, 9)] = 4
    sigma: Annotated[float, Range(1e-3)] = 6.0

    def declared_tokenizer(self) -> Tokenizer:
        """The words that captions are read as, or what is chosen in their place."""
        return words_by_chunk if self.tokenizer == "ptb" else self.tokenizer

    def measure(self, prediction: Texts, references: RaggedTexts) -> list[str]:
        """The tokens joined by spaces: one line for the prediction and one for each reference."""
        predicted, referenced = self._lines(prediction), self._lines(references.items)
        limits = zip(predicted, spans(references.offsets), strict=True)
        return ["\n".join([line, *referenced[start:end]]) for line, (start, end) in limits]

    def conclude(self, rows: Sequence[str]) -> Mapping[str, float]:
        """The mean of the scores of the rows; `nan` if no n-gram of the references weighs."""
        times = Counter(rows)
        scores = self.resampler(list(times))(np.array([list(times.values())], np.float64))
        return {name: float(values[0]) for name, values in scores.items()}

    def samples(self, rows: Sequence[str]) -> Mapping[str, Sequence[float]]:
        """The score of each row, (R,), with the document frequencies of all of them."""
        corpus = self._corpus(rows)
        weights = corpus.documents.different(np.ones((1, len(rows)))).weights
        return {"score": corpus.scores(weights)[0].tolist()}

    def resampler(self, rows: Sequence[str]) -> Resampler:
        """Document frequencies add up: they are those of each row as often as it was drawn."""
        corpus = self._corpus(rows)

        def scores(counts: Array) -> Scores:
            weights, which = corpus.documents.different(counts)
            summed = drawn_sums(corpus.scores(weights)[which], counts)
            return {"score": summed / counts.sum(axis=1)}

        return scores

    def unscored(self, rows: Sequence[str]) -> Mapping[int, str]:
        """All rows, if each n-gram of the references is in those of all: it weighs log 1 = 0."""
        words = (frozenset(row.partition("\n")[2].split()) for row in rows)
        first = next(words, None)
        if first is None or any(others != first for others in words):
            return {}
        return (
            dict.fromkeys(range(len(rows)), _ALIKE) if isnan(self.conclude(rows)["score"]) else {}
        )

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """How far the words of `ptb` are from those of the Java program."""
        if self.tokenizer != "ptb":
            return ()
        return (
            "words are PTBTokenizer's without Java: the mean is pycocoevalcap's on captions of "
            "MSCOCO, and differed by at most 0.0002 on three other corpora",
        )

    def _corpus(self, rows: Sequence[str]) -> Corpus:
        return Corpus(rows, self.max_order, self._width)

    @property
    def _width(self) -> float | None:
        return self.sigma if self.variant == "cider-d" else None

    def _lines(self, column: Texts) -> list[str]:
        if self.tokenizer == "whitespace":
            return [" ".join(text.split()) for text in column]
        if self.tokenizer == "unicode":
            return [" ".join(words) for words in column.tokens("unicode").all_strings()]
        return list(map(" ".join, column.split(words_by_chunk)))
