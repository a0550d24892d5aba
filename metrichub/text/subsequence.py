"""One longest common subsequence, the very one that rouge-score reads out of its table.

Hyyrö, "Bit-parallel LCS-length computation revisited" (2004): a row of the table is one integer
whose bit i is 0 where the row grows from i to i + 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

STRIDE = 1024
"""Rows that are kept at a time; earlier ones are computed again when the path reaches them."""


def subsequence(reference: Sequence[int], candidate: Sequence[int]) -> int:
    """The positions in the reference of one longest common subsequence, as bits of a number.

    The path is followed from the end: through a match wherever there is one, else to the
    shorter candidate if only that keeps the length, else to the shorter reference.
    """
    places = _places(reference)
    blocks = [candidate[j : j + STRIDE] for j in range(0, len(candidate) or 1, STRIDE)]
    full = (1 << len(reference)) - 1
    before = [full]
    for block in blocks[:-1]:
        *_, last = _rows(before[-1], block, places, full)
        before.append(last)
    path, i = 0, len(reference)
    for block, row in zip(reversed(blocks), reversed(before), strict=True):
        rows = list(_rows(row, block, places, full))
        j = len(block)
        while i and j:
            if reference[i - 1] == block[j - 1]:
                i, j = i - 1, j - 1
                path |= 1 << i
            elif rows[j - 1] >> (i - 1) & 1:
                i -= 1
            else:
                j -= 1
    return path


def _places(reference: Sequence[int]) -> dict[int, int]:
    """Where every token occurs, as bits of a number."""
    places: dict[int, int] = {}
    for i, token in enumerate(reference):
        places[token] = places.get(token, 0) | 1 << i
    return places


def _rows(
    row: int, candidate: Sequence[int], places: Mapping[int, int], full: int
) -> Iterator[int]:
    """The row of the table after every token of the candidate."""
    for token in candidate:
        matches = row & places.get(token, 0)
        row = ((row + matches) | (row - matches)) & full
        yield row
