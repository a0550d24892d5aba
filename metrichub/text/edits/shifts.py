"""Edits with block shifts, as the translation edit rate counts them, of many pairs at a time.

The search is that of `tercom`, made for all pairs in step. Few pairs are searched one by one, as
are those whose path leaves sacrebleu's beam.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from metrichub.text.column import Texts
from metrichub.text.edits.align import levenshtein
from metrichub.text.edits.banded import beam_excess, sacrebleu_band
from metrichub.text.edits.bits import (
    SIZE,
    Cells,
    Paths,
    Swaps,
    Tables,
    distances,
    fill,
    mirrored,
    paths,
    shift_candidates,
    swapped_distances,
)
from metrichub.text.edits.tercom import ENOUGH, FARTHEST, LONGEST, Shift, search
from metrichub.text.ngrams.interning import InternedIds, intern_both
from metrichub.text.ngrams.overlap import clipped_matches, lengths
from metrichub.text.ragged import Flags, Integers, Words, offsets_of, positions_within, take_rows

ROUND, ROW = 350, 13
"""The cost of a shift of all pairs in step, and of a row of their tables, in words of one pair.

A few long texts are better searched alone than in step with shorter ones, and so are few texts.
"""

CELLS = 1 << 16
"""Numbers of an array of bits: many pairs a step, and bounded memory."""

_ONE = np.uint64(1)


def shift_edits(prediction: Texts, reference: Texts, tokenizer: str) -> Integers:
    """The shifts, insertions, deletions and substitutions that lead to the reference, (N,)."""
    predicted, expected = lengths(prediction, tokenizer), lengths(reference, tokenizer)
    common = clipped_matches(prediction, reference, tokenizer, 1).matches[:, 0]
    edits = levenshtein(prediction, reference, tokenizer)
    # No order of the words needs fewer edits than the words that one text has too many; a shift
    # counts one edit itself, so that it takes two to spare for the sum to fall.
    goal = np.maximum(predicted, expected) - common + 1
    unsure = (edits > goal) | (beam_excess(edits, predicted, expected) > 0)
    rows = np.flatnonzero(unsure & (predicted > 0) & (expected > 0))
    if len(rows):
        texts = intern_both(prediction, reference, tokenizer)
        for portion in _portions(rows, predicted[rows], expected[rows]):
            edits[portion] = _edits(texts, portion, goal[portion])
    return edits


def shifts_made(words: str, reference: str) -> list[Shift]:
    """The shifts that `shift_edits` makes, in order, in texts whose characters stand for words."""
    if not (words and reference):
        return []
    common = (Counter(words) & Counter(reference)).total()
    return search(words, reference, max(len(words), len(reference)) - common + 1).shifts


def _portions(rows: Integers, heights: Integers, widths: Integers) -> Iterator[Integers]:
    """The rows in portions whose bits are so many numbers, the one with the most words first."""
    numbers = -(-widths // SIZE)
    order = np.lexsort((-heights, numbers))
    rows, numbers, heights = rows[order], numbers[order], heights[order]
    start = 0
    while start < len(rows):
        alike = int(np.searchsorted(numbers, numbers[start], side="right"))
        end = min(alike, start + 1 + CELLS // int(heights[start] * numbers[start]))
        yield rows[start:end]
        start = end


def _edits(texts: InternedIds, rows: Integers, goal: Integers) -> Integers:
    """The edits of some rows, the one with the most words first, (P,)."""
    heights, widths = np.diff(texts.segments).reshape(-1, 2)[rows].T
    edits, left, pairs = np.zeros(len(rows), np.int64), np.arange(len(rows)), None
    if _alone(heights, widths) < len(rows):
        pairs = _Searches.of(texts, rows, goal)
        left = pairs.search()
        edits = pairs.made + pairs.distance
    for pair in left.tolist():
        words, reference = texts.strings[2 * rows[pair] : 2 * rows[pair] + 2]
        shifts = tried = 0
        if pairs:
            words, shifts, tried = pairs.moved(pair, words), pairs.made[pair], pairs.tried[pair]
        after = search(words, reference, int(goal[pair]), int(tried))
        edits[pair] = shifts + len(after.shifts) + after.distance
    return edits


def _alone(heights: Integers, widths: Integers) -> int:
    """How many pairs, of those with the most words, are searched sooner alone; heights fall."""
    if not len(heights):
        return 0
    alone = np.append(0, np.cumsum(heights))
    row = ROW * -(-int(widths.max()) // SIZE)
    return int(np.argmin(alone + np.append(ROUND + row * heights, 0)))


class _Tries(NamedTuple):
    """C shifts of `length` words; see `Shift`. Each (C,)."""

    pair: Integers
    start: Integers
    length: Integers
    target: Integers

    def swaps(self, heights: Integers) -> Swaps:
        """The words that change places; a target inside the run counts from the run's end."""
        pair, start, length, target = self
        end, before = start + length, target < start
        behind = np.where(target > end, target, np.minimum(target + length, heights[pair]))
        first, middle = np.where(before, target, start), np.where(before, start, end)
        return Swaps(pair, first, middle, np.where(before, end, behind))


