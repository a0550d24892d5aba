"""Edit paths inside sacrebleu's beam, where the cheapest path of all may leave it.

Cell (i, j) of the table holds the edits between the first i words and the first j words of the
reference. Along a path that is cheapest of all and inside the beam, the beam changes no cell, and
so no step: only texts whose path leaves it need their table computed cell by cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from metrichub.text.ragged import Integers

BEAM = 25
"""Tercom looks at so many columns on both sides of the straight line through the table."""

Costs = NDArray[np.int32]
N = TypeVar("N", int, Integers)


class Band(NamedTuple):
    """The first and the last column of the beam in every row of P tables, each (H+1, P)."""

    first: Integers
    last: Integers


class Path(NamedTuple):
    """The path that Tercom takes through the table of one pair, of H words.

    Attributes:
        columns: where it leaves each row downwards, H+1.
        lowest: the first column that it is in, in all rows but the one before the words, H.
        hits: the column of each word's equal partner, 0 without one, H.
    """

    columns: list[int]
    lowest: list[int]
    hits: list[int]

    @property
    def distance(self) -> int:
        """The edits on it: insertions, and words without an equal partner."""
        return sum(self.columns) - sum(self.lowest) + self.hits.count(0)


def sacrebleu_band(heights: Integers, widths: Integers) -> Band:
    """The band that sacrebleu searches, along the straight line between two corners."""
    rows = np.arange(int(heights.max()) + 1)[:, None]
    ratio = widths / heights
    middle = np.floor(rows * ratio).astype(np.int64)
    reach = np.where(ratio / 2 > BEAM, np.ceil(ratio / 2 + BEAM), BEAM).astype(np.int64)
    first = np.clip(middle - reach, 0, widths)
    last = np.minimum(middle + reach - 1, widths)
    last[0] = last[1]
    return Band(first, last)


def beam_excess(distances: N, heights: N, widths: N) -> N:
    """How many edits a path has beyond those with which none can meet the edge of the beam.

    The path is within (d - s) / 2 columns of the main diagonal or the one that ends in the
    corner, s columns away; the beam's middle lies between the two.
    """
    return distances + abs(widths - heights) - 2 * (BEAM - 2)


def beamed_distances(texts: Sequence[str], reference: str, band: Band) -> list[int]:
    """The edits between each of K texts, of equal lengths, and the reference, inside the band."""
    *_, last = _rows(texts, reference, band)
    distances: list[int] = last[:, -1].tolist()
    return distances


def beamed_path(words: str, reference: str, band: Band) -> Path:
    """The path that Tercom takes inside the band: always the first preferred step back."""
    first, last = band.first[:, 0].tolist(), band.last[:, 0].tolist()
    # Of each row the columns that the next one reads.
    ends = [*last[1:], len(reference)]
    rows = zip(_rows([words], reference, band), first, ends, strict=True)
    table = [row[0, start : end + 2].tolist() for row, start, end in rows]
    column = len(reference)
    columns, lowest, hits = [column], [], []
    for row in range(len(words), 0, -1):
        here, above = table[row], table[row - 1]
        while True:
            cost, before = here[column + 1 - first[row]], column - first[row - 1]
            differ = column == 0 or words[row - 1] != reference[column - 1]
            paired = above[before] + differ <= cost
            if paired or above[before + 1] < cost:
                break
            column -= 1
        lowest.append(column)
        hits.append(0 if differ or not paired else column)
        column -= paired
        columns.append(column)
    return Path(columns[::-1], lowest[::-1], hits[::-1])


def _rows(texts: Sequence[str], reference: str, band: Band) -> Iterator[Costs]:
    """The rows of K tables from above, (K, R+2): column j at j + 1, and only those of the band."""
    words, (letters,) = _codes(texts), _codes(["\0" + reference])
    far = words.shape[1] + len(letters)
    columns = np.arange(len(letters), dtype=np.int32)
    above, here = np.full((2, len(texts), len(letters) + 1), far, np.int32)
    above[:, 1 : band.last[0, 0] + 2] = columns[: band.last[0, 0] + 1]
    yield above
    for row, (low, high) in enumerate(np.hstack(band)[1:].tolist()):
        cells, inside = slice(low, high + 1), slice(low + 1, high + 2)
        costs = here[:, inside]
        differ = words[:, row, None] != letters[cells]
        np.minimum(above[:, cells] + differ, above[:, inside] + 1, out=costs)
        # An insertion costs what lies between two columns: less that, the least so far counts.
        costs -= columns[cells]
        np.minimum.accumulate(costs, axis=1, out=costs)
        costs += columns[cells]
        here[:, low] = far
        above, here = here, above
        yield above


def _codes(texts: Sequence[str]) -> NDArray[np.uint32]:
    """The code points of texts of equal lengths, (K, H)."""
    data = "".join(texts).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(data, "<u4").reshape(len(texts), -1)
