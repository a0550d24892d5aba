"""Edits with block shifts, as the translation edit rate counts them, of many pairs at a time.

Snover et al. (2006): while a shift of a run of words lowers the edit distance, the best one is
made; each counts one edit. Which shifts are tried, and which of several equal ones is best,
follows Tercom 0.10 as sacrebleu 2.6 does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from rapidfuzz.distance import Levenshtein

from metrichub.text.column import Texts
from metrichub.text.edits.align import levenshtein
from metrichub.text.edits.banded import (
    BEAM,
    Alignment,
    Tables,
    align,
    sacrebleu_band,
    sizes,
    stays_inside,
    within,
)
from metrichub.text.ngrams.interning import intern_both
from metrichub.text.ngrams.overlap import clipped_matches, lengths
from metrichub.text.ragged import Flags, Integers, offsets_of, positions_within

T = TypeVar("T", str, list[str])

LONGEST = 10
"""Words that are shifted together at most."""

FARTHEST = 50
"""How far apart the two places of a run of words may be."""

ENOUGH = 1000
"""The search ends, without the shift that it is about to find, at so many tries."""

START_BITS, OFFSET_BITS = 32, 7
PAIR_BITS = START_BITS + OFFSET_BITS
"""How a matching word is packed into one number: its pair, its offset and its place."""

CELLS = 1 << 21
"""Tables are worked on together up to so many cells: many pairs a step, and bounded memory."""


class Shifts(NamedTuple):
    """C ways to shift the words of a pair's text; see `Shift`. Each (C,)."""

    pair: Integers
    start: Integers
    end: Integers
    target: Integers

    def take(self, chosen: Flags) -> Shifts:
        """The shifts that a mask (C,) keeps."""
        return Shifts(*(column[chosen] for column in self))


class Shift(NamedTuple):
    """Moves the words from `start` to before `end` to `target`, a position outside this run."""

    start: int
    end: int
    target: int

    def __call__(self, words: T) -> T:
        """The words after the shift. A target inside the run counts from the run's end."""
        start, end, target = self
        if target < start:
            return words[:target] + words[start:end] + words[target:start] + words[end:]
        behind = target if target > end else target + end - start
        return words[:start] + words[end:behind] + words[start:end] + words[behind:]


@dataclass(frozen=True, eq=False)
class Search:
    """P pairs of texts, of which the first are being shifted; the members change in place.

    Attributes:
        words: the texts, a character a word, (P,).
        reference: the references in the same alphabet, (P,).
        distance: the edits between the two, (P,).
        goal: at this distance or below, no further shift matters, (P,).
        beamed: whether the distance may depend on the beam, (P,).
        tried: how many shifts were looked at, (P,).
        open: whether a shift may still be made, (P,).
        made: the shifts so far, (P,).
    """

    words: list[str]
    reference: list[str]
    distance: Integers
    goal: Integers
    beamed: Flags
    tried: Integers
    open: Flags
    made: list[list[Shift]]

    @classmethod
    def of(
        cls, words: list[str], reference: list[str], distance: Integers, goal: Integers
    ) -> Search:
        """The search before any shift, for texts that aren't empty."""
        beamed = ~stays_inside(distance, sizes(words), sizes(reference))
        undone = beamed | (distance > goal)
        tried = np.zeros(len(words), np.int64)
        return cls(words, reference, distance, goal, beamed, tried, undone, [[] for _ in words])

    def run(self) -> None:
        """Make shifts until none gains."""
        while self.open.any():
            for chosen in _portions(self):
                _improve(self, chosen)


