"""Edits with block shifts, as the translation edit rate counts them, of many pairs at a time.

Snover et al. (2006): while a shift of a run of words lowers the edit distance, the best one is
made; each counts one edit. Which shifts are tried, and which of several equal ones is best,
follows Tercom 0.10 as sacrebleu 2.6 does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein

from metrichub.text.align import levenshtein
from metrichub.text.column import Texts
from metrichub.text.ngrams import clipped_matches, lengths
from metrichub.text.paths import Alignment, Tables, align, beam, stays_inside, within
from metrichub.text.ragged import Flags, Integers, offsets_of, positions_within
from metrichub.text.ranks import cut_string, joint

LONGEST = 10
"""Words that are shifted together at most."""

FARTHEST = 50
"""How far apart the two places of a run of words may be."""

ENOUGH = 1000
"""The search ends, without the shift that it is about to find, at so many tries."""

START_BITS, OFFSET_BITS = 32, 7
PAIR_BITS = START_BITS + OFFSET_BITS
"""How a matching word is packed into one number: its pair, its offset and its place."""

CELLS = 1 << 16
"""About so many cells of tables are worked on at a time: what the processor's cache holds."""


class Shifts(NamedTuple):
    """C ways to shift `length` words of a pair's text from `start` to `target`, each (C,)."""

    pair: Integers
    start: Integers
    length: Integers
    target: Integers

    def take(self, chosen: Flags) -> Shifts:
        """The shifts that a mask (C,) keeps."""
        return Shifts(*(column[chosen] for column in self))


@dataclass(eq=False)
class Search:
    """The texts of P pairs while they are being shifted.

    Attributes:
        words: the texts, a character a word, (P,).
        reference: the references in the same alphabet, (P,).
        distance: the edits between the two, (P,).
        least: a bound that no shift can lower the distance below, (P,).
        beamed: whether the distance may depend on the beam, (P,).
        shifts: how many were made, (P,).
        tried: how many were looked at, (P,).
        open: whether shifts may still lower the sum of edits, (P,).
    """

    words: list[str]
    reference: list[str]
    distance: Integers
    least: Integers
    beamed: Flags
    shifts: Integers
    tried: Integers
    open: Flags


def shift_edits(prediction: Texts, reference: Texts, tokenizer: str) -> Integers:
    """Shifts, insertions, deletions and substitutions that give the reference, (N,)."""
    said, wanted = lengths(prediction, tokenizer), lengths(reference, tokenizer)
    common = clipped_matches(prediction, reference, tokenizer, 1).matches[:, 0]
    least = np.maximum(said, wanted) - common
    edits = levenshtein(prediction, reference, tokenizer)
    beamed = ~stays_inside(edits, said, wanted)
    # A shift counts one edit itself, so only two edits above the bound leave room for a gain.
    rows = np.flatnonzero((beamed | (edits - least > 1)) & (said > 0) & (wanted > 0))
    if len(rows):
        texts = _texts(prediction, reference, tokenizer)
        search = Search(
            *(
                [texts[2 * row] for row in rows.tolist()],
                [texts[2 * row + 1] for row in rows.tolist()],
            ),
            *(edits[rows], least[rows], beamed[rows]),
            *np.zeros((2, len(rows)), np.int64),
            np.ones(len(rows), np.bool_),
        )
        while search.open.any():
            for chosen in _portions(search):
                _improve(search, chosen)
        edits[rows] = search.distance + search.shifts
    return edits


def _texts(prediction: Texts, reference: Texts, tokenizer: str) -> list[str]:
    """Predictions and references in turn, with a character for every word."""
    together = joint(prediction, reference, tokenizer)
    return cut_string(together.ranks + 0x800 * (together.ranks >= 0xD800), together.segments)


