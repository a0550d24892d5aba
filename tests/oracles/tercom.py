"""Edits with block shifts for one pair of word lists, step by step as Tercom's search goes.

Snover et al. (2006), section 3, with the limits and the order of preferences of Tercom 0.10 as
sacrebleu 2.6 keeps them. `metrichub.text.edits` computes the same on rows of bits, one pair at a
time in `tercom` and many in `shifts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, floor, inf
from typing import NamedTuple

LONGEST, FARTHEST, BEAM, CANDIDATES = 10, 50, 25, 1000


class Alignment(NamedTuple):
    """How the hypothesis becomes the reference.

    `target[j]` is where a word goes that is to stand behind the partner of reference word j - 1;
    target[0] is the beginning.
    """

    distance: float
    target: list[int]
    wrong: list[bool]
    missed: list[bool]


class Shift(NamedTuple):
    """A shift as Tercom prefers it: most gain, then longest, then from and to the left."""

    gain: float
    length: int
    minus_start: int
    minus_target: int
    words: list[str]


def edits(hypothesis: Sequence[str], reference: Sequence[str]) -> int:
    """Shifts, and insertions, deletions and substitutions after them."""
    shift, distance = search(hypothesis, reference)
    return len(shift) + distance


def search(hypothesis: Sequence[str], reference: Sequence[str]) -> tuple[list[Shift], int]:
    """The shifts that are made, and the edits that remain."""
    if not hypothesis or not reference:
        return [], len(hypothesis) + len(reference)
    words, shift, checked = list(hypothesis), list[Shift](), 0
    while True:
        before = align(words, reference)
        tried = list(candidates(words, reference, before))
        checked += len(tried)
        if checked >= CANDIDATES or not tried:
            break
        best = max(tried)
        if best.gain <= 0:
            break
        words = best.words
        shift.append(best)
    return shift, int(before.distance)


def align(words: Sequence[str], reference: Sequence[str]) -> Alignment:
    """The cheapest path inside the beam: a pair rather than a deletion, that than an insertion."""
    cost: dict[tuple[int, int], tuple[float, str]] = {
        (0, j): (j, "insert" if j else "") for j in range(len(reference) + 1)
    }
    for i, columns in enumerate(_beam(len(words), len(reference)), 1):
        for j in columns:
            options = [
                (_cost(cost, i - 1, j - 1, j and words[i - 1] != reference[j - 1]), "pair"),
                (_cost(cost, i - 1, j, 1), "delete"),
                (_cost(cost, i, j - 1, 1), "insert"),
            ]
            cost[i, j] = min(options, key=lambda option: option[0])
    return _walk(cost, words, reference)


def distance(words: Sequence[str], reference: Sequence[str]) -> float:
    """What the path of `align` costs, without the path."""
    above: list[float] = [*range(len(reference) + 1)]
    for word, columns in zip(words, _beam(len(words), len(reference)), strict=True):
        row = [inf] * len(above)
        for j in columns:
            least = above[j] + 1
            if j:
                least = min(least, row[j - 1] + 1, above[j - 1] + (word != reference[j - 1]))
            row[j] = least
        above = row
    return above[-1]


def _beam(rows: int, width: int) -> Iterator[range]:
    """The columns that are looked at in each row from the first word on."""
    ratio = width / rows
    beam = ceil(ratio / 2 + BEAM) if ratio / 2 > BEAM else BEAM
    for i in range(1, rows + 1):
        middle = floor(i * ratio)
        last = width + 1 if i == rows else min(width + 1, middle + beam)
        yield range(max(0, middle - beam), last)


def _cost(cost: dict[tuple[int, int], tuple[float, str]], i: int, j: int, more: int) -> float:
    return cost.get((i, j), (inf, ""))[0] + more


def _walk(
    cost: dict[tuple[int, int], tuple[float, str]], words: Sequence[str], reference: Sequence[str]
) -> Alignment:
    i, j = len(words), len(reference)
    alignment = Alignment(cost[i, j][0], [0] * (j + 1), [True] * i, [True] * j)
    while i or j:
        operation = cost[i, j][1]
        if operation != "delete":
            alignment.target[j] = i
        if operation == "pair":
            alignment.wrong[i - 1] = alignment.missed[j - 1] = words[i - 1] != reference[j - 1]
        i -= operation != "insert"
        j -= operation != "delete"
    return alignment


def candidates(words: list[str], reference: Sequence[str], before: Alignment) -> Iterator[Shift]:
    """The shifts that Tercom tries, again where it tries one again."""
    for start, place, length in _common(words, reference):
        if not any(before.wrong[start : start + length]):
            continue
        if not any(before.missed[place : place + length]):
            continue
        if start <= before.target[place + 1] - 1 < start + length:
            continue
        previous = -1
        for target in before.target[place : place + length + 1]:
            if target != previous:
                moved = move(words, start, length, target)
                gain = before.distance - distance(moved, reference)
                yield Shift(gain, length, -start, -target, moved)
            previous = target


def _common(words: Sequence[str], reference: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Every run of words that both have: where it starts in each, and its length."""
    for start in range(len(words)):
        for place in range(len(reference)):
            if abs(start - place) > FARTHEST:
                continue
            for length in range(1, LONGEST + 1):
                run = words[start : start + length]
                if len(run) < length or list(run) != list(reference[place : place + length]):
                    break
                yield start, place, length


def move(words: list[str], start: int, length: int, target: int) -> list[str]:
    """The words after a shift; a target inside the run or just behind it counts from its end."""
    run, others = words[start : start + length], words[:start] + words[start + length :]
    place = target if target <= start + length else target - length
    return others[:place] + run + others[place:]
