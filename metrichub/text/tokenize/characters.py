"""Characters: the rows of a column as one UTF-8 text, and the tokens that are runs of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from metrichub.text.ragged import Bytes, Flags, Integers, offsets_of, spans
from metrichub.text.tokenize.tokens import Tokens, character_starts, decode, encode

Codes: TypeAlias = NDArray[np.integer[Any]]

SEPARATOR = " "
"""Stands before, between and after the rows; it belongs to none of them."""

_ASCII_SPACES = bytes(code for code in range(128) if chr(code).isspace())

UNKNOWN, GAP, WORD, ALONE, NUMBER, POINT, DASH = range(7)
"""Classes of characters: between tokens, in one, one by itself, and those that look around."""


@dataclass(frozen=True, eq=False)
class Characters:
    """The M characters of R rows and of the separators around them.

    Attributes:
        data: the text in UTF-8; it begins and ends with a separator.
        rows: row i is the characters from rows[i] to rows[i + 1] - 1, which separates, (R+1,).
    """

    data: bytes
    rows: Integers

    @classmethod
    def of(cls, rows: Sequence[str]) -> Characters:
        """The characters of the given strings."""
        sizes = np.fromiter(map(len, rows), np.int64, len(rows))
        text = SEPARATOR.join(("", *rows, ""))
        return cls(encode(text), offsets_of(sizes + 1) + 1)

    @property
    def is_ascii(self) -> bool:
        """Whether every character is one byte, so that the positions of both are the same."""
        return len(self.data) == int(self.rows[-1])

    @cached_property
    def codes(self) -> Codes:
        """The code point of every character, (M,); not to be changed."""
        return code_points(decode(self.data))

    @cached_property
    def starts(self) -> Integers:
        """The first byte of every character, and the length of the data, (M+1,)."""
        # A hundred times as fast.
        if self.is_ascii:
            return np.arange(len(self.data) + 1)
        return character_starts(self.data)

    def bytes_at(self, places: Integers) -> Integers:
        """The first byte of the characters at some places, (P,)."""
        return places.copy() if self.is_ascii else self.starts.take(places)

    def without(self, characters: bytes) -> Characters:
        """The same rows without some ASCII characters."""
        dropped = np.isin(self.codes, np.frombuffer(characters, np.uint8))
        rows = self.rows - offsets_of(dropped.astype(np.int64))[self.rows]
        return Characters(self.data.translate(None, characters), rows)

    def rows_of(self, chosen: Flags) -> Integers:
        """The rows that hold a chosen character, in order; `chosen` is (M,)."""
        rows = np.searchsorted(self.rows, np.flatnonzero(chosen), side="right") - 1
        return np.flatnonzero(np.bincount(rows))


def code_points(text: str) -> Codes:
    """The code points of a text, in a byte each if that is enough; not to be changed."""
    if text.isascii():
        return np.frombuffer(text.encode(), np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.int64)


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
    codes = characters.codes.take(at).astype(np.int64, copy=False)
    return Tokens(characters.data, starts, ends, offsets, codes)


def strings_without_spaces(characters: Characters, inside: Flags) -> list[str] | None:
    """The characters of each row that `inside` has, which leaves out only white space, (R,).

    None if some of that isn't ASCII.
    """
    text = decode(characters.data.translate(None, _ASCII_SPACES))
    spaces = np.flatnonzero(~inside)
    if len(text) + len(spaces) != len(inside):
        return None
    limits = characters.rows - np.searchsorted(spaces, characters.rows)
    return [text[start:end] for start, end in spans(limits)]


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
