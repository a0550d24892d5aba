"""Tokens: a ragged array of tokens, cut out of one UTF-8 buffer and named by a 64-bit hash."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import blake2b
from itertools import chain

import numpy as np

from metrichub.text.ragged import Flags, Integers, Words, offsets_of, spans, take_rows

WORD = 8
"""Bytes that are loaded, hashed and compared at a time."""

LONG = 8 * WORD
"""Tokens of more bytes are rare; they are hashed and compared one by one."""

KNOWN = 1_000_000
"""Images of tokens that are kept, for each function of tokens."""

_KEPT = ("hashes", "words")
"""Values of each token that stay known when tokens are taken or joined."""

_LOW_BYTES = np.array([(1 << 8 * n) - 1 for n in range(WORD + 1)], np.uint64)
_ODD = np.array([0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB], np.uint64)
_HALF = np.uint64(32)


def encode(text: str) -> bytes:
    """The text in UTF-8; lone surrogates pass, so that any two strings stay different."""
    return text.encode("utf-8", "surrogatepass")


def decode(data: bytes) -> str:
    """The text that `encode` made these bytes of."""
    return data.decode("utf-8", "surrogatepass")


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of R rows, T in all, in reading order.

    Attributes:
        buffer: UTF-8 text that contains every token.
        starts: first byte of each token in the buffer, (T,).
        ends: one past its last byte, (T,).
        offsets: where the tokens of each row start, (R+1,).
        codes: the code points, (T,), if each token is a single one.
    """

    buffer: bytes
    starts: Integers
    ends: Integers
    offsets: Integers
    codes: Integers | None = None

    @classmethod
    def of(cls, rows: Iterable[Sequence[str]]) -> Tokens:
        """The tokens of rows that were tokenized elsewhere."""
        listed = list(rows)
        tokens = list(chain.from_iterable(listed))
        text = "".join(tokens)
        buffer, limits = encode(text), offsets_of(_counts(tokens))
        if len(buffer) > len(text):
            limits = character_starts(buffer).take(limits)
        return cls(buffer, limits[:-1], limits[1:], offsets_of(_counts(listed)))

    @classmethod
    def joined(cls, first: Tokens, second: Tokens) -> Tokens:
        """The rows of one, then the rows of the other; both keep what this computes for them."""
        shift, count = len(first.buffer), len(first.starts)
        codes = None
        if first.codes is not None and second.codes is not None:
            codes = np.concatenate((first.codes, second.codes))
        both = cls(
            first.buffer + second.buffer,
            np.concatenate((first.starts, second.starts + shift)),
            np.concatenate((first.ends, second.ends + shift)),
            np.concatenate((first.offsets, second.offsets[1:] + count)),
            codes,
        )
        for name in _KEPT if codes is None else ():
            parts = getattr(first, name), getattr(second, name)
            both.__dict__[name] = np.concatenate(parts)
        return both

    @property
    def characters(self) -> bool:
        """Whether each token is a single code point."""
        return self.codes is not None

    @cached_property
    def lengths(self) -> Integers:
        """The number of tokens of every row, (R,)."""
        return np.diff(self.offsets)

    @cached_property
    def sizes(self) -> Integers:
        """The number of bytes of every token, (T,)."""
        return self.ends - self.starts

    @cached_property
    def hashes(self) -> Words:
        """A hash of every token, (T,): equal strings have equal hashes in any buffer."""
        return _hashes(self)

    @cached_property
    def words(self) -> Words:
        """The first eight bytes of every token as one number, (T,)."""
        words: Words = self._windows[self.starts]
        words &= _LOW_BYTES.take(np.minimum(self.sizes, WORD))
        return words

    def take(self, rows: Integers) -> Tokens:
        """The tokens of the given rows, in the given order."""
        flat, offsets = take_rows(self.offsets, rows)
        return self._at(flat, offsets)

    def select(self, keep: Flags) -> Tokens:
        """The tokens that a mask (T,) selects; all rows remain, possibly with fewer tokens."""
        offsets = offsets_of(keep.astype(np.int64))[self.offsets]
        return self._at(np.flatnonzero(keep), offsets)

    def replace(self, rows: Integers, others: Tokens) -> Tokens:
        """The same rows, with those at `rows` (K,) replaced by the K rows of `others`."""
        order = np.arange(len(self.lengths))
        order[rows] = len(order) + np.arange(len(rows))
        return Tokens.joined(self, others).take(order)

    def map(self, function: Callable[[str], str]) -> Tokens:
        """The tokens replaced by a function of each, called about once per distinct token.

        Results are kept for the next column, so the function must be pure.
        """
        distinct, place = self._distinct(np.zeros(len(self.starts), np.int64))
        image_of = _images(function)
        images = [image_of[token] for token in self._slices(distinct)]
        limits = offsets_of(_counts(images))
        mapped = Tokens(b"".join(images), limits[:-1], limits[1:], np.arange(len(limits)))
        return mapped._at(place, self.offsets)

    def expand(self, kinds: Integers, images: Sequence[Mapping[bytes, Sequence[str]]]) -> Tokens:
        """The tokens replaced by the images that they have, in UTF-8, for their kinds, (T,).

        Each is looked up about once.
        """
        distinct, place = self._distinct(kinds)
        pairs = zip(kinds[distinct].tolist(), self._slices(distinct), strict=True)
        parts: Tokens = Tokens.of(images[kind][token] for kind, token in pairs)
        _ = parts.hashes  # What is known of the few is taken along.
        flat, offsets = take_rows(parts.offsets, place)
        return parts._at(flat, offsets[self.offsets])

    def strings(self, row: int) -> list[str]:
        """The tokens of one row."""
        return self._cut(np.arange(self.offsets[row], self.offsets[row + 1]))

    def all_strings(self) -> list[list[str]]:
        """The tokens of every row."""
        flat = self._cut(np.arange(len(self.starts)))
        return [flat[start:end] for start, end in spans(self.offsets)]

    def word(self, step: int, which: Integers) -> Words:
        """Bytes 8*step to 8*step+7 of some tokens as one number, with 0 past a token's end."""
        at = self.starts[which] + WORD * step
        left = np.minimum(self.sizes[which] - WORD * step, WORD)
        words: Words = self._windows[at] & _LOW_BYTES[left]
        return words

    def same(self, first: Integers, second: Integers) -> Flags:
        """Whether the tokens at two lists of positions (P,) are equal byte for byte, (P,)."""
        return _same(self, first, second)

    @cached_property
    def _windows(self) -> Words:
        """The eight bytes that start at every position of the buffer, without a copy of them."""
        padded = self.buffer + bytes(WORD)
        return np.ndarray((len(self.buffer) + 1,), "<u8", padded, strides=(1,))

    def _at(self, flat: Integers, offsets: Integers) -> Tokens:
        starts, ends = self.starts.take(flat), self.ends.take(flat)
        codes = None if self.codes is None else self.codes.take(flat)
        taken = Tokens(self.buffer, starts, ends, offsets, codes)
        for name in set(_KEPT) & self.__dict__.keys():
            taken.__dict__[name] = self.__dict__[name].take(flat)
        return taken

    def _distinct(self, kinds: Integers) -> tuple[Integers, Integers]:
        """Where the distinct tokens of each kind are, and which of these each token is, (T,)."""
        everyone = np.arange(len(self.starts))
        first = first_equal(self.hashes + kinds.astype(np.uint64) * _ODD[0])
        equal = self.same(first, everyone) & (kinds[first] == kinds)
        first = np.where(equal, first, everyone)
        chosen = first == everyone
        return np.flatnonzero(chosen), (np.cumsum(chosen) - 1)[first]

    def _cut(self, which: Integers) -> list[str]:
        return list(map(decode, self._slices(which)))

    def _slices(self, which: Integers) -> list[bytes]:
        starts, ends = self.starts[which].tolist(), self.ends[which].tolist()
        return [self.buffer[a:b] for a, b in zip(starts, ends, strict=True)]


