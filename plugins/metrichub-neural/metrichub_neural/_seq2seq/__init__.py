"""Shared by metrics of sequence-to-sequence models: the model, and its first token's scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from metrichub.authoring import Array
from metrichub_neural.engine.seq2seq import Seq2Seq, seq2seq_of
from metrichub_neural.engine.whole import WholeMetric
from metrichub_neural.local_models import ModelFiles


class FirstTokens(NamedTuple):
    """The scores of some tokens after each text, (N, k), and the flaws of each, (N,)."""

    logits: Array
    flaws: Sequence[int]


@dataclass(frozen=True, kw_only=True)
class Seq2SeqMetric(WholeMetric):
    """A metric that runs a sequence-to-sequence model."""

    def default_model(self) -> str:
        """The model where none is named."""
        raise NotImplementedError  # a metric names its own

    def files(self) -> ModelFiles:
        """The model's files, found and not loaded."""
        if self.model is None:
            return replace(self, model=self.default_model()).files()
        return super().files()

    def seq2seq(self) -> Seq2Seq:
        """The model, loaded once a process."""
        return seq2seq_of(self.files(), self.dtype)


@dataclass(frozen=True, kw_only=True)
class FirstTokenMetric(Seq2SeqMetric):
    """A metric that reads its score off the first token that a model would write."""

    where_cut = ", what is read with them included"

    def first_tokens(
        self, texts: Sequence[str], tokens: Sequence[int], *, end: bool = True, inserted: int = 0
    ) -> FirstTokens:
        """The scores of some tokens after each text; without `end`, its last token is left out.

        So many of a text's control tokens were `inserted`.
        """
        model, limit = self.seq2seq(), self.limit()
        answers = model.first_tokens(texts, tokens, limit, end=end, inserted=inserted)
        logits = np.array([answer.logits for answer in answers], np.float64)
        flaws = [answer.flaws for answer in answers]
        return FirstTokens(logits.reshape(len(texts), len(tokens)), flaws)


def summed(values: Sequence[float] | Array, sizes: Sequence[int] | Array) -> Array:
    """The sum of each row's values, (N,), of which it has so many."""
    of = np.repeat(np.arange(len(sizes)), np.asarray(sizes, np.int64))
    return np.asarray(np.bincount(of, values, len(sizes)), np.float64)


def by_row(texts: Sequence[Any], sizes: Sequence[int] | Array) -> list[list[Any]]:
    """The texts of each row, (N,), of which it has so many."""
    coming = iter(texts)
    return [list(islice(coming, int(size))) for size in sizes]


def probability(logits: Array) -> Array:
    """That of the first of two tokens as against the second, (N,), by their scores, (N, 2)."""
    return np.asarray(1 / (1 + np.exp(np.clip(logits[:, 1] - logits[:, 0], -700, 700))))
