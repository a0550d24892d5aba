"""Tools for resampling corpus metrics: sparse matrices, and rows that share references."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from metrichub.authoring import Array
from metrichub.text import Integers, sort_equal

_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class Sparse:
    """A sparse matrix (R, C) of E entries: equal places add up, and rows without one are 0."""

    def __init__(
        self, row: Integers, column: Integers, value: Array, shape: tuple[int, int]
    ) -> None:
        self.row, self.column, self.value, self.shape = row, column, value, shape

    def times(self, weights: Array) -> Array:
        """The sum of each row's entries, (b, R), for each of b weightings of the columns, (b, C).

        One weighting after the other: what is held at a time are the entries.
        """
        rows = self.shape[0]
        if len(weights) == 1:
            # Not worth sorting the entries.
            return np.bincount(self.row, weights[0][self.column] * self.value, rows)[None]
        sums = np.zeros((len(weights), rows))
        ordered = self._ordered
        if len(ordered.row):
            for row, weight in zip(sums, weights, strict=True):
                parts = weight[ordered.column] * ordered.value
                row[ordered.row] = np.add.reduceat(parts, ordered.starts)
        return sums

    @cached_property
    def _ordered(self) -> _Ordered:
        order, changed = sort_equal((self.row * self.shape[1] + self.column).astype(np.uint64))
        first, which = order[changed[:-1]], np.empty(len(order), np.int64)
        which[order] = np.cumsum(changed[:-1]) - 1
        row, column = self.row[first], self.column[first]
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        return _Ordered(row[starts], starts, column, np.bincount(which, self.value, len(first)))


class _Ordered(NamedTuple):
    """The rows that have entries, where those of each start, and their columns and values."""

    row: Integers
    starts: Integers
    column: Integers
    value: Array


class Sets(NamedTuple):
    """R sets of columns as S different ones: the number of each, (R,), and their 1s, (S, C)."""

    of: Integers
    columns: Sparse

    @classmethod
    def merged(cls, row: Integers, column: Integers, shape: tuple[int, int]) -> Sets:
        """The sets of columns that the rows have, none of them empty and no column twice.

        Sets are compared by 64-bit hashes: of a million, two collide once in 4e7 runs.
        """
        order = sort_equal(row.astype(np.uint64)).order
        row, column = row[order], column[order]
        names = (column.astype(np.uint64) + np.uint64(1)) * _FACTOR
        for _ in range(2):
            names = (names ^ (names >> np.uint64(29))) * _FACTOR
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        sums = np.add.reduceat(names, starts) if len(starts) else names
        order, changed = sort_equal(sums)
        first = order[changed[:-1]]
        of = np.empty(len(order), np.int64)
        of[order] = np.cumsum(changed[:-1]) - 1
        selected = np.zeros(shape[0], np.bool_)
        selected[first] = True
        selected = selected[row]
        ones = np.ones(int(selected.sum()))
        return cls(of, Sparse(of[row[selected]], column[selected], ones, (len(first), shape[1])))


class Different(NamedTuple):
    """The different weightings of D documents, (d, D), and which of them each of b is, (b,)."""

    weights: Array
    which: Integers


class Documents:
    """The documents of R rows: rows with the same references have the same document.

    `row` is the document of every row, (R,), and `first` the first row of every document, (D,).
    Where systems swap outputs of the same samples, all
    documents stay as they are, and what depends on them alone is the same for every swap.
    """

    def __init__(self, references: Sequence[Hashable]) -> None:
        numbers = {text: number for number, text in enumerate(dict.fromkeys(references))}
        self.number = len(numbers)
        self.row = np.array([numbers[text] for text in references], np.int64)
        self.first: list[int] = np.unique(self.row, return_index=True)[1].tolist()
        rows = np.arange(len(self.row))
        self._rows = Sparse(self.row, rows, np.ones(len(rows)), (self.number, len(rows)))

    def different(self, counts: Array) -> Different:
        """How often resamples have each document, of how often they have each row, (b, R)."""
        weights = self._rows.times(counts)
        numbers: dict[bytes, int] = {}
        which = [numbers.setdefault(draw.tobytes(), len(numbers)) for draw in weights]
        first = np.unique(which, return_index=True)[1]
        return Different(weights[first], np.array(which))


def drawn_sums(values: Array, counts: Array) -> Array:
    """The sum over the rows that each resample has, (b,), of values (b, R) or (R,)."""
    if values.ndim == 1:
        return np.asarray(counts @ values)
    return np.asarray(np.einsum("br,br->b", values, counts))


def different(numbers: Integers) -> Integers:
    """The different numbers in their order: sorting is faster here than `np.unique`'s table."""
    ordered = np.sort(numbers)
    return ordered[np.flatnonzero(np.diff(ordered, prepend=-1))]
