"""SARI: how well a rewritten sentence adds, keeps and deletes what its references do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from metrichub.authoring import Array, Metric, Scores
from metrichub.errors import Doubt
from metrichub.text import Integers, RaggedTexts, Texts, Tokens, ngram_counts, row_sums

ORDERS = 4


class _Grams(NamedTuple):
    """Each n-gram of one order that a row has: the row, and how often its texts have it, (G,).

    Source and prediction count as often as there are references, whose counts are summed.
    """

    row: Integers
    source: Integers
    prediction: Integers
    references: Integers


@dataclass(frozen=True, kw_only=True)
class Sari(Metric):
    """SARI (Xu et al. 2016) as any of its three published programs computes it.

    Attributes:
        variant: The program to follow: `easse` is EASSE, with counts pooled over the corpus and
            recall of deletions; `xu2016` is the authors' script, a mean of sentences in which 0/0
            is 0; `hf` is Hugging Face evaluate, in which 0/0 is 1.
        tokenizer: How texts are split into tokens: by BLEU's `13a` or `intl`, or at whitespace.
        lowercase: Whether case is ignored.
    """

    variant: Literal["easse", "xu2016", "hf"] = "easse"
    tokenizer: Literal["13a", "intl", "whitespace"] = "13a"
    lowercase: bool = True

    @property
    def averaging(self) -> Literal["micro", "macro"]:  # type: ignore[override]  # it depends on a parameter
        """EASSE pools its counts; the others average sentences."""
        return "micro" if self.variant == "easse" else "macro"

    def measure(
        self, prediction: Texts, source: Texts, references: RaggedTexts
    ) -> dict[str, Array]:
        """The parts that `score` divides, (N, 3, 4, 4), if pooled; else the operations, (N, 3)."""
        parts = np.zeros((len(prediction), 3, ORDERS, 4))
        for order, grams in enumerate(self._grams(source, prediction, references)):
            for operation, quotients in enumerate((_added, self._keep, self._deleted)):
                for place, values in enumerate(quotients(grams)):
                    parts[:, operation, order, place] = np.bincount(grams.row, values, len(parts))
        noted = self._right_and_below_1(prediction, source, references, parts)
        return {"parts": parts if self.variant == "easse" else self._operations(parts), **noted}

    def score(self, parts: Array, count: Array) -> Scores:
        """The mean of the three operations."""
        pooled = self.variant == "easse"
        operations = self._operations(parts) if pooled else parts / count[..., None]
        add, keep, delete = np.moveaxis(operations, -1, 0)
        return {"score": operations.mean(axis=-1), "add": add, "keep": keep, "delete": delete}

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """How many outputs are right and score below 1, which misleads where it lowers the mean."""
        right, unchanged = (int(totals.get(name, 0)) for name in ("noted_right", "noted_same"))
        if not right:
            return ()
        # EASSE pools: an operation that other samples do isn't 0/0.
        pooled = self.variant == "easse" and (totals["parts"][..., 1] > 0).all()
        outputs = "1 output equals" if right == 1 else f"{right} outputs equal"
        some = "as its source does" if right == 1 else f"{unchanged} of them the source, too"
        same = f", {some}," if unchanged else ""
        where = " in samples()" if pooled else ""
        note = (
            f"{outputs} a reference{same} with a score below 1{where}: nothing to add, keep or "
            "delete is 0/0, which counts as 0; variant='hf' counts it as 1"
        )
        return (note if pooled else Doubt(note, "nothing to change"),)

    def _right_and_below_1(
        self, prediction: Texts, source: Texts, references: RaggedTexts, parts: Array
    ) -> dict[str, Array]:
        """Which outputs equal a reference and score below 1 for 0/0, and which the source too."""
        right = [text in others for text, others in zip(prediction, references, strict=True)]
        rows = np.flatnonzero(right)
        if self.variant == "hf" or not len(rows):
            return {}
        undefined = (parts[rows, ..., 1] == 0).any(axis=(1, 2))
        rows = rows[undefined & (self._operations(parts[rows]).mean(axis=-1) < 1)]
        same = np.array([prediction[row] == source[row] for row in rows.tolist()], np.bool_)
        counts = {"noted_right": rows, "noted_same": rows[same]}
        return {
            name: np.bincount(at, minlength=len(parts)) for name, at in counts.items() if len(at)
        }

    def _operations(self, parts: Array) -> Array:
        """F1 of additions, keeps and, if pooled, deletions; else their precision, (..., 3)."""
        over, under = parts[..., ::2], parts[..., 1::2]
        quotients = np.where(under > 0, over / np.maximum(under, 1), self.variant == "hf")
        precision, recall = quotients[..., 0], quotients[..., 1]
        both = precision + recall
        f1 = 2 * precision * recall / np.where(both > 0, both, 1)
        if self.variant != "easse":
            f1[..., 2, :] = precision[..., 2, :]
        means: Array = f1.mean(axis=-1)
        return means

    def _keep(self, grams: _Grams) -> tuple[Array, ...]:
        retained = np.minimum(grams.source, grams.prediction)
        due = np.minimum(grams.source, grams.references)
        right = np.minimum(retained, due)
        if self.variant == "easse":
            return right, retained, right, due
        if self.variant == "hf":
            return *_mean(right, retained), right, due
        return *_mean(right, retained), *_mean(right, due)

    def _deleted(self, grams: _Grams) -> tuple[Array, ...]:
        gone = np.maximum(grams.source - grams.prediction, 0)
        if self.variant == "easse":
            due = np.maximum(grams.source - grams.references, 0)
            right = np.minimum(gone, due)
            return right, gone, right, due
        return _mean(np.maximum(gone - grams.references, 0), gone)

    def _grams(self, source: Texts, prediction: Texts, references: RaggedTexts) -> Iterator[_Grams]:
        every = np.arange(len(prediction))
        rows = np.concatenate((every, every, references.rows))
        order = np.argsort(rows, kind="stable")
        row, kind = rows[order], np.minimum(order // max(len(every), 1), 2)
        first, second, third = map(self._tokens, (source, prediction, references.items))
        tokens = Tokens.joined(Tokens.joined(first, second), third).take(order)
        for counts in ngram_counts(tokens, ORDERS):
            grams = counts.all()
            limits, of = grams.limits(row), kind[grams.text]
            here = row[grams.text[limits[:-1]]]
            times = references.counts[here]
            sums = [row_sums(grams.count * (of == side), limits) for side in range(3)]
            yield _Grams(here, sums[0] * times, sums[1] * times, sums[2])

    def _tokens(self, column: Texts) -> Tokens:
        column = column.lower() if self.lowercase else column
        if self.variant == "easse":
            return column.tokens(self.tokenizer)
        key = ("between single blanks", self.tokenizer)
        return column.cached(key, lambda: _between_blanks(column, self.tokenizer))


def _between_blanks(column: Texts, tokenizer: str) -> Tokens:
    """The tokens that `split(" ")` finds; in an empty text, that is the empty one."""
    if tokenizer == "whitespace":
        return Tokens.of(text.split(" ") for text in column)
    tokens = column.tokens(tokenizer)
    empty = np.flatnonzero(tokens.lengths == 0)
    return tokens.replace(empty, Tokens.of([[""]] * len(empty)))


def _added(grams: _Grams) -> tuple[Array, ...]:
    added = (grams.source == 0) & (grams.prediction > 0)
    due = (grams.source == 0) & (grams.references > 0)
    return added & due, added, added & due, due


def _mean(over: Array, under: Array) -> tuple[Array, Array]:
    """The summands of the mean of all n-grams' quotients, for n-grams that have one."""
    return over / np.maximum(under, 1), under > 0
