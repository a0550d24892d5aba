"""Batches: texts sorted by tokens, cut by a budget of tokens, halved where memory runs out.

Where a GPU works, what comes next is made ready in a thread meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from functools import cache, partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from metrichub.authoring import report_progress
from metrichub.errors import ModelError
from metrichub.text import Flags, Integers
from metrichub_neural.engine.machine import device, padding

T = TypeVar("T")
V = TypeVar("V")
A = TypeVar("A")

FloatArray = NDArray[np.float32]
Batch = tuple[Integers, Integers]
"""Token ids and the mask of those that are real, both (b, l)."""


_FILLED = 8
"""A batch takes this part of the budget in any case: smaller ones are slower by the token."""
_SEE_PADDING = ("convbert", "fnet", "mobilebert", "nystromformer", "xlnet")
"""Kinds of models that mix a text's tokens with the padding behind them, or read the last place."""


_span: ContextVar[tuple[float, float]] = ContextVar("span", default=(0.0, 1.0))
"""How much of a metric's texts is done before some batches, and how much of them these are."""


class OutOfMemory(Exception):
    """Raised by a runner where a batch doesn't fit in memory."""


@cache
def _threads() -> ThreadPoolExecutor:
    # One that makes tokens, and one that runs a batch while the results before are put in place.
    return ThreadPoolExecutor(2, "metrichub-neural")


def begun(run: Callable[[A], T], argument: A) -> Callable[[], T]:
    """Begin a call in a thread beside a GPU; what comes back waits for its result.

    Beside a CPU, which would be shared, it is called then.
    """
    if device() == "cpu":
        return partial(run, argument)
    return _threads().submit(run, argument).result


def ahead(run: Callable[[A], T], arguments: Iterable[A]) -> Iterator[T]:
    """The result of each call, of which the next is begun meanwhile."""
    coming = None
    for argument in arguments:
        following = begun(run, argument)
        if coming:
            yield coming()
        coming = following
    if coming:
        yield coming()


def in_portions(
    items: Sequence[A],
    size: int,
    encode: Callable[[Sequence[A]], T],
    make: Callable[[T], Sequence[V]],
) -> list[V]:
    """What `make` makes of all items, some at a time, of which the next are encoded meanwhile.

    Progress goes on from one portion to the next.
    """
    starts = range(0, len(items), size)
    values: list[V] = []
    portions = ahead(encode, (items[start : start + size] for start in starts))
    for number, encoded in enumerate(portions):
        token = _span.set((number / len(starts), 1 / len(starts)))
        try:
            values += make(encoded)
        finally:
            _span.reset(token)
    return values


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

    def following() -> tuple[Integers, Callable[[], T] | None]:
        if start == len(order):
            return order[:0], None
        longest = int(tokens[order[start]])
        places = order[start : start + max(1, min(budget // longest, most or len(order)))]
        places = places[: _evenly(tokens[places], budget)]
        return places, begun(run, places)

    places, outputs = following()
    while outputs:
        fits, longest = True, int(tokens[places[0]])
        try:
            batch = outputs()
        except OutOfMemory as error:
            if len(places) == 1:
                raise ModelError(
                    f"{name} ran out of memory with a single text of {longest} tokens"
                ) from error
            fits, outputs = False, None
        if not fits:
            # Here, where nothing holds what the failed batch had in memory.
            budget = longest * len(places) // 2
            places, outputs = following()
            continue
        start += len(places)
        done += int(tokens[places].sum())
        finished = places
        places, outputs = following()
        yield finished, batch
        if progress:
            before, share = _span.get()
            report_progress(before + share * done / total)


def forwarded(
    rows: Sequence[Integers],
    padding: int,
    budget: int,
    forward: Callable[[Integers, Integers, Integers], Iterable[Any]],
    name: str,
    **how: Any,
) -> list[Any]:
    """What `forward` gives for each row of token ids, in batches.

    It is given ids and their mask, (b, l), and the places of their rows. `how` is for `in_batches`.
    """
    outputs: list[Any] = [None] * len(rows)
    run = lambda places: forward(*padded([rows[at] for at in places], padding), places)
    for places, batch in in_batches([len(row) for row in rows], budget, run, name, **how):
        for place, output in zip(places.tolist(), batch, strict=True):
            # A copy, so that the batch's memory can go.
            outputs[place] = output.copy() if isinstance(output, np.ndarray) else output
    return outputs


def most_texts(kind: object) -> int | None:
    """How many texts a batch may have for a kind of model; None for any number."""
    return 1 if kind in _SEE_PADDING else None


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


def check_finite(is_finite: bool, name: str) -> None:
    """Raise `ModelError` where a model's outputs in 32 bits aren't finite."""
    if not is_finite:
        raise ModelError(f"{name} gave numbers that aren't finite, in 32 bits too")


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
