"""Novelty: the fraction of n-grams, and of whole texts, that the training texts don't have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np

from metric_cards._bases.resampling import Documents, drawn_sums
from metric_cards.novelty.drawn import New
from metric_cards.novelty.known import (
    Known,
    absent,
    different_by_row,
    names_of,
    read,
    split_rows,
)
from metrichub.authoring import Array, CorpusMetric, LocalPath, Range, Resampler, Scores
from metrichub.errors import ParameterError
from metrichub.text import (
    Integers,
    RaggedTexts,
    Texts,
    Words,
    highlight,
    offsets_of,
    row_sums,
    token_spans,
)

StoredRow = tuple[Words, Words, Words, Words, bool]
"""A `Row` as reports keep it, a plain tuple: what its references know is in two places."""


class Row(NamedTuple):
    """The names of what a sample generated, n-grams and text, and what its references know.

    A text without a token gets a row too, since its references are training texts all the same.
    """

    ngrams: Words
    text: Words
    present: Known
    empty: bool


class _Counts(NamedTuple):
    """New n-grams, all n-grams, and 1 if the text is new (`nan` if empty), each (R,) or (b, R)."""

    novel: Array
    total: Integers
    new: Array


@dataclass(frozen=True, kw_only=True)
class Novelty(CorpusMetric):
    """Generated n-grams that no training text has, pooled over the corpus (micro).

    Attributes:
        n: The length of the n-grams, in tokens.
        corpus: A file with the training texts, one per line, or JSON Lines if its name ends in
            ".jsonl". If None, all references of all samples are the training texts.
        field: The key of the text in a JSON Lines file.
        tokenizer: How texts are split into tokens; `unicode` ignores case and punctuation.
    """

    n: Annotated[int, Range(1)] = 4
    corpus: Annotated[str | None, LocalPath()] = None
    field: str = "text"
    tokenizer: Literal["unicode", "13a", "intl", "zh", "char", "whitespace"] = "unicode"

    def __post_init__(self) -> None:
        """Check that the file is there."""
        super().__post_init__()
        if self.corpus is not None and not Path(self.corpus).is_file():
            allowed = "the path of a text file, one training text a line, or of a .jsonl file"
            raise ParameterError(self.name, "corpus", self.corpus, allowed)

    def inputs(self) -> tuple[str, ...]:
        """The prediction, and the references if they are the training texts."""
        return ("prediction",) if self.corpus else ("prediction", "references")

    def measure(self, prediction: Texts, references: RaggedTexts | None = None) -> list[StoredRow]:
        """The names of what each sample generated and knows."""
        documents = RaggedTexts.of([[]] * len(prediction)) if references is None else references
        generated = names_of(prediction, self.tokenizer, self.n)
        present = names_of(documents.items, self.tokenizer, self.n)
        return list(
            zip(
                split_rows(generated.ngrams, generated.offsets),
                split_rows(generated.texts, np.arange(len(prediction) + 1)),
                different_by_row(present.ngrams, present.offsets[documents.offsets]),
                different_by_row(present.texts, documents.offsets),
                (prediction.tokens(self.tokenizer).lengths == 0).tolist(),
                strict=True,
            )
        )

    def conclude(self, rows: Sequence[StoredRow]) -> Mapping[str, float]:
        """The fractions of all rows together."""
        pooled = self._pooled(self._counts(_rows(rows)), np.ones((1, len(rows))))
        return {name: float(values[0]) for name, values in pooled.items()}

    def samples(self, rows: Sequence[StoredRow]) -> Mapping[str, Sequence[float]]:
        """The new n-grams of each row among the training texts of all."""
        novel, total, new = self._counts(_rows(rows))
        with np.errstate(invalid="ignore"):
            return {"score": (novel / total).tolist(), "texts": new.tolist()}

    def resampler(self, rows: Sequence[StoredRow]) -> Resampler:
        """The sums of resamples, whose references, unless there is a file, are those drawn."""
        named = _rows(rows)
        counted = self._counts(named)
        if self.corpus is not None:
            return lambda counts: self._pooled(counted, counts)
        documents = Documents([tuple(map(bytes, row.present)) for row in named])
        sources = [named[number].present for number in documents.first]
        ngrams = New([row.ngrams for row in named], [source.ngrams for source in sources])
        texts = New([row.text for row in named], [source.texts for source in sources])

        def scores(counts: Array) -> Scores:
            weights, which = documents.different(counts)
            new = np.where(np.isnan(counted.new), np.nan, texts.numbers(weights)[which])
            novel = ngrams.numbers(weights)[which]
            return self._pooled(_Counts(novel, counted.total, new), counts)

        return scores

    def explain(self, prediction: str, references: Sequence[str] = ()) -> highlight.Step:
        """The prediction with the n-grams of the file marked, and the counts.

        Nothing if the training texts are the references: one sample knows only its own.
        """
        if self.corpus is None:
            return {}
        corpus = read(self.corpus, self.field, self.tokenizer, self.n)
        ngrams = names_of(Texts([prediction]), self.tokenizer, self.n).ngrams
        new = absent(ngrams, corpus.ngrams).tolist()
        return highlight.novel_where(token_spans(prediction, self.tokenizer), new, self.n)

    def _pooled(self, counted: _Counts, counts: Array) -> dict[str, Array]:
        """The scores of b resamples, (b,), by how often each has every row, (b, R)."""
        some = ~np.isnan(counted.new)
        new = np.where(some, counted.new, 0)
        with np.errstate(invalid="ignore"):
            return {
                "score": drawn_sums(counted.novel, counts) / drawn_sums(counted.total, counts),
                "texts": drawn_sums(new, counts) / drawn_sums(some, counts),
            }

    def _counts(self, rows: Sequence[Row]) -> _Counts:
        if self.corpus is not None:
            corpus = read(self.corpus, self.field, self.tokenizer, self.n)
        else:
            corpus = Known.union(row.present for row in rows)
        total = np.array([len(row.ngrams) for row in rows], np.int64)
        none = np.zeros(0, np.uint64)
        ngrams = np.concatenate([none, *(row.ngrams for row in rows)])
        texts = np.concatenate([none, *(row.text for row in rows)])
        novel = row_sums(absent(ngrams, corpus.ngrams), offsets_of(total))
        empty = [row.empty for row in rows]
        return _Counts(novel, total, np.where(empty, np.nan, absent(texts, corpus.texts)))


def _rows(rows: Sequence[StoredRow]) -> list[Row]:
    return [Row(ngrams, text, Known(*names), empty) for ngrams, text, *names, empty in rows]
