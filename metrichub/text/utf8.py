"""Characters: the rows of a column as one UTF-8 text, and its code points as an array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metrichub.text.ragged import Bytes, Flags, Integers, offsets_of

SEPARATOR = b" "
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
        starts: the first byte of every character, and the length of the data, (M+1,).
        codes: the code point of every character, (M,).
        rows: row i is the characters from rows[i] to rows[i + 1] - 1, which separates, (R+1,).
    """

    data: bytes
    starts: Integers
    codes: Integers
    rows: Integers

    @classmethod
    def of(cls, rows: Sequence[str]) -> Characters:
        """The characters of the given strings."""
        encoded = [encode(row) for row in rows]
        sizes = np.fromiter(map(len, encoded), np.int64, len(encoded))
        data = b"".join((SEPARATOR, SEPARATOR.join(encoded), SEPARATOR))
        return cls.read(data, offsets_of(sizes + 1) + 1)

    @classmethod
    def read(cls, data: bytes, offsets: Integers) -> Characters:
        """The characters of rows that start at the given bytes, (R+1,)."""
        array = np.frombuffer(data, np.uint8)
        if data.isascii():
            return cls(data, np.arange(len(data) + 1), array.astype(np.int64), offsets)
        starts = np.flatnonzero((array & 0xC0) != 0x80)
        codes = code_points(data, starts)
        return cls(data, np.append(starts, len(data)), codes, np.searchsorted(starts, offsets))

    def without(self, characters: bytes) -> Characters:
        """The same rows without some ASCII characters."""
        dropped = np.isin(self.codes, np.frombuffer(characters, np.uint8))
        offsets = self.starts[self.rows] - offsets_of(dropped.astype(np.int64))[self.rows]
        return Characters.read(self.data.translate(None, characters), offsets)

    def rows_of(self, chosen: Flags) -> Integers:
        """The rows that hold a chosen character, in order; `chosen` is (M,)."""
        rows = np.searchsorted(self.rows, np.flatnonzero(chosen), side="right") - 1
        return np.flatnonzero(np.bincount(rows, minlength=1))


def code_points(data: bytes, starts: Integers) -> Integers:
    """The code points of the characters that start at the given bytes, in their shape."""
    array = np.frombuffer(data, np.uint8)
    codes = array[starts].astype(np.int64)
    wide = np.flatnonzero(codes >= 0x80)
    if len(wide):
        codes[wide] = _wide_code_points(np.append(array, np.zeros(3, np.uint8)), starts[wide])
    return codes


def _wide_code_points(array: Bytes, starts: Integers) -> Integers:
    lead, *rest = (array[starts + i].astype(np.int64) for i in range(4))
    second, third, fourth = (byte & 0x3F for byte in rest)
    two = (lead & 0x1F) << 6 | second
    three = (lead & 0x0F) << 12 | second << 6 | third
    four = (lead & 0x07) << 18 | second << 12 | third << 6 | fourth
    codes: Integers = np.where(lead < 0xE0, two, np.where(lead < 0xF0, three, four))
    return codes
