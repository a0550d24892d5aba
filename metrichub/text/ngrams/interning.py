"""Interned ids: the tokens of a row's texts side by side, as small numbers instead of strings."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from metrichub.text.column import RaggedTexts, Texts
from metrichub.text.ragged import Integers, offsets_of, positions_within, spans, take_rows
from metrichub.text.tokenize.characters import Codes
from metrichub.text.tokenize.tokenizers import Tokenizer
from metrichub.text.tokenize.tokens import Tokens, first_equal

_ODD = np.uint64(0x9E3779B97F4A7C15)
"""Times a number, spreads it over all bits."""

ALPHABET = 1 << 10
"""Up to so many distinct characters in a block are numbered together, not row by row."""


@dataclass(frozen=True, eq=False)
class InternedIds:
    """The texts of N rows with their tokens as interned ids: each prediction, then its references.

    Attributes:
        ids: from 1; equal within a row if and only if the tokens are equal, (T,).
        offsets: where the tokens of each row start, (N+1,).
        segments: where the tokens of each text start, (S+1,).
        sides: 0 for every prediction, j for its row's j-th reference, (S,).
    """

    ids: Integers
    offsets: Integers
    segments: Integers
    sides: Integers

    @cached_property
    def side(self) -> Integers:
        """The side of every token, (T,)."""
        return np.repeat(self.sides, np.diff(self.segments))

    @cached_property
    def left(self) -> Integers:
        """How many tokens remain in the text from each token on, itself included, (T,)."""
        ends = np.repeat(self.segments[1:], np.diff(self.segments))
        return ends - np.arange(len(self.ids))

    @cached_property
    def sequences(self) -> list[bytes] | list[str] | list[list[int]]:
        """The ids of each text, in the most compact sequence type that holds them, (S,)."""
        highest = int(self.ids.max(initial=0))
        if highest < 1 << 8:
            data = self.ids.astype(np.uint8).tobytes()
            return [data[start:end] for start, end in spans(self.segments)]
        return self.strings if highest < 0x10F800 else self.lists

    @cached_property
    def strings(self) -> list[str]:
        """The ids of every text as code points, surrogates left out, (S,)."""
        return cut_string(self.ids + 0x800 * (self.ids >= 0xD800), self.segments)

    @cached_property
    def lists(self) -> list[list[int]]:
        """The ids of every text, (S,)."""
        numbers = self.ids.tolist()
        return [numbers[start:end] for start, end in spans(self.segments)]


def intern_both(
    prediction: Texts | RaggedTexts, references: Texts | RaggedTexts, tokenizer: Tokenizer
) -> InternedIds:
    """The ids of predictions and references together; computed once per pair of columns."""
    first, second = _ragged(prediction), _ragged(references)
    # Tokenizers that cut alike share tokens, and so these; the names of both count as taken.
    both = first.items.tokens(tokenizer), second.items.tokens(tokenizer)
    key = ("joint", first.offsets.tobytes(), second.offsets.tobytes(), *both)
    return first.items.cached(key, lambda: _join(first, second, Tokens.joined(*both)))


def intern_one(prediction: Texts, tokenizer: str) -> InternedIds:
    """The ids of predictions by themselves."""
    tokens = prediction.tokens(tokenizer)
    sides = np.zeros(len(tokens.lengths), np.int64)
    offsets = tokens.offsets
    return prediction.cached(
        ("alone", tokenizer),
        lambda: InternedIds(intern_tokens(tokens, offsets), offsets, offsets, sides),
    )


def intern_tokens(tokens: Tokens, offsets: Integers) -> Integers:
    """Small integers from 1 for the tokens of a row; the rows begin at `offsets`."""
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return _small_numbers(tokens, rows, np.arange(len(rows)), offsets)


def alphabet(codes: Codes) -> Integers:
    """For code points up to the highest that occurs the place among those that do, from 1."""
    present = np.zeros(int(codes.max(initial=0)) + 1, np.bool_)
    present[codes] = True
    numbers: Integers = np.cumsum(present, dtype=np.int64)
    return numbers


def cut_string(codes: Integers, offsets: Integers) -> list[str]:
    """The rows of code points as strings."""
    text = codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    return [text[start:end] for start, end in spans(offsets)]


def _ragged(column: Texts | RaggedTexts) -> RaggedTexts:
    if isinstance(column, RaggedTexts):
        return column
    return RaggedTexts(column, np.arange(len(column) + 1))


def _join(first: RaggedTexts, second: RaggedTexts, tokens: Tokens) -> InternedIds:
    rows = np.concatenate((first.rows, second.rows))
    order = np.argsort(rows, kind="stable")
    zeros = np.zeros(len(first.rows), np.int64)
    sides = np.concatenate((zeros, positions_within(second.offsets) + 1))
    places, segments = take_rows(tokens.offsets, order)
    offsets = segments[offsets_of(first.counts + second.counts)]
    ids = _small_numbers(tokens, np.repeat(rows, tokens.lengths), places, offsets)
    return InternedIds(ids, offsets, segments, sides[order])


def _small_numbers(tokens: Tokens, rows: Integers, places: Integers, offsets: Integers) -> Integers:
    """The tokens at `places`, whose rows begin at `offsets`, by number, (T,); `rows` has theirs.

    Each token gets the number of an equal one of its row. Those are found by a table of hashes and
    compared byte for byte; if two hash alike and differ, a dictionary names the tokens instead.
    """
    if tokens.codes is not None:
        numbers = alphabet(tokens.codes)
        if numbers[-1] < ALPHABET:
            return numbers[tokens.codes[places]]
    equal = first_equal(tokens.hashes + rows.astype(np.uint64) * _ODD)
    others = np.flatnonzero(equal != np.arange(len(equal)))
    alike = equal.take(others)
    if not (tokens.same(alike, others) & (rows[alike] == rows[others])).all():
        return _dictionary_numbers(tokens, rows, places)
    chosen = np.ones(len(equal), np.bool_)
    chosen[others] = False
    count = offsets_of(chosen.take(places).astype(np.int64))
    number = np.empty_like(equal)
    number[places] = count[1:] - np.repeat(count[offsets[:-1]], np.diff(offsets))
    return number.take(equal.take(places))


def _dictionary_numbers(tokens: Tokens, rows: Integers, places: Integers) -> Integers:
    strings = [token for row in tokens.all_strings() for token in row]
    by_row: defaultdict[int, dict[str, int]] = defaultdict(dict)
    numbers = [
        by_row[row].setdefault(strings[place], len(by_row[row]) + 1)
        for row, place in zip(rows[places].tolist(), places.tolist(), strict=True)
    ]
    return np.array(numbers, np.int64)
