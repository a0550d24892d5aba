"""Characters: the rows of a column as one UTF-8 text, and its code points as an array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from metrichub.text.ragged import Flags, Integers, offsets_of

SEPARATOR = " "
"""Stands before, between and after the rows; it belongs to none of them."""


def encode(text: str) -> bytes:
    """The text in UTF-8; lone surrogates pass, so that any two strings stay different."""
    return text.encode("utf-8", "surrogatepass")


def decode(data: bytes) -> str:
    """The text that `encode` made these bytes of."""
    return data.decode("utf-8", "surrogatepass")


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
    def codes(self) -> Integers:
        """The code point of every character, (M,)."""
        return code_points(decode(self.data))

    @cached_property
    def starts(self) -> Integers:
        """The first byte of every character, and the length of the data, (M+1,)."""
        # A hundred times as fast.
        if self.is_ascii:
            return np.arange(len(self.data) + 1)
        array = np.frombuffer(self.data, np.uint8)
        return np.append(np.flatnonzero((array & 0xC0) != 0x80), len(self.data))

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


def code_points(text: str) -> Integers:
    """The code points of a text, (len(text),)."""
    if text.isascii():
        return np.frombuffer(text.encode(), np.uint8).astype(np.int64)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.int64)
