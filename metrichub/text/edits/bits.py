"""Tables of edits of many pairs at a time, on rows of bits.

As in `tercom`, a row of a table is a few numbers whose bit j - 1 says something of column j, and so
of word j of the reference. Arrays of them are (H, W, K): a row for each word, numbers of W times
64 bits with the lowest first, and K pairs. These stand in the order of falling heights, so that
a row belongs to the first few of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from metrichub.text.ragged import Flags, Integers, Words, offsets_of

SIZE = 64
"""Bits of a number in an array."""

PORTION = 1 << 17
"""Rows that are computed again together, for shifts that are tried: bounded memory."""

_ONE, _ALL = np.uint64(1), ~np.uint64(0)
_HALVES = tuple(
    (np.uint64(bits), np.uint64(mask))
    for bits, mask in ((4, 0x0F0F0F0F0F0F0F0F), (2, 0x3333333333333333), (1, 0x5555555555555555))
)
"""How many bits the halves of a byte have, and theirs, and which are the lower ones."""


class Tables(NamedTuple):
    """K pairs of texts.

    Attributes:
        same: the columns with the same word, for each word, (H, W, K).
        mirrored: the same, with the highest bit for column 1, (H, W, K).
        heights: the number of words of each, (K,).
        widths: the number of words of each reference, (K,).
    """

    same: Words
    mirrored: Words
    heights: Integers
    widths: Integers

    @property
    def counts(self) -> list[int]:
        """How many of the pairs have each row, H."""
        return _at_least(self.heights, len(self.same))


class Cells(NamedTuple):
    """The costs of the rows of the tables, the one before the words first, (H+1, W, K) each.

    `vp` has the columns that cost more than the one before, `no_vn` those that don't cost less.
    Of the cells of a word, `d0` has those that cost as much as the one before both words, `no_hp`
    those that don't cost more than the one above; (H, W, K).
    """

    vp: Words
    no_vn: Words
    d0: Words
    no_hp: Words


class Paths(NamedTuple):
    """The path that Tercom takes through each table.

    Attributes:
        columns: where it leaves each row but the last downwards, (H, K).
        lowest: the first column that it is in, in all rows but the one before the words, (H, K).
        wrong: whether each word has no equal partner, (H, K).
        missed: the words of the reference without one, as mirrored bits, (W, K).
    """

    columns: Integers
    lowest: Integers
    wrong: Flags
    missed: Words


class Swaps(NamedTuple):
    """C shifts: words from `first` and words from `middle` to before `end` change places, (C,)."""

    pair: Integers
    first: Integers
    middle: Integers
    end: Integers


def mirrored(places: Integers, numbers: int) -> tuple[Integers, Words]:
    """The number and the bit in it, where words of a reference, from 0, are mirrored."""
    number, bit = np.divmod(SIZE * numbers - 1 - places, SIZE)
    return number, bit.astype(np.uint64)


def fill(tables: Tables) -> Cells:
    """All cells of all tables."""
    height, words, pairs = tables.same.shape
    cells = np.empty((height + 1, 4, words, pairs), np.uint64)
    cells[0, :2] = _ALL
    spare = np.empty((2, words, pairs), np.uint64)
    rows = zip(tables.same, cells, cells[1:], tables.counts, strict=False)
    for same, above, here, count in rows:
        _next_row(same[:, :count], above[:2, :, :count], here[:, :, :count], spare[:, :, :count])
    vp, no_vn, d0, no_hp = cells.swapaxes(0, 1)
    return Cells(vp, no_vn, d0[1:] | ~no_vn[:-1], no_hp[1:])


def distances(tables: Tables, cells: Cells) -> Integers:
    """The edits of each pair, (K,)."""
    rows = (part[tables.heights, :, np.arange(len(tables.heights))] for part in cells[:2])
    return _last_cells(tables.heights, tables.widths, *(row.T for row in rows))


def paths(tables: Tables, cells: Cells) -> Paths:
    """The way back from the last cells of all tables.

    Tercom prefers to pair the two words of a cell, then to delete its own, then to insert.
    """
    height, words, pairs = tables.same.shape
    paired = tables.mirrored | ~_reversed(cells.d0)
    inserted = _reversed(cells.no_hp) & ~paired
    stops = ~inserted
    # One bit is set, for the column; mirrored, so that a carry runs over insertions downwards.
    number, bit = mirrored(tables.widths - 1, words)
    here = np.where(number == np.arange(words)[:, None], _ONE << bit, 0)
    walk = np.zeros((height, 2, words, pairs), np.uint64)
    spare = np.empty((words, pairs), np.uint64)
    for row, count in reversed([*enumerate(tables.counts)]):
        part, step = here[:, :count], spare[:, :count]
        cell, left = walk[row, :, :, :count]
        _add(part, inserted[row, :, :count], cell)
        np.bitwise_and(cell, stops[row, :, :count], out=cell)
        np.bitwise_and(cell, paired[row, :, :count], out=step)
        _add(cell, step, left)
        part[:] = left
    cell, left = walk.swapaxes(0, 1)
    hits = cell & tables.mirrored
    wrong: Flags = np.logical_not(hits.any(axis=1))
    return Paths(_columns(left), _columns(cell), wrong, ~np.bitwise_or.reduce(hits, axis=0))


def shift_candidates(tables: Tables, paths: Paths, longest: int) -> Words:
    """Where runs of equal words start that have wrong and missed ones, as mirrored bits.

    (H, W, K); some may need more than `longest` words for that.
    """
    run = tables.mirrored.copy()
    marks = np.where(paths.wrong[:, None], run, 0), run & paths.missed
    filled = 1
    while filled < longest:
        # Of the words behind as many as are known: a row further on for each column.
        for mark in marks:
            mark[:-filled] |= run[:-filled] & _shift(mark[filled:], filled)
        run[:-filled] &= _shift(run[filled:], filled)
        run[-filled:] = 0
        filled *= 2
    wrong, missed = marks
    both: Words = wrong & missed
    return both


def swapped_distances(tables: Tables, cells: Cells, swaps: Swaps) -> Integers:
    """The edits after each shift, (C,)."""
    left = tables.heights[swaps.pair] - swaps.first
    # Heights that 16 bits hold are sorted by their digits.
    order = np.argsort(-left.astype(np.int16), kind="stable")
    edits = np.empty(len(order), np.int64)
    start = 0
    while start < len(order):
        size = 1 + PORTION // int(left[order[start]] * tables.same.shape[1])
        some = order[start : start + size]
        edits[some] = _swapped(tables, cells, Swaps(*(column[some] for column in swaps)))
        start += size
    return edits


def _swapped(tables: Tables, cells: Cells, swaps: Swaps) -> Integers:
    """The edits after shifts in the order of falling numbers of rows from the first that changes.

    The rows before stay as they are. All end together, so that a row belongs to the first few.
    """
    _, words, pairs = tables.same.shape
    pair, first, middle, end = swaps
    heights = tables.heights[pair]
    left = heights - first
    # The rows of each shift in their new order.
    starts, ends = np.stack((middle, first, end)), np.stack((end, middle, heights))
    offsets = offsets_of((ends - starts).T.ravel())
    rows = np.arange(offsets[-1]) + np.repeat(starts.T.ravel() - offsets[:-1], np.diff(offsets))
    at = (rows * words * pairs + np.repeat(pair, left)) + pairs * np.arange(words)[:, None]
    masks, place = tables.same.ravel().take(at), offsets[:-1:3].copy()
    state = np.empty((4, words, len(pair)), np.uint64)
    state[0], state[1] = (part[first, :, pair].T for part in cells[:2])
    spare = np.empty((3, words, len(pair)), np.uint64)
    for count in reversed(_at_least(left, int(left[0]))):
        same = spare[0, :, :count]
        np.take(masks, place[:count], axis=1, out=same, mode="clip")
        _next_row(same, state[:2, :, :count], state[:, :, :count], spare[1:, :, :count])
        place[:count] += 1
    return _last_cells(heights, tables.widths[pair], state[0], state[1])


def _next_row(same: Words, above: Words, here: Words, spare: Words) -> None:
    """Compute a row, (4, W, K), from the one above, of which it may take the place.

    Myers (1999): Xv = M | VN, Xh = (((M & VP) + VP) ^ VP) | M, HP = VN | ~(Xh | VP), HN = Xh & VP,
    and, with HP << 1 | 1 and HN << 1 for HP and HN, VP = HN | ~(Xv | HP), VN = HP & Xv. VN and HP
    are inverted here, which takes fewer operations.
    """
    (vp, no_vn), (new_vp, new_no_vn, xh, no_hp), (shifted, other) = above, here, spare
    np.bitwise_and(same, vp, out=xh)
    _add(xh, vp, xh)
    np.bitwise_xor(xh, vp, out=xh)
    np.bitwise_or(xh, same, out=xh)
    np.bitwise_or(xh, vp, out=no_hp)
    np.bitwise_and(no_hp, no_vn, out=no_hp)
    np.bitwise_and(xh, vp, out=new_vp)
    _shift(new_vp, 1, new_vp)
    _shift(no_hp, 1, shifted)
    np.invert(same, out=other)
    np.bitwise_and(other, no_vn, out=new_no_vn)
    np.bitwise_and(new_no_vn, shifted, out=other)
    np.bitwise_or(new_vp, other, out=new_vp)
    np.bitwise_or(new_no_vn, shifted, out=new_no_vn)


def _last_cells(heights: Integers, widths: Integers, vp: Words, no_vn: Words) -> Integers:
    """The cost of the last cell of each table, by its last row, (W, K)."""
    unused = np.clip(SIZE * np.arange(1, len(vp) + 1)[:, None] - widths, 0, SIZE)
    inside = np.where(unused < SIZE, _ALL >> np.minimum(unused, SIZE - 1).astype(np.uint64), 0)
    rises, falls = np.bitwise_count(vp & inside), np.bitwise_count(~no_vn & inside)
    costs: Integers = heights + rises.sum(0, np.int64) - falls.sum(0, np.int64)
    return costs


def _columns(bits: Words) -> Integers:
    """The columns that mirrored bits, (H, W, K), stand for, one at most of each number, (H, K)."""
    below = _add(bits, _ALL, np.empty_like(bits))
    columns: Integers = SIZE * bits.shape[1] - np.bitwise_count(below).sum(1, np.int64)
    return columns


def _add(first: Words, second: Words | np.uint64, out: Words) -> Words:
    """The sums of numbers, (..., W, K); `out` may be the first of them."""
    np.add(first, second, out=out)
    if out.shape[-2] > 1:
        carries = out < second
        for word in range(1, out.shape[-2]):
            carry, row = carries[..., word - 1, :], out[..., word, :]
            row += carry
            carries[..., word, :] |= row < carry
    return out


def _shift(numbers: Words, bits: int, out: Words | None = None) -> Words:
    """Numbers, (..., W, K), shifted to the left; `out` may be they."""
    if numbers.shape[-2] == 1:
        return np.left_shift(numbers, np.uint64(bits), out=out)
    carried = numbers[..., :-1, :] >> np.uint64(SIZE - bits)
    shifted = np.left_shift(numbers, np.uint64(bits), out=out)
    shifted[..., 1:, :] |= carried
    return shifted


def _reversed(numbers: Words) -> Words:
    """Numbers, (..., W, K), with their bits in reverse order."""
    numbers = numbers[..., ::-1, :].byteswap()
    for bits, mask in _HALVES:
        low = numbers & mask
        low <<= bits
        numbers >>= bits
        numbers &= mask
        numbers |= low
    return numbers


def _at_least(falling: Integers, most: int) -> list[int]:
    """How many of some numbers are at least 1, 2 and so on up to `most`."""
    counts: list[int] = np.searchsorted(-falling, -np.arange(1, most + 1), side="right").tolist()
    return counts
