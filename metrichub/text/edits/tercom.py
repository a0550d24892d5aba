"""Tercom's search for shifts in one pair of texts.

Snover et al. (2006): while a shift of a run of words lowers the edit distance, the best one is
made; each counts one edit. Which shifts are tried, and which of several equal ones is best,
follows Tercom 0.10 as sacrebleu 2.6 does.

A row of the table of edits is a few numbers, whose bit j - 1 says something of column j, and so of
word j of the reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import le
from typing import NamedTuple, TypeVar

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from metrichub.text.edits.banded import (
    Band,
    Path,
    beam_excess,
    beamed_distances,
    beamed_path,
    sacrebleu_band,
)
from metrichub.text.edits.lcs import STRIDE, occurrences

T = TypeVar("T", str, list[str])

LONGEST = 10
"""Words that are shifted together at most."""

FARTHEST = 50
"""How far apart the two places of a run of words may be."""

ENOUGH = 1000
"""The search ends, without the shift that it is about to find, at so many tries."""

PORTION = 64
"""Texts whose distances inside the beam are computed together."""


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


class Made(NamedTuple):
    """The shifts that are made, in order, and the edits that remain after them."""

    shifts: list[Shift]
    distance: int


class _Try(NamedTuple):
    """A shift as Tercom prefers it: most gain, then longest, then from and to the left."""

    gain: int
    length: int
    minus_start: int
    minus_target: int
    words: str


def best_shifts(words: list[str], reference: list[str]) -> list[list[Shift]]:
    """All shifts that are made, in order, in texts whose characters represent words, (P,)."""
    pairs = zip(words, reference, strict=True)
    return [search(*pair).shifts if all(pair) else [] for pair in pairs]


def search(words: str, reference: str, goal: int = 0, tried: int = 0) -> Made:
    """The shifts in a text whose characters stand for words, if neither text is empty.

    At a distance of `goal` or below, no further shift matters; so many were `tried` before.
    """
    places, done, band = occurrences(reference), list[Shift](), None
    distance = Levenshtein.distance(words, reference)
    if beam_excess(distance, len(words), len(reference)) > 0:
        band = sacrebleu_band(np.array([len(words)]), np.array([len(reference)]))
    while distance > goal or (band and not done):
        rows = [places.get(word, 0) for word in words]
        path = _path(rows, len(reference))
        if band and not _inside(path, band):
            path = beamed_path(words, reference, band)
            distance = path.distance
        shifts, number = _shifts(rows, path, ENOUGH - tried)
        tried += number
        if tried >= ENOUGH:
            break
        tries = _tries(words, reference, shifts, distance)
        if band and tries:
            tries = _beamed(tries, places, reference, distance, band)
        if not tries:
            break
        gain, length, start, target, words = max(tries)
        done.append(Shift(-start, length - start, -target))
        distance -= gain
    return Made(done, distance)


def _path(rows: Sequence[int], width: int) -> Path:
    """The path that Tercom takes: a pair rather than a deletion, and that than an insertion."""
    portions = [rows[start : start + STRIDE] for start in range(0, len(rows), STRIDE)]
    above = [((1 << width) - 1, 0)]
    for portion in portions[:-1]:
        above.append(_table(portion, *above[-1], above[0][0])[1])
    column = width
    columns, lowest, hits = [width], [], []
    for portion, costs in zip(reversed(portions), reversed(above), strict=True):
        for stop, pair, same in reversed(_table(portion, *costs, above[0][0])[0]):
            # All insertions of a row at once, down to its next column with another step.
            column = (stop & (1 << column) - 1).bit_length()
            here = 1 << column >> 1
            lowest.append(column)
            hits.append(column if same & here else 0)
            column -= pair & here > 0
            columns.append(column)
    return Path(columns[::-1], lowest[::-1], hits[::-1])


def _table(
    rows: Sequence[int], vp: int, vn: int, full: int
) -> tuple[list[tuple[int, int, int]], tuple[int, int]]:
    """Of each row the columns without an insertion, those with a pair, and those with a hit.

    And the last row's VP and VN, where costs rise and fall from the column before. Hyyrö (2003):
    D0 = (((M & VP) + VP) ^ VP) | M | VN, HP = VN | ~(D0 | VP), HN = D0 & VP, and, with HP << 1 | 1
    and HN << 1 for HP and HN, VP = HN | ~(D0 | HP), VN = HP & D0. D0 has the cells that cost as
    much as the one before both words, HP those that cost more than the one above.
    """
    table = []
    for same in rows:
        d0 = ((same & vp) + vp ^ vp | same | vn) & full
        hp = vn | full ^ (d0 | vp)
        pair = same | full ^ d0
        table.append((pair | hp, pair, same))
        hp = hp << 1 | 1
        vp, vn = ((d0 & vp) << 1 | ~(d0 | hp)) & full, hp & d0
    return table, (vp, vn)


def _inside(path: Path, band: Band) -> bool:
    first, last = band.first[1:, 0].tolist(), band.last[:, 0].tolist()
    return all(map(le, first, path.lowest)) and all(map(le, path.columns, last))


def _shifts(rows: Sequence[int], path: Path, most: int) -> tuple[set[tuple[int, int, int]], int]:
    """The shifts that Tercom tries: (length, -start, -target), and how many with those it repeats.

    A run of words is shifted that the reference has elsewhere, if some of it is wrong where it
    stands and some of it is missed where it goes to. It goes behind the partner of the word
    before that place, and behind the partner of each word there. `most` of them are enough.
    """
    targets = [0] * (path.columns[0] + 1)
    for row, (before, after) in enumerate(pairwise(path.columns), 1):
        targets += [row] * (after - before)
    shifts, number = set(), 0
    for start, place, shortest, longest in _runs(rows, path):
        partner = targets[place + 1] - 1
        if partner >= start:
            longest = min(longest, partner - start)
        for length in range(shortest, longest + 1):
            behind = {*targets[place : place + length + 1]}
            number += len(behind)
            shifts.update([(length, -start, -target) for target in behind])
        if number >= most:
            break
    return shifts, number


def _runs(rows: Sequence[int], path: Path) -> Iterator[tuple[int, int, int, int]]:
    """The runs that both texts have, with a wrong word and a missed place among them.

    Where each starts in both, its length, and at which length it has them.
    """
    width = path.columns[-1]
    digits = bytearray(b"1" * (width + 1))
    for column in path.hits:
        digits[width - column] = ord("0")
    # A word without a partner has its hit in column 0, which has no bit.
    full, missed = (1 << width) - 1, int(digits, 2) >> 1
    wrong_run = missed_run = 0
    for start in range(len(rows) - 1, -1, -1):
        # A run has a wrong word if its first one is wrong, or the rest of the run has one.
        wrong_run = rows[start] & (wrong_run >> 1 if path.hits[start] else full)
        missed_run = rows[start] & (missed_run >> 1 | missed)
        places = wrong_run & missed_run
        while places:
            bit = places & -places
            places ^= bit
            place, length, shortest, wrong, lacking = bit.bit_length() - 1, 0, 0, False, 0
            if abs(place - start) > FARTHEST:
                continue
            for same, hit in zip(
                rows[start : start + LONGEST], path.hits[start : start + LONGEST], strict=True
            ):
                if not same & bit:
                    break
                length += 1
                wrong, lacking = wrong or not hit, lacking or missed & bit
                if wrong and lacking and not shortest:
                    shortest = length
                bit <<= 1
            if shortest:
                yield start, place, shortest, length


def _tries(
    words: str, reference: str, shifts: set[tuple[int, int, int]], before: int
) -> list[_Try]:
    """The shifts that save some of the edits `before`; the beam may take that back."""
    if not shifts:
        return []
    moved = [Shift(-start, length - start, -target)(words) for length, start, target in shifts]
    scores = cdist([reference], moved, scorer=Levenshtein.distance, score_cutoff=before - 1)
    return [
        _Try(before - after, *shift, text)
        for shift, text, after in zip(shifts, moved, scores[0].tolist(), strict=True)
        if after < before
    ]


def _beamed(
    tries: list[_Try], places: dict[str, int], reference: str, before: int, band: Band
) -> list[_Try]:
    """The best of the tries in the beam, which can only make distances longer."""
    tries.sort(reverse=True)
    best = tries[0]
    if _inside(_path([places.get(word, 0) for word in best.words], len(reference)), band):
        return [best]
    better: list[_Try] = []
    for start in range(0, len(tries), PORTION):
        if better and max(better) >= tries[start]:
            break
        portion = tries[start : start + PORTION]
        after = beamed_distances([text.words for text in portion], reference, band)
        gains = zip(portion, after, strict=True)
        better += [t._replace(gain=before - edits) for t, edits in gains if edits < before]
    return better