def shift_edits(prediction: Texts, reference: Texts, tokenizer: str) -> Integers:
    """The shifts, insertions, deletions and substitutions that lead to the reference, (N,)."""
    predicted, expected = lengths(prediction, tokenizer), lengths(reference, tokenizer)
    common = clipped_matches(prediction, reference, tokenizer, 1).matches[:, 0]
    edits = levenshtein(prediction, reference, tokenizer)
    # No order of the words needs fewer edits than the words that one text has too many; a shift
    # counts one edit itself, so that it takes two to spare for the sum to fall.
    goal = np.maximum(predicted, expected) - common + 1
    unsure = (edits > goal) | ~stays_inside(edits, predicted, expected)
    rows = np.flatnonzero(unsure & (predicted > 0) & (expected > 0))
    if len(rows):
        texts = intern_both(prediction, reference, tokenizer).strings
        words, aims = ([texts[2 * row + side] for row in rows.tolist()] for side in (0, 1))
        search = Search.of(words, aims, edits[rows], goal[rows])
        search.run()
        edits[rows] = search.distance + sizes(search.made)
    return edits


def best_shifts(words: list[str], reference: list[str]) -> list[list[Shift]]:
    """All shifts that are made, in order, in texts whose characters represent words, (P,)."""
    distance = np.array(list(map(Levenshtein.distance, words, reference)), np.int64)
    made: list[list[Shift]] = [[] for _ in words]
    rows = [row for row, pair in enumerate(zip(words, reference, strict=True)) if all(pair)]
    if rows:
        prediction, expected = ([texts[row] for row in rows] for texts in (words, reference))
        search = Search.of(prediction, expected, distance[rows], np.zeros(len(rows), np.int64))
        search.run()
        for row, shifts in zip(rows, search.made, strict=True):
            made[row] = shifts
    return made


