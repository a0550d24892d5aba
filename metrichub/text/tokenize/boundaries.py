"""Boundaries: where tokens begin and end, from the classes of a column's characters."""

from __future__ import annotations

import numpy as np

from metrichub.text.ragged import Bytes, Flags, Integers
from metrichub.text.tokenize.tokens import Tokens
from metrichub.text.tokenize.utf8 import Characters

UNKNOWN, GAP, WORD, ALONE, NUMBER, POINT, DASH = range(7)
"""Classes of characters: between tokens, in one, one by itself, and those that look around."""


def runs(characters: Characters, inside: Flags, breaks: Flags | None = None) -> Tokens:
    """The tokens that are runs of `inside`, cut once more before every `breaks`; both (M,)."""
    first, last = limits(inside, breaks)
    offsets = np.searchsorted(first, characters.rows)
    starts, ends = characters.bytes_at(first), characters.bytes_at(last)
    return Tokens(characters.data, starts, ends, offsets)


def limits(inside: Flags, breaks: Flags | None) -> tuple[Integers, Integers]:
    """The first character of every token and the one after its last, (T,) each.

    The separators before and after all rows are outside of tokens.
    """
    before, here = inside[:-1], inside[1:]
    if breaks is None:
        turns = np.flatnonzero(before != here)
        turns += 1
        return turns[::2], turns[1::2]
    cut = before & here & breaks[1:]
    return np.flatnonzero((here > before) | cut) + 1, np.flatnonzero((before > here) | cut) + 1


def single(characters: Characters, inside: Flags) -> Tokens:
    """The tokens that are one character each, those of a mask (M,)."""
    at = np.flatnonzero(inside)
    starts, ends = characters.bytes_at(at), characters.bytes_at(at + 1)
    offsets = np.searchsorted(at, characters.rows)
    return Tokens(characters.data, starts, ends, offsets, characters.codes.take(at))


def around(alone: Flags) -> Flags:
    """Breaks before and after every character of a mask (M,)."""
    breaks = alone.copy()
    breaks[1:] |= alone[:-1]
    return breaks


def western_runs(characters: Characters, classes: Bytes, edges: Integers | None) -> Tokens:
    """The tokens of the mteval family, from the classes of the characters, (M,).

    A point is alone unless it stands between two numbers, a dash is alone after a number. The
    characters at `edges` count as numbers, but only for points.
    """
    number, point = classes == NUMBER, classes == POINT
    breaks = around(classes == ALONE)
    dash = classes[1:] == DASH
    dash &= number[:-1]
    breaks[1:] |= dash
    breaks[2:] |= dash[:-1]
    if edges is not None:
        number[edges] = True
    breaks[1:-1] |= point[1:-1] & ~(number[:-2] & number[2:])
    after = point[1:-1] & ~point[2:] & ~(number[:-2] & number[2:])
    breaks[2:] |= after
    breaks[_glued(number, point)] = False
    return runs(characters, classes != GAP, breaks)


def _glued(number: Flags, point: Flags) -> Integers:
    """The numbers that keep the last of several points before them, as "..5" does "." and ".5".

    mteval's expressions take the points of a run two by two, the first together with what
    stands before the run unless that is a number; one that is left over stays with a number.
    """
    ends = np.flatnonzero(point[:-2] & point[1:-1] & number[2:]) + 2
    if len(ends) == 0:
        return ends
    other = np.flatnonzero(~point)
    before = other[np.searchsorted(other, ends) - 1]
    odd = (ends - before - 1) % 2 == 1
    glued: Integers = ends[number[before] == odd]
    return glued


def row_edges(characters: Characters, inside: Integers, stripped: bool) -> Integers:
    """Where the right-stripped rows end and the rows, or the left-stripped rows, begin."""
    rows = characters.rows
    last = np.searchsorted(inside, rows[1:])
    last = inside[last[last > 0] - 1] + 1
    first = rows[:-1] - 1
    if stripped:
        first = np.searchsorted(inside, rows[:-1])
        first = inside[first[first < len(inside)]] - 1
    return np.concatenate((first, last))
