"""Edit distances with long jumps, of many pairs at a time: the table behind EED.

Stanchev et al. (2019): the characters of the reference are read from the left, one row each.
A column is a place in the hypothesis, between two of its characters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from metrichub.text import Flags, Integers

Costs: TypeAlias = NDArray[np.floating[Any]]
Letters: TypeAlias = NDArray[np.unsignedinteger[Any]]

JUMP, DELETION, EDIT = 2.0, 0.2, 1.0
"""What a jump costs, a character of the hypothesis left out, and any other edit."""

CELLS = 1 << 17
"""Places of all pairs in a row of one table; more would not fit into the processor's cache."""

MANY = 32
"""From so many pairs on, it is sooner to go from column to column than along each row."""

_STEPS = 64
"""So many steps to the right are made at all places at once; what is left, place by place."""

_LIKE = 3
"""How many times as long as its shortest text the longest of a group may be."""


class Jumps(NamedTuple):
    """The cost of each cheapest path, (P,), and how often the costs were least at each place.

    `visits` is (H+1, P) for hypotheses of up to H characters.
    """

    cost: Costs
    visits: Integers


def of_like_lengths(hypothesis: Sequence[str], reference: Sequence[str]) -> Iterator[Integers]:
    """The pairs in groups with about as long texts, so that their tables are full."""
    pairs = zip(hypothesis, reference, strict=True)
    lengths = np.array([max(len(first), len(second)) for first, second in pairs], np.int64)
    order = np.argsort(lengths, kind="stable")
    ordered, start = [*lengths[order].tolist(), 0], 0
    for end in range(1, len(order) + 1):
        longest = ordered[end] + 1
        full = (end + 1 - start) * longest > CELLS or longest > _LIKE * (ordered[start] + 1)
        if full or end == len(order):
            yield order[start:end]
            start = end


def jump_costs(hypothesis: Sequence[str], reference: Sequence[str], truncated: bool) -> Jumps:
    """The cheapest way through each table, and where it was in every row.

    Within a row one moves to the right by deletions. After a blank in the reference one may
    jump to any place from the one with the least cost. With `truncated`, that is the first
    whose cost is least in whole numbers, and costs are kept in single precision.

    Sums of tenths aren't exact in binary, and the errors decide which of two equal places is the
    least; the order of the additions is therefore that of the definition.
    """
    # Rows of small numbers are compared sooner.
    highest = ord(max(map(max, filter(None, (*hypothesis, *reference))), default="\0")) + 1
    kind = np.uint8 if highest < 1 << 8 else np.uint16 if highest < 1 << 16 else np.uint32
    layout: Literal["C", "F"] = "C" if len(hypothesis) >= MANY else "F"
    letters, targets = (_matrix(texts, kind, layout) for texts in (hypothesis, reference))
    widths = np.array([len(text) for text in hypothesis], np.int64)
    # Equal texts are read from place to place at no cost, whatever their length.
    equal = np.array([a == b for a, b in zip(hypothesis, reference, strict=True)], np.bool_)
    rows = np.array([len(text) for text in reference], np.int64) * ~equal
    order = np.argsort(-rows, kind="stable")
    letters, targets = (np.asarray(each[:, order], order=layout) for each in (letters, targets))
    pairs = np.arange(len(rows))
    visits = np.zeros((len(letters) + 1, len(rows)), np.int64)
    costs: Costs = np.full(visits.shape, EDIT, np.float32 if truncated else np.float64, layout)
    costs[0] = 0
    widest = np.maximum.accumulate(widths[order])
    for row in range(int(rows.max(initial=0))):
        count = int(np.searchsorted(-rows[order], -row))
        width = int(widest[count - 1])
        letter, above = targets[row, :count], costs[: width + 1, :count]
        new = _row(above, letters[:width, :count] != letter)
        least = (np.floor(new) if truncated else new).argmin(axis=0)
        visits[least, pairs[:count]] += 1
        jumped = new[least, pairs[:count]] + costs.dtype.type(JUMP)
        jumped[letter != ord(" ") + 1] = np.inf
        np.minimum(new, jumped, out=above)
    back = np.argsort(order)
    costs, visits = costs[:, back], visits[:, back]
    costs[:, equal] = 0
    visits[1:, equal] = np.arange(len(letters))[:, None] < widths[equal]
    return Jumps(costs[widths, pairs], visits)


def _row(above: Costs, differ: Flags) -> Costs:
    """The next row of costs before any jump: steps down, along the diagonal, then to the right."""
    new = above + above.dtype.type(EDIT)
    np.minimum(new[1:], above[:-1] + differ.astype(above.dtype), out=new[1:])
    # A single column is contiguous both ways, and sooner gone along.
    (_along_rows if new.flags.f_contiguous else _from_column_to_column)(new)
    return new


def _from_column_to_column(new: Costs) -> None:
    """The deletions of a row, in place, of all pairs at once."""
    deletion = new.dtype.type(DELETION)
    step, before = np.empty_like(new[0]), new[0]
    for here in new[1:]:
        np.add(before, deletion, out=step)
        np.minimum(here, step, out=here)
        before = here


def _along_rows(new: Costs) -> None:
    """The deletions of a row, in place, of all columns at once, where any is worth it."""
    deletion, rows = new.dtype.type(DELETION), new.T
    cheaper = np.zeros(rows.shape, np.bool_)
    np.less(rows[:, :-1] + deletion, rows[:, 1:], out=cheaper[:, 1:])
    flat, width = rows.reshape(-1), rows.shape[1]
    place = np.flatnonzero(cheaper)
    for _ in range(_STEPS):
        if not len(place):
            return
        flat[place] = flat[place - 1] + deletion
        behind = place + 1
        behind = behind[behind % width > 0]
        place = behind[flat[behind - 1] + deletion < flat[behind]]
    # Letters that repeat are deleted in long runs, which one step a place would take long for.
    for row in np.unique(place // width).tolist():
        # Numbers of Python's own are added as those in double precision, and sooner.
        doubles = rows.dtype == np.float64
        values: Any = rows[row].tolist() if doubles else list(rows[row])
        moved = partial(_moved, deletion.item() if doubles else deletion)
        rows[row] = [*accumulate(values, moved)]


def _moved(deletion: Any, before: Any, here: Any) -> Any:
    """The cost of a place, come to from the one before or not."""
    return min(here, before + deletion)


def _matrix(
    texts: Sequence[str], kind: type[np.unsignedinteger[Any]], layout: Literal["C", "F"]
) -> Letters:
    """The code points of every text as a column, from 1, filled up with zeros."""
    matrix = np.zeros((max(map(len, texts), default=0), len(texts)), kind, layout)
    for column, text in enumerate(texts):
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        np.add(codes, 1, out=matrix[: len(text), column], casting="unsafe")
    return matrix