def _portions(search: Search) -> Iterator[Integers]:
    """The open pairs in portions of similar length; those that need the beam by themselves."""
    for beamed in (False, True):
        rows = np.flatnonzero(search.open & (search.beamed == beamed))
        words = sizes([search.words[row] for row in rows.tolist()])
        words += sizes([search.reference[row] for row in rows.tolist()])
        order = np.argsort(words, kind="stable")
        for portion in _cut(words[order] // 2):
            yield rows[order[portion]]


def _cut(lengths: Integers) -> Iterator[slice]:
    """Portions of pairs of given mean lengths whose tables have about `CELLS` cells together."""
    cells = np.cumsum(lengths * np.minimum(lengths, 2 * BEAM))
    limits = np.flatnonzero(np.diff(cells // CELLS)) + 1
    for first, last in pairwise([0, *limits.tolist(), len(lengths)]):
        if first < last:
            yield slice(first, last)


def _improve(search: Search, chosen: Integers) -> None:
    """Make the best shift of each chosen pair, or close the pair."""
    words = [search.words[row] for row in chosen.tolist()]
    reference = [search.reference[row] for row in chosen.tolist()]
    beamed = bool(search.beamed[chosen[0]])
    tables = Tables.of(words, reference)
    alignment = align(
        tables, sacrebleu_band(tables) if beamed else within(tables, search.distance[chosen])
    )
    search.distance[chosen] = alignment.distance
    search.open[chosen] = False
    shifts, tried = _candidates(tables, alignment)
    search.tried[chosen] += tried
    shifts = shifts.take(search.tried[chosen[shifts.pair]] < ENOUGH)
    pairs = shifts.pair.tolist()
    single = list(map(Shift, *(column.tolist() for column in shifts[1:])))
    moved = [shift(words[pair]) for shift, pair in zip(single, pairs, strict=True)]
    aims = [reference[pair] for pair in pairs]
    gain = _gains(moved, aims, alignment.distance[shifts.pair], beamed)
    for best in _best(shifts, gain).tolist():
        row = chosen[pairs[best]]
        search.words[row] = moved[best]
        search.made[row].append(single[best])
        search.distance[row] -= gain[best]
        search.open[row] = search.distance[row] > search.goal[row]


def _candidates(tables: Tables, alignment: Alignment) -> tuple[Shifts, Integers]:
    """The shifts that Tercom tries, sorted by pair, and how many they are of each pair.

    A run of words is shifted that the reference has elsewhere, if some of it is wrong where it
    stands and some of it is missed where it goes to. It goes behind the partner of the word
    before that place, and behind the partner of each word there. Of a pair with far too many
    shifts none are given.
    """
    count = len(tables.heights)
    pair, start, place, run = _runs(tables)
    wrong, missed = _next(alignment.wrong), _next(alignment.missed)
    shortest = 1 + np.maximum(wrong[pair, start] - start, missed[pair, place] - place)
    partner = alignment.targets[pair, place + 1] - 1
    longest = np.where(partner >= start, np.minimum(run, partner - start), run)
    number = np.maximum(longest - shortest + 1, 0)
    tried = np.bincount(pair, number, count).astype(np.int64)
    number[tried[pair] >= ENOUGH] = 0
    chosen, more = _repeated(number)
    length = shortest[chosen] + more
    again, offset = _repeated(length + 1)
    chosen, length = chosen[again], length[again]
    pair, start, place = pair[chosen], start[chosen], place[chosen] + offset
    target = alignment.targets[pair, place]
    fresh = (offset == 0) | (target != alignment.targets[pair, place - 1])
    shifts = Shifts(pair, start, start + length, target).take(fresh)
    return shifts, np.maximum(tried, np.bincount(shifts.pair, minlength=count))


def _runs(tables: Tables) -> tuple[Integers, Integers, Integers, Integers]:
    """The words that the reference has too: pair, both places, and for how long both are alike.

    Sorted by pair, by the distance of the two places, and by place: a run is what has consecutive
    keys.
    """
    words, reference = tables.words.T.copy(), tables.reference.T.copy()
    height, width = len(words), len(reference)
    parts = []
    for offset in range(-min(height - 1, FARTHEST), min(width - 1, FARTHEST) + 1):
        first, last = max(0, -offset), min(height, width - offset)
        mine = words[first:last]
        same = (mine == reference[first + offset : last + offset]) & (mine > 0)
        start, pair = np.divmod(np.flatnonzero(same), len(tables.words))
        parts.append((pair << PAIR_BITS) + ((offset + FARTHEST) << START_BITS) + start + first)
    keys = np.sort(np.concatenate(parts))
    ends = np.flatnonzero(np.diff(keys, append=-1) != 1) + 1
    positions = np.arange(len(keys))
    run = np.minimum(ends[np.searchsorted(ends, positions, side="right")] - positions, LONGEST)
    start = keys & ((1 << START_BITS) - 1)
    place = start + (keys >> START_BITS & (1 << OFFSET_BITS) - 1) - FARTHEST
    return keys >> PAIR_BITS, start, place, run


def _next(chosen: Flags) -> Integers:
    """The first chosen column at or behind every column, or the number of columns; (P, K)."""
    width = chosen.shape[1]
    columns = np.where(chosen, np.arange(width), width)
    return np.minimum.accumulate(columns[:, ::-1], axis=1)[:, ::-1]


def _repeated(number: Integers) -> tuple[Integers, Integers]:
    """Every position as often as `number` says, and which time it is, from 0."""
    return np.repeat(np.arange(len(number)), number), positions_within(offsets_of(number))


def _gains(moved: list[str], reference: list[str], before: Integers, beamed: bool) -> Integers:
    """How many edits each of C shifts saves, (C,); what saves nothing may be below 0 or 0.

    The beam can only make distances longer, so it matters where something seems to be saved.
    """
    distances = map(Levenshtein.distance, moved, reference)
    gain = before - np.fromiter(distances, np.int64, len(moved))
    hopeful = np.flatnonzero(gain > 0) if beamed else np.zeros(0, np.int64)
    for portion in _cut(sizes([moved[c] for c in hopeful.tolist()])):
        chosen = hopeful[portion]
        some = chosen.tolist()
        tables = Tables.of([moved[c] for c in some], [reference[c] for c in some])
        gain[chosen] = before[chosen] - align(tables, sacrebleu_band(tables)).distance
    return gain


def _best(shifts: Shifts, gain: Integers) -> Integers:
    """The position of each pair's best shift, if one gains.

    Of equally good ones the longest is best, then the one from, then the one to furthest left.
    """
    some = np.flatnonzero(gain > 0)
    pair, start, end, target = (column[some] for column in shifts)
    order = np.lexsort((target, start, start - end, -gain[some], pair))
    leads = np.diff(pair[order], prepend=-1) != 0
    best: Integers = some[order[leads]]
    return best
