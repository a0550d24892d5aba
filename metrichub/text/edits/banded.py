"""The cheapest edit paths of many pairs of texts at a time, inside a band of the table.

Cell (i, j) of the table holds the edits between the first i words and the first j words of the
reference. The cells of one diagonal i + j = k depend on the two diagonals before only, so a
diagonal of all P tables is computed at once: arrays are (cells, P).
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from metrichub.text.ragged import Flags, Integers, offsets_of

Numbers: TypeAlias = NDArray[np.signedinteger[Any]]
Letters: TypeAlias = NDArray[np.unsignedinteger[Any]]

PAIR, DELETE, INSERT, STAY = range(4)
"""The last step into a cell, in the order in which equally cheap ones are preferred."""

BEAM = 25
"""Tercom looks at so many columns on both sides of the straight line through the table."""


@dataclass(frozen=True, eq=False)
class Tables:
    """P pairs of texts with their words as small numbers; 0 fills up shorter texts.

    Attributes:
        words: (P, H).
        reference: (P, R).
        heights: the number of words of each, (P,).
        widths: the number of words of each reference, (P,).
    """

    words: Letters
    reference: Letters
    heights: Integers
    widths: Integers

    @classmethod
    def of(cls, words: list[str], reference: list[str]) -> Tables:
        """The tables of words and references whose characters stand for words."""
        return cls(_matrix(words), _matrix(reference), sizes(words), sizes(reference))


class Band(NamedTuple):
    """The columns that every row of the tables needs, both ends included.

    `first` and `last` are (H+1,) for all tables together. `beams` holds the two for each table,
    (2, H+1, P), where a table must not use what others need.
    """

    first: Integers
    last: Integers
    beams: Numbers | None = None


class Alignment(NamedTuple):
    """What the cheapest path of each table says.

    Attributes:
        distance: the edits on it, (P,).
        targets: the row in which the path comes to column j, by a step that isn't a deletion:
            how many words stand before the partner of reference word j, (P, R+1).
        wrong: whether each word has no equal partner, (P, H).
        missed: whether each word of the reference has none, (P, R).
    """

    distance: Integers
    targets: Integers
    wrong: Flags
    missed: Flags


def within(tables: Tables, distances: Integers) -> Band:
    """The band that holds every path of `distances` (P,) edits.

    A path that leaves the main diagonal by d columns needs d edits to leave it, and as many to
    come back, less those that the lengths ask for anyway.
    """
    surplus = tables.widths - tables.heights
    spare = (distances - np.abs(surplus)) // 2
    rows = np.arange(tables.words.shape[1] + 1)
    left = int((np.minimum(surplus, 0) - spare).min())
    right = int((np.maximum(surplus, 0) + spare).max())
    width = tables.reference.shape[1]
    return Band(np.maximum(rows + left, 0), np.minimum(rows + right, width))


def sacrebleu_band(tables: Tables) -> Band:
    """The band that sacrebleu searches, along the straight line between two corners."""
    rows = np.arange(tables.words.shape[1] + 1)[:, None]
    ratio = tables.widths / tables.heights
    middle = np.floor(rows * ratio).astype(np.int64)
    reach = np.where(ratio / 2 > BEAM, np.ceil(ratio / 2 + BEAM), BEAM).astype(np.int64)
    first = np.clip(middle - reach, 0, tables.widths)
    last = np.minimum(middle + reach - 1, tables.widths)
    last[0] = last[1]
    narrow = np.min_scalar_type(-int(tables.widths.max()) - 1)
    return Band(first.min(axis=1), last.max(axis=1), np.stack((first, last)).astype(narrow))


def stays_inside(distances: Integers, heights: Integers, widths: Integers) -> Flags:
    """Whether no path of so many edits can meet the edge of the beam, (P,).

    The path is within (d - s) / 2 columns of the main diagonal or the one that ends in the
    corner, s columns away; the beam's middle lies between the two.
    """
    safe: Flags = distances + np.abs(widths - heights) <= 2 * (BEAM - 2)
    return safe


def align(tables: Tables, band: Band) -> Alignment:
    """The path that Tercom takes through each table: always the first preferred step back."""
    steps, starts = _sweep(tables, band)
    return _walk(tables, steps, starts)


def _sweep(tables: Tables, band: Band) -> tuple[NDArray[np.int8], Integers]:
    """The steps into all cells, (cells, P); cell (i, j) is at row starts[i + j] + i."""
    (count, height), width = tables.words.shape, tables.reference.shape[1]
    words = np.vstack((np.zeros(count, tables.words.dtype), tables.words.T))
    backwards = np.vstack((tables.reference.T[::-1], np.zeros(count, tables.reference.dtype)))
    diagonals = np.arange(height + width + 1)
    rows = np.arange(height + 1)
    lows = np.searchsorted(rows + band.last, diagonals)
    highs = np.searchsorted(rows + band.first, diagonals, side="right") - 1
    ends = offsets_of(highs - lows + 1)
    steps = np.empty((int(ends[-1]), count), np.int8)
    steps[0] = STAY
    far = height + width + 1
    older, old, new = np.full((3, height + 3, count), far, np.min_scalar_type(-far - 2))
    old[1] = 0
    for k in range(1, len(diagonals)):
        low, high = int(lows[k]), int(highs[k])
        above, here = slice(low, high + 1), slice(low + 1, high + 2)
        differ = words[above] != backwards[width - k + low : width - k + high + 1]
        pair = older[above] + differ
        gap = np.minimum(old[above], old[here]) + 1
        np.minimum(pair, gap, out=new[here])
        is_gap = gap < pair
        inserted = is_gap & (old[here] < old[above])
        np.add(is_gap.view(np.int8), inserted.view(np.int8), out=steps[ends[k] : ends[k + 1]])
        if band.beams is not None:
            first, last = band.beams[:, above]
            columns = (k - rows[above, None]).astype(first.dtype)
            new[here][(columns < first) | (columns > last)] = far
        new[low] = new[high + 2] = far
        older, old, new = old, new, older
    return steps, ends[:-1] - lows


def _walk(tables: Tables, steps: NDArray[np.int8], starts: Integers) -> Alignment:
    """Follow the steps of all tables back from their last cells, one step of each at a time."""
    count, height = tables.words.shape
    width = tables.reference.shape[1]
    table = np.arange(count)
    down, right = np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0])
    row, column = tables.heights, tables.widths
    trail = []
    while row.any() or column.any():
        step = steps.take((starts[row + column] + row) * count + table)
        trail.append((step, row, column))
        row, column = row - down[step], column - right[step]
    step, row, column = (np.ravel(parts) for parts in zip(*trail, strict=True))
    moves = np.count_nonzero(step.reshape(-1, count) != STAY, axis=0)
    table = np.tile(table, len(trail))
    targets = np.zeros((count, width + 1), np.int64)
    wrong, missed = np.ones((count, height), np.bool_), np.ones((count, width), np.bool_)
    at = np.flatnonzero(step != DELETE)
    targets[table[at], column[at]] = row[at]
    at = np.flatnonzero(step == PAIR)
    table, row, column = table[at], row[at] - 1, column[at] - 1
    same = tables.words[table, row] == tables.reference[table, column]
    wrong[table[same], row[same]] = missed[table[same], column[same]] = False
    return Alignment(moves - np.count_nonzero(~wrong, axis=1), targets, wrong, missed)


def _matrix(texts: list[str]) -> Letters:
    """The characters of every text as a row of numbers, filled up with zeros."""
    longest = max(map(len, texts))
    joined = "".join([text.ljust(longest, "\0") for text in texts])
    try:
        data = np.frombuffer(joined.encode("latin-1"), np.uint8)
    except UnicodeEncodeError:
        data = np.frombuffer(joined.encode("utf-32-le"), "<u4")
    return data.reshape(len(texts), longest)


def sizes(sequences: Sequence[Sized]) -> Integers:
    """The length of each, (P,)."""
    return np.fromiter(map(len, sequences), np.int64, len(sequences))