class _Images(dict[bytes, bytes]):
    """The results of a function of tokens; emptied when it holds too many."""

    def __init__(self, function: Callable[[str], str]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, token: bytes) -> bytes:
        if len(self) >= KNOWN:
            self.clear()
        image = self[token] = encode(self._function(decode(token)))
        return image


@cache
def _images(function: Callable[[str], str]) -> _Images:
    return _Images(function)


def character_starts(data: bytes) -> Integers:
    """The first byte of every character of a text in UTF-8, and the length of the data, (M+1,)."""
    array = np.frombuffer(data, np.uint8)
    return np.append(np.flatnonzero((array & 0xC0) != 0x80), len(data))


def _counts(rows: Sequence[Sequence[str] | bytes]) -> Integers:
    return np.fromiter(map(len, rows), np.int64, len(rows))


def _mix(words: Words) -> Words:
    """A bijection of 64-bit words whose high bits depend on all bits."""
    words = words * _ODD[0]
    words ^= words >> _HALF
    words *= _ODD[1]
    words ^= words >> _HALF
    words *= _ODD[2]
    return words


def _hashes(tokens: Tokens) -> Words:
    sizes = tokens.sizes
    hashes = _mix(tokens.words + sizes.astype(np.uint64))
    longest = int(sizes.max(initial=0))
    for step in range(1, -(-min(longest, LONG) // WORD)):
        more = np.flatnonzero(sizes > WORD * step)
        hashes[more] = _mix(hashes[more] + tokens.word(step, more))
    for i in np.flatnonzero(sizes > LONG).tolist() if longest > LONG else ():
        text = tokens.buffer[tokens.starts[i] : tokens.ends[i]]
        hashes[i] = int.from_bytes(blake2b(text, digest_size=8).digest(), "little")
    return hashes


def _same(tokens: Tokens, first: Integers, second: Integers) -> Flags:
    sizes = tokens.sizes[first]
    equal: Flags = sizes == tokens.sizes[second]
    equal &= tokens.words[first] == tokens.words[second]
    longest = int(sizes.max(initial=0))
    for step in range(1, -(-min(longest, LONG) // WORD)):
        more = np.flatnonzero(equal & (sizes > WORD * step))
        equal[more] = tokens.word(step, first[more]) == tokens.word(step, second[more])
    for i in np.flatnonzero(equal & (sizes > LONG)).tolist() if longest > LONG else ():
        start, other, size = tokens.starts[first[i]], tokens.starts[second[i]], sizes[i]
        equal[i] = tokens.buffer[start : start + size] == tokens.buffer[other : other + size]
    return equal


def first_equal(keys: Words) -> Integers:
    """For every key the position of an equal one, the same for all that are equal, (T,).

    Hashes are found in a table by their highest bits. Those that find another one in their place
    are few; they are mixed anew, and look once more.
    """
    bits = (2 * len(keys)).bit_length()
    shift, table = np.uint64(64 - bits), np.empty(1 << bits, np.int64)
    # The first round takes all keys: to choose them by position would cost a third of the time.
    slots = (keys >> shift).view(np.int64)
    table[slots] = np.arange(len(keys))
    equal: Integers = table.take(slots)
    left = np.flatnonzero(keys.take(equal) != keys)
    names = keys.take(left)
    while len(left):
        names = _mix(names)
        slots = (names >> shift).view(np.int64)
        table[slots] = left
        equal[left] = candidates = table.take(slots)
        other = np.flatnonzero(keys.take(candidates) != keys.take(left))
        left, names = left.take(other), names.take(other)
    return equal
