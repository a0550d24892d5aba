"""Answers as columns: what was read from each prediction, beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from metrichub.data.batch import Batch, Block, Column, lists_of

PREFIX = "extract:"
"""What the name of a column of answers begins with, before that of the extraction."""


def with_answers(
    batch: Batch, functions: Mapping[str, Callable[[str, Sequence[str]], str | None]]
) -> Batch:
    """The batch with what each function reads from the predictions, given the sample's choices.

    The answers also stay with the report, as columns that no metric reads.
    """
    predictions, choices = batch.columns["predictions"], batch.columns.get("choices")
    options: Sequence[Sequence[str]] = [()] * batch.size if choices is None else lists_of(choices)
    # A sample's choices for each of its predictions.
    samples = np.repeat(np.arange(batch.size), predictions.counts).tolist()
    answers: dict[str, Column] = {}
    metadata: dict[str, Sequence[Any] | None] = dict(batch.facts.get("metadata", {}))
    for name, read in functions.items():
        pairs = zip(predictions.items, samples, strict=True)
        items = [read(text, options[sample]) for text, sample in pairs]
        answers[name] = column = Column(items, predictions.offsets)
        metadata[f"{PREFIX}{name}"] = items if column.offsets is None else lists_of(column)
    return replace(batch, answers=answers, facts={**batch.facts, "metadata": metadata})


def answered(block: Block, extract: str, with_nothing: bool) -> Block:
    """The block with answers as its predictions; nothing is None, or else an empty text."""
    if (extract, with_nothing) not in block.answered:
        items, offsets = block.answers[extract]
        if not with_nothing:
            items = ["" if item is None else item for item in items]
        block.answered[extract, with_nothing] = block.with_predictions(Column(items, offsets))
    return block.answered[extract, with_nothing]


def unextracted(batch: Batch) -> dict[str, int]:
    """By extraction, the number of samples from none of whose predictions it read an answer."""
    return {
        name: sum(map(nothing_read, lists_of(column))) for name, column in batch.answers.items()
    }


def nothing_read(answers: object) -> bool:
    """Whether there is no answer of a sample, or none of several predictions has one."""
    return all(a is None for a in answers) if isinstance(answers, list) else answers is None