def _portions(search: Search) -> Iterator[Integers]:
    """The open pairs in portions of similar length; those that need the beam by themselves."""
    for beamed in (False, True):
        rows = np.flatnonzero(search.open & (search.beamed == beamed))
        sizes = np.array([len(search.words[r]) + len(search.reference[r]) for r in rows.tolist()])
        rows = rows[np.argsort(sizes, kind="stable")]
        cells = np.cumsum(np.sort(sizes) ** 2 // 4)
        yield from np.split(rows, np.flatnonzero(np.diff(cells // CELLS)) + 1) if len(rows) else ()


def _improve(search: Search, chosen: Integers) -> None:
    """Make the best shift of each chosen pair, or close the pair."""
    words = [search.words[row] for row in chosen.tolist()]
    reference = [search.reference[row] for row in chosen.tolist()]
    beamed = bool(search.beamed[chosen[0]])
    tables = Tables.of(words, reference)
    alignment = align(tables, beam(tables) if beamed else within(tables, search.distance[chosen]))
    search.distance[chosen] = alignment.distance
    search.open[chosen] = False
    shifts, tried = _candidates(tables, alignment)
    search.tried[chosen] += tried
    shifts = shifts.take(search.tried[chosen[shifts.pair]] < ENOUGH)
    moved = _moved(words, shifts)
    aims = [reference[p] for p in shifts.pair.tolist()]
    gain = _gains(moved, aims, alignment.distance[shifts.pair], beamed)
    for best in _best(shifts, gain).tolist():
        row = chosen[shifts.pair[best]]
        search.words[row] = moved[best]
        search.distance[row] -= gain[best]
        search.shifts[row] += 1
        search.open[row] = search.distance[row] - search.least[row] > 1


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
    shifts = Shifts(pair, start, length, target).take(fresh)
    return shifts, np.maximum(tried, np.bincount(shifts.pair, minlength=count))


def _runs(tables: Tables) -> tuple[Integers, Integers, Integers, Integers]:
    """The words that the reference has too: pair, both places, and how long both go on alike."""
    words, reference = tables.words.T.copy(), tables.reference.T.copy()
    height, width = len(words), len(reference)
    found = []
    for offset in range(-min(height - 1, FARTHEST), min(width - 1, FARTHEST) + 1):
        first, last = max(0, -offset), min(height, width - offset)
        mine = words[first:last]
        same = (mine == reference[first + offset : last + offset]) & (mine > 0)
        start, pair = np.divmod(np.flatnonzero(same), len(tables.words))
        found.append((pair << PAIR_BITS) + ((offset + FARTHEST) << START_BITS) + start + first)
    keys = np.sort(np.concatenate(found))
    ends = np.flatnonzero(np.diff(keys, append=-1) != 1) + 1
    positions = np.arange(len(keys))
    run = np.minimum(ends[np.searchsorted(ends, positions, side="right")] - positions, LONGEST)
    start = keys & ((1 << START_BITS) - 1)
    offset = (keys >> START_BITS & (1 << OFFSET_BITS) - 1) - FARTHEST
    return keys >> PAIR_BITS, start, start + offset, run


def _next(chosen: Flags) -> Integers:
    """The first chosen column at or behind every column, or the number of columns; (P, K)."""
    width = chosen.shape[1]
    columns = np.where(chosen, np.arange(width), width)
    return np.minimum.accumulate(columns[:, ::-1], axis=1)[:, ::-1]


def _repeated(number: Integers) -> tuple[Integers, Integers]:
    """Every position as often as `number` says, and which time it is, from 0."""
    return np.repeat(np.arange(len(number)), number), positions_within(offsets_of(number))


def _moved(words: list[str], shifts: Shifts) -> list[str]:
    """The texts after each shift, (C,). A target inside the run counts from the run's end."""
    moved = []
    for pair, start, length, target in zip(*map(np.ndarray.tolist, shifts), strict=True):
        text, end = words[pair], start + length
        if target < start:
            moved.append(text[:target] + text[start:end] + text[target:start] + text[end:])
        else:
            behind = target if target > end else target + length
            moved.append(text[:start] + text[end:behind] + text[start:end] + text[behind:])
    return moved


def _gains(
    moved: list[str], reference: list[str], before: Integers, beamed: bool
) -> Integers:
    """How many edits each of C shifts saves, (C,); what saves nothing may be below 0 or 0.

    The beam can only make distances longer, so it matters where something seems to be saved.
    """
    distances = map(Levenshtein.distance, moved, reference)
    gain = before - np.fromiter(distances, np.int64, len(moved))
    hopeful = np.flatnonzero(gain > 0).tolist() if beamed else []
    if hopeful:
        tables = Tables.of([moved[c] for c in hopeful], [reference[c] for c in hopeful])
        gain[hopeful] = before[hopeful] - align(tables, beam(tables)).distance
    return gain


def _best(shifts: Shifts, gain: Integers) -> Integers:
    """The position of each pair's best shift, if one gains: the longest of equally good ones,
    then the one from furthest left, then the one to furthest left.
    """
    some = np.flatnonzero(gain > 0)
    pair, start, length, target = (column[some] for column in shifts)
    order = np.lexsort((target, start, -length, -gain[some], pair))
    leads = np.diff(pair[order], prepend=-1) != 0
    return some[order[leads]]
