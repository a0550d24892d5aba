"""One longest common subsequence, the very one that rouge-score reads out of its table.

Hyyrö, "Bit-parallel LCS-length computation revisited" (2004): a row of the table is one integer
whose bit i is 0 where the row grows from i to i + 1.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T", bound=Hashable)

STRIDE = 1024
"""Rows that are kept at a time; earlier ones are computed again when the path reaches them."""


def occurrences(reference: Sequence[T]) -> dict[T, int]:
    """Where every token occurs, as bits of a number."""
    places: dict[T, int] = {}
    for i, token in enumerate(reference):
        places[token] = places.get(token, 0) | 1 << i
    return places


def subsequence(places: Mapping[int, int], length: int, candidate: Sequence[int]) -> int:
    """The positions in the reference of one longest common subsequence, as bits of a number.

    The reference is given by the places of its tokens and its length. The path is followed from
    the end: through a match wherever there is one, else to the shorter candidate if only that
    keeps the length, else to the shorter reference.
    """
    blocks = [candidate[j : j + STRIDE] for j in range(0, len(candidate), STRIDE)]
    below = (1 << length) - 1
    before = [below]
    for block in blocks[:-1]:
        before.append(_rows(before[-1], block, places, before[0])[-1])
    path = 0
    for block, start in zip(reversed(blocks), reversed(before), strict=False):
        rows = _rows(start, block, places, before[0])
        for token, row in zip(reversed(block), reversed(rows), strict=True):
            matches = places.get(token, 0)
            stop = ((matches | ~row) & below).bit_length()
            if stop == 0:
                return path
            place = 1 << stop - 1
            if matches & place:
                path |= place
                below = place - 1
            else:
                below = 2 * place - 1
    return path


def _rows(row: int, candidate: Iterable[int], places: Mapping[int, int], full: int) -> list[int]:
    """The row of the table after every token of the candidate."""
    rows = []
    for token in candidate:
        matches = row & places.get(token, 0)
        if matches:
            row = ((row + matches) | (row - matches)) & full
        rows.append(row)
    return rows