@dataclass(frozen=True, eq=False)
class _Searches:
    """P pairs, the one with the most words first; the last four members change in place.

    Attributes:
        heights: the number of words of each text, (P,).
        widths: the number of words of each reference, (P,).
        goal: at this distance or below, no further shift matters, (P,).
        bits: the columns with the same word, of all T words and of none; and mirrored, (2, W, T+1).
        order: which word stands at each place, or T, (H, P).
        made: how many shifts were made, (P,).
        distance: the edits after them, (P,).
        tried: how many shifts were tried, (P,).
    """

    heights: Integers
    widths: Integers
    goal: Integers
    bits: Words
    order: Integers
    made: Integers
    distance: Integers
    tried: Integers

    @classmethod
    def of(cls, texts: InternedIds, rows: Integers, goal: Integers) -> _Searches:
        """The pairs before any shift."""
        heights, widths = np.diff(texts.segments).reshape(-1, 2)[rows].T
        places, limits = take_rows(texts.offsets, rows)
        ids, sizes, place = texts.ids[places], np.diff(limits), positions_within(limits)
        predicted = place < np.repeat(heights, sizes)
        # Every word of a pair has its place in a table, where the columns with it are noted.
        tables = offsets_of(np.maximum.reduceat(ids, limits[:-1]) + 1)
        keys = ids + np.repeat(tables[:-1], sizes)
        columns = (place - np.repeat(heights, sizes))[~predicted]
        numbers = -(-int(widths.max()) // SIZE)
        noted = np.zeros((2, numbers * tables[-1]), np.uint64)
        for table, bits in zip(noted, (columns, SIZE * numbers - 1 - columns), strict=True):
            number, bit = np.divmod(bits, SIZE)
            np.add.at(table, number * tables[-1] + keys[~predicted], _ONE << bit.astype(np.uint64))
        count = int(heights.sum())
        bits = np.zeros((2, numbers, count + 1), np.uint64)
        bits[:, :, :-1] = noted.reshape(2, numbers, -1).take(keys[predicted], axis=2)
        order = np.full((heights[0], len(rows)), count)
        order[place[predicted], np.repeat(np.arange(len(rows)), heights)] = np.arange(count)
        return cls(heights, widths, goal, bits, order, *np.zeros((3, len(rows)), np.int64))

    def search(self) -> Integers:
        """Make shifts; the pairs that may need another and are to be searched alone.

        Those whose path may leave the beam are back at the start: their last shift isn't certain.
        """
        left, chosen = [], np.arange(len(self.goal))
        while True:
            alone = _alone(self.heights[chosen], self.widths[chosen])
            left.append(chosen[:alone])
            chosen = chosen[alone:]
            if not len(chosen):
                break
            tables = self._tables(chosen)
            cells = fill(tables)
            way, distance = paths(tables, cells), distances(tables, cells)
            self.distance[chosen] = distance
            leaves = _leave_beam(tables, way, distance)
            left.append(chosen[leaves])
            further = (distance > self.goal[chosen]) & ~leaves
            tries, number = _tries(tables, way, np.where(further, ENOUGH - self.tried[chosen], 0))
            self.tried[chosen] += number
            best, gain = _best(tables, cells, tries, distance)
            chosen = self._make(chosen[best.pair], gain, best.swaps(tables.heights))
        pairs = np.concatenate(left)
        unsure = pairs[self._unsure(pairs)]
        self.made[unsure] = self.tried[unsure] = 0
        self.order[:, unsure] = np.sort(self.order[:, unsure], axis=0)
        return pairs

    def moved(self, pair: int, words: str) -> str:
        """The words of a pair after the shifts that were made."""
        order = self.order[: self.heights[pair], pair]
        return "".join([words[place] for place in (order - order.min()).tolist()])

    def _tables(self, chosen: Integers) -> Tables:
        heights, widths = self.heights[chosen], self.widths[chosen]
        bits = self.bits.take(self.order[: heights[0], chosen], axis=2)
        same, mirrored = np.ascontiguousarray(bits.swapaxes(1, 2))
        return Tables(same, mirrored, heights, widths)

    def _unsure(self, chosen: Integers) -> Flags:
        """Whether the distance and the last shift may be others in the beam."""
        return beam_excess(self.distance[chosen], self.heights[chosen], self.widths[chosen]) > 0

    def _make(self, chosen: Integers, gain: Integers, swaps: Swaps) -> Integers:
        """Make a shift in some pairs; those that may need another are returned."""
        place = np.arange(len(self.order))[:, None]
        _, first, middle, end = swaps
        turn = first + end - middle
        source = np.where(place < turn, place + middle - first, place + middle - end)
        source = np.where((place < first) | (place >= end), place, source)
        self.order[:, chosen] = self.order[source, chosen]
        self.made[chosen] += 1
        self.distance[chosen] -= gain
        again: Flags = (self.distance[chosen] > self.goal[chosen]) | self._unsure(chosen)
        return chosen[again]


def _leave_beam(tables: Tables, way: Paths, distance: Integers) -> Flags:
    """Whether the path of each pair leaves sacrebleu's beam, (K,)."""
    leaves = beam_excess(distance, tables.heights, tables.widths) > 0
    chosen = np.flatnonzero(leaves)
    if len(chosen):
        heights = tables.heights[chosen]
        first, last = sacrebleu_band(heights, tables.widths[chosen])
        columns, lowest = (part[: heights[0], chosen] for part in (way.columns, way.lowest))
        outside = (lowest < first[1:]) | (columns > last[:-1])
        leaves[chosen] = (outside & (np.arange(len(outside))[:, None] < heights)).any(axis=0)
    return leaves


def _tries(tables: Tables, way: Paths, spare: Integers) -> tuple[_Tries, Integers]:
    """The shifts that Tercom tries, and how many they are of each pair, (K,).

    See `tercom`. Of a pair that has `spare` of them or more none are given.
    """
    pairs, width = len(spare), int(tables.widths.max()) + 2
    # How many words the path leaves to the left of each column.
    inside = np.arange(len(way.columns))[:, None] < tables.heights
    behind = np.where(inside, way.columns + 1, width - 1) + width * np.arange(pairs)
    targets = np.bincount(behind.ravel(), minlength=pairs * width).reshape(pairs, width)
    targets = targets.cumsum(axis=1)
    (pair, start, place, length), number = _runs(tables, way, targets, spare)
    again = np.repeat(np.arange(len(pair)), length + 1)
    at = (pair * width + place)[again] + positions_within(offsets_of(length + 1))
    target, first = targets.ravel()[at], again != np.append(-1, again[:-1])
    fresh = first | (target != np.append(-1, target[:-1]))
    again, target = again[fresh], target[fresh]
    number = np.maximum(number, np.bincount(pair[again], minlength=pairs))
    few = number[pair[again]] < spare[pair[again]]
    again = again[few]
    return _Tries(pair[again], start[again], length[again], target[few]), number


def _runs(
    tables: Tables, way: Paths, targets: Integers, spare: Integers
) -> tuple[Integers, Integers]:
    """The runs of words that Tercom shifts, and how many they are of each pair, (K,).

    (4, C): pair, where the run starts in both texts, and its length; once for each of its lengths.
    Of a pair that has `spare` of them or more not all are given.
    """
    pair, start, place = _starts(shift_candidates(tables, way, LONGEST) * (spare > 0))
    partner = targets[pair, place + 1] - 1
    longest = np.minimum(tables.heights[pair] - start, tables.widths[pair] - place)
    longest = np.minimum(longest, np.where(partner >= start, partner - start, LONGEST))
    longest[np.abs(place - start) > FARTHEST] = 0
    wrong, lacking = np.zeros((2, len(pair)), np.bool_)
    runs, number = [np.zeros((4, 0), np.int64)], np.zeros(len(spare), np.int64)
    for length in range(1, LONGEST + 1):
        enough = (longest >= length) & (number < spare)[pair]
        pair, start, place, longest = (each[enough] for each in (pair, start, place, longest))
        if not len(pair):
            break
        word, (half, bit) = start + length - 1, mirrored(place + length - 1, len(way.missed))
        same = (tables.mirrored[word, half, pair] >> bit & _ONE) > 0
        longest[~same] = 0
        wrong = wrong[enough] | way.wrong[word, pair]
        lacking = lacking[enough] | ((way.missed[half, pair] >> bit & _ONE) > 0)
        chosen = same & wrong & lacking
        run = np.stack((pair, start, place, np.full(len(pair), length)))[:, chosen]
        number += np.bincount(run[0], minlength=len(number))
        runs.append(run)
    return np.concatenate(runs, axis=1), number


def _starts(runs: Words) -> tuple[Integers, Integers, Integers]:
    """The pair of each mirrored bit, (H, W, K), and where its run starts in both texts."""
    _, numbers, pairs = runs.shape
    at = np.flatnonzero(runs)
    words, bits, flat = runs.ravel()[at], [np.zeros(0, np.uint8)], [at[:0]]
    while len(at):
        others = words & (words - _ONE)
        bits.append(np.bitwise_count((words ^ others) - _ONE))
        flat.append(at)
        several = others > 0
        words, at = others[several], at[several]
    number, pair = np.divmod(np.concatenate(flat), pairs)
    start, number = np.divmod(number, numbers)
    return pair, start, SIZE * (numbers - number) - 1 - np.concatenate(bits)


def _best(
    tables: Tables, cells: Cells, tries: _Tries, distance: Integers
) -> tuple[_Tries, Integers]:
    """The best shift of each pair for which one gains, and what it gains.

    Of equally good ones the longest is best, then the one from, then the one to furthest left.
    """
    size = int(max(tables.heights[0], tables.widths.max())).bit_length()
    most = (1 << size) - 1
    rank = (tries.length << size | most - tries.start) << size | most - tries.target
    bits = 2 * size + LONGEST.bit_length()
    keys = np.unique(tries.pair << bits | rank)
    tries = _unpacked(keys >> bits, keys, size)
    gain = distance[tries.pair] - swapped_distances(tables, cells, tries.swaps(tables.heights))
    best = np.zeros(len(distance), np.int64)
    np.maximum.at(best, tries.pair, np.maximum(gain, 0) << bits | keys & (1 << bits) - 1)
    pair = np.flatnonzero(best >> bits)
    return _unpacked(pair, best[pair], size), best[pair] >> bits


def _unpacked(pair: Integers, rank: Integers, size: int) -> _Tries:
    """Shifts of some pairs from their ranks, whose places take `size` bits."""
    most = (1 << size) - 1
    length = rank >> 2 * size & (1 << LONGEST.bit_length()) - 1
    return _Tries(pair, most - (rank >> size & most), length, most - (rank & most))
