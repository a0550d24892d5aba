"""Edit distances with long jumps, of many pairs at a time: the table behind EED.

Stanchev et al. (2019): the characters of the reference are read from the left, one row each.
A column is a place in the hypothesis, between two of its characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from metrichub.text import Flags, Integers

Costs: TypeAlias = NDArray[np.floating[Any]]

JUMP, DELETION, EDIT = 2.0, 0.2, 1.0
"""What a jump costs, a character of the hypothesis left out, and any other edit."""


class Jumps(NamedTuple):
    """The cost of each cheapest path, (P,), and how often the costs were least at each place.

    `visits` is (P, H+1) for hypotheses of up to H characters.
    """

    cost: Costs
    visits: Integers


def jump_costs(hypothesis: Sequence[str], reference: Sequence[str], truncated: bool) -> Jumps:
    """The cheapest way through each table, and where it was in every row.

    Within a row one moves to the right by deletions. After a blank in the reference one may
    jump to any place from the one with the least cost. With `truncated`, that is the first
    whose cost is least in whole numbers, and costs are kept in single precision.

    Sums of tenths aren't exact in binary, and the errors decide which of two equal places is the
    least; the order of the additions is therefore that of the definition.
    """
    letters, targets = _matrix(hypothesis), _matrix(reference)
    widths = np.array([len(text) for text in hypothesis], np.int64)
    # Equal texts are read from place to place at no cost, whatever their length.
    equal = np.array([a == b for a, b in zip(hypothesis, reference, strict=True)], np.bool_)
    rows = np.array([len(text) for text in reference], np.int64) * ~equal
    order = np.argsort(-rows, kind="stable")
    letters, targets = letters[order], targets[order]
    pairs = np.arange(len(rows))
    visits = np.zeros((len(rows), letters.shape[1] + 1), np.int64)
    costs: Costs = np.full(visits.shape, EDIT, np.float32 if truncated else np.float64)
    costs[:, 0] = 0
    for row in range(int(rows.max(initial=0))):
        count = int(np.searchsorted(-rows[order], -row))
        here = pairs[:count]
        letter = targets[:count, row, None]
        new = _row(costs[:count], letters[:count] != letter)
        least = (np.floor(new) if truncated else new).argmin(axis=1)
        visits[here, least] += 1
        jumped = new[here, least] + costs.dtype.type(JUMP)
        blank = letter[:, 0] == ord(" ")
        new[blank] = np.minimum(new[blank], jumped[blank, None])
        costs[:count] = new
    back = np.argsort(order)
    costs, visits = costs[back], visits[back]
    costs[equal] = 0
    visits[equal, 1:] = np.arange(visits.shape[1] - 1) < widths[equal, None]
    return Jumps(costs[pairs, widths], visits)


def _row(above: Costs, differ: Flags) -> Costs:
    """The next row of costs before any jump: steps down, along the diagonal, then to the right."""
    deletion = above.dtype.type(DELETION)
    new = above + above.dtype.type(EDIT)
    np.minimum(new[:, 1:], above[:, :-1] + differ, out=new[:, 1:])
    cheaper = np.zeros(new.shape, np.bool_)
    np.less(new[:, :-1] + deletion, new[:, 1:], out=cheaper[:, 1:])
    flat, width = new.reshape(-1), new.shape[1]
    place = np.flatnonzero(cheaper)
    while len(place):
        flat[place] = flat[place - 1] + deletion
        behind = place + 1
        behind = behind[behind % width > 0]
        place = behind[flat[behind - 1] + deletion < flat[behind]]
    return new


def _matrix(texts: Sequence[str]) -> NDArray[np.unsignedinteger]:
    """The code points of every text as a row, filled up with zeros."""
    longest = max(map(len, texts), default=0)
    joined = "".join([text.ljust(longest, "\0") for text in texts])
    data = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), "<u4")
    return data.reshape(len(texts), longest)
