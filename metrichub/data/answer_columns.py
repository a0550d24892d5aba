"""Answers as columns: what was read from each prediction, beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from textwrap import shorten
from typing import Any

import numpy as np

from metrichub.data.batch import Batch, Block, Column, lists_of
from metrichub.data.values import sample_error
from metrichub.errors import what

Read = Callable[[str, Sequence[str]], str | None]
PREFIX = "extract:"
"""The beginning of the name of a column of answers, before that of the extraction."""


def with_answers(batch: Batch, functions: Mapping[str, Read]) -> Batch:
    """The batch with what each function reads from the predictions, given the sample's choices.

    The answers also stay with the report, as columns that no metric reads.
    """
    if not functions:
        return batch
    predictions = batch.columns["predictions"]
    options, samples = _choices(batch, predictions)
    answers: dict[str, Column] = {}
    metadata: dict[str, Sequence[Any] | None] = dict(batch.facts.get("metadata", {}))
    for name, read in functions.items():
        pairs = zip(predictions.items, samples, strict=True)
        items = [read(text, options[sample]) for text, sample in pairs]
        answers[name] = column = Column(items, predictions.offsets)
        metadata[f"{PREFIX}{name}"] = items if column.offsets is None else lists_of(column)
    return replace(batch, answers=answers, facts={**batch.facts, "metadata": metadata})


def with_references(batch: Batch, read: Read, problem: str, remedy: str = "") -> Batch:
    """The batch with what a function reads from the references, given the sample's choices.

    Raises:
        InputError: it reads nothing from one; `problem` says so, and `remedy` names what may.
    """
    column = batch.columns["references"]
    options, samples = _choices(batch, column)
    items = [read(text, options[i]) for text, i in zip(column.items, samples, strict=True)]
    if None in items:
        place = items.index(None)
        problem = f"{problem}: {shorten(column.items[place], 60)!r}"
        error = sample_error("references", samples[place], problem)
        raise error.with_remedy("read_place", remedy) if remedy else error
    return replace(batch, columns={**batch.columns, "references": Column(items, column.offsets)})


def _choices(batch: Batch, column: Column) -> tuple[Sequence[Sequence[str]], list[int]]:
    """The choices of every sample, and the sample of every item of a column."""
    choices = batch.columns.get("choices")
    options: Sequence[Sequence[str]] = [()] * batch.size if choices is None else lists_of(choices)
    for sample, listed in enumerate(options):
        if wrong := [choice for choice in listed if not isinstance(choice, str)]:
            error = sample_error("choices", sample, f"holds {what(wrong[0])}, not text; give texts")
            raise error.with_remedy("choose_field", "choices", "choices.text")
    return options, np.repeat(np.arange(batch.size), column.counts).tolist()


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
