"""Batches: texts sorted by tokens, cut by a budget of tokens, halved where memory runs out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from metrichub.authoring import report_progress
from metrichub.errors import ModelError
from metrichub.text import Flags, Integers
from metrichub_neural.engine.machine import padding

T = TypeVar("T")

FloatArray = NDArray[np.float32]
Batch = tuple[Integers, Integers]
"""Token ids and the mask of those that are real, both (b, l)."""


_FILLED = 8
"""A batch takes this part of the budget in any case: smaller ones are slower by the token."""


class OutOfMemory(Exception):
    """Raised by a runner where a batch doesn't fit in memory."""


def in_batches(
    lengths: Sequence[int],
    budget: int,
    run: Callable[[Integers], T],
    name: str,
    *,
    most: int | None = None,
    progress: bool = True,
) -> Iterator[tuple[Integers, T]]:
    """The result of `run` for each batch, with the places of its texts; longest texts first.

    A batch has at most `budget` tokens, padding included, and `most` texts, and always a text.
    Where one doesn't fit in memory, the budget is halved for it and all that follow. Progress,
    if told, is the share of the tokens.

    Raises:
        ModelError: a single text doesn't fit.
    """
    # Longest first, so that what doesn't fit is met at once.
    tokens = np.maximum(1, np.asarray(lengths, np.int64))
    order = np.argsort(-tokens, kind="stable")
    start, done, total = 0, 0, int(tokens.sum())
    while start < len(order):
        longest = int(tokens[order[start]])
        places = order[start : start + max(1, min(budget // longest, most or len(order)))]
        places = places[: _evenly(tokens[places], budget)]
        try:
            outputs = run(places)
        except OutOfMemory as error:
            if len(places) == 1:
                raise ModelError(
                    f"{name} ran out of memory with a single text of {longest} tokens"
                ) from error
            budget = longest * len(places) // 2
            continue
        yield places, outputs
        start += len(places)
        done += int(tokens[places].sum())
        if progress:
            report_progress(done / total)


def _evenly(tokens: Integers, budget: int) -> int:
    """How many of a batch's texts, the longest first, are of much the same length."""
    texts = np.arange(1, len(tokens) + 1)
    even = np.flatnonzero(tokens[0] * texts <= padding() * np.cumsum(tokens))
    return max(int(even[-1]) + 1, min(len(tokens), budget // (_FILLED * int(tokens[0]))))


def padded(rows: Sequence[Integers], padding: int) -> Batch:
    """Rows of token ids as one array, filled up with the padding's id, and their mask."""
    lengths = np.array([len(row) for row in rows])
    mask = np.arange(lengths.max(initial=1)) < lengths[:, None]
    ids = np.full(mask.shape, padding, np.int64)
    ids[mask] = np.concatenate([np.zeros(0, np.int64), *rows])
    return ids, mask.astype(np.int64)


def finite(outputs: FloatArray, again: Callable[[], FloatArray] | None, name: str) -> FloatArray:
    """A model's outputs, computed again in 32 bits if a number isn't finite.

    Raises:
        ModelError: it isn't finite in 32 bits either.
    """
    if np.isfinite(outputs).all():
        return outputs
    outputs = outputs if again is None else again()
    if not np.isfinite(outputs).all():
        raise ModelError(f"{name} gave numbers that aren't finite, in 32 bits too")
    return outputs


def other_than(ids: Integers, tokens: Sequence[int]) -> Flags:
    """Which of the ids are none of a few tokens, (n,); a tenth of the time of `np.isin`."""
    other = np.ones(len(ids), np.bool_)
    for token in tokens:
        other &= ids != token
    return other


def distinct(items: Sequence[Any]) -> tuple[list[Any], Integers]:
    """The distinct items in the order of their first occurrence, and the place of each there."""
    places: dict[Any, int] = {}
    index = [places.setdefault(item, len(places)) for item in items]
    return list(places), np.array(index, np.int64)
