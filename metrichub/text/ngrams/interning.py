"""Interned ids: the tokens of a row's texts side by side, as small numbers instead of strings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from metrichub.text.column import RaggedTexts, Texts
from metrichub.text.ragged import (
    Flags,
    Integers,
    Words,
    offsets_of,
    positions_within,
    sort_rows,
    spans,
    start_runs,
)
from metrichub.text.tokenize.tokens import Tokens

ALPHABET = 1 << 10
"""Up to so many distinct characters in a block are interned together, without sorting."""


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
        """How many tokens of its text every token still has from itself on, (T,)."""
        ends = np.repeat(self.segments[1:], np.diff(self.segments))
        return ends - np.arange(len(self.ids))

    @cached_property
    def sequences(self) -> list[bytes] | list[str] | list[list[int]]:
        """The ids of every text as the shortest kind of sequence that holds them, (S,)."""
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
    prediction: Texts | RaggedTexts, references: Texts | RaggedTexts, tokenizer: str
) -> InternedIds:
    """The ids of predictions and references together; computed once per pair of columns."""
    first, second = _groups(prediction), _groups(references)
    key = ("joint", first.offsets.tobytes(), *_beside(first, second), tokenizer)
    return first.items.cached(key, lambda: _join(first, second, tokenizer))


def intern_one(prediction: Texts, tokenizer: str) -> InternedIds:
    """The ids of predictions by themselves."""
    tokens = prediction.tokens(tokenizer)
    sides = np.zeros(len(tokens.lengths), np.int64)
    return prediction.cached(
        ("alone", tokenizer),
        lambda: InternedIds(
            intern_tokens(tokens, tokens.offsets), tokens.offsets, tokens.offsets, sides
        ),
    )


def intern_tokens(tokens: Tokens, offsets: Integers) -> Integers:
    """Small numbers from 1 that stand for the tokens of a row; the rows begin at `offsets`.

    Tokens are sorted by their hash, and those that hash alike are compared byte for byte; if
    two of them differ after all, a dictionary names the tokens instead.
    """
    if tokens.codes is not None:
        return _character_ids(tokens.codes, offsets)
    order, changed = _sorted(tokens.hashes, offsets)
    alike = np.flatnonzero(~changed)
    if not tokens.same(order[alike - 1], order[alike]).all():
        return _dictionary_ids(tokens, offsets)
    return _dense(order, changed, offsets)


def cut_string(codes: Integers, offsets: Integers) -> list[str]:
    """The rows of code points as strings."""
    text = codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    return [text[start:end] for start, end in spans(offsets)]


def _groups(column: Texts | RaggedTexts) -> RaggedTexts:
    return (
        column
        if isinstance(column, RaggedTexts)
        else RaggedTexts(column, np.arange(len(column) + 1))
    )


def _beside(first: RaggedTexts, second: RaggedTexts) -> tuple[Texts | None, bytes]:
    """What tells the second column apart; a column that held itself would outlive its block."""
    other = None if second.items is first.items else second.items
    return other, second.offsets.tobytes()


def _join(first: RaggedTexts, second: RaggedTexts, tokenizer: str) -> InternedIds:
    both = first.items.tokens(tokenizer), second.items.tokens(tokenizer)
    rows = np.concatenate((first.rows, second.rows))
    order = np.argsort(rows, kind="stable")
    sides = np.concatenate((np.zeros(len(first.rows), np.int64), _numbers(second)))
    tokens = Tokens.joined(*both).take(order)
    offsets = tokens.offsets[offsets_of(first.counts + second.counts)]
    return InternedIds(intern_tokens(tokens, offsets), offsets, tokens.offsets, sides[order])


def _numbers(groups: RaggedTexts) -> Integers:
    return positions_within(groups.offsets) + 1


def _sorted(hashes: Words, offsets: Integers) -> tuple[Integers, Flags]:
    """An order that brings alike hashes of a row together, and where a new hash begins in it.

    The lowest bits of a hash make room for the token's position in its row.
    """
    width = int(np.diff(offsets).max(initial=0)).bit_length()
    low = np.uint64((1 << width) - 1)
    keys = (hashes & ~low) | positions_within(offsets).astype(np.uint64)
    sort_rows(keys, offsets)
    changed = np.ones(len(keys), np.bool_)
    changed[1:] = (keys[1:] ^ keys[:-1]) > low
    order = (keys & low).astype(np.int64)
    order += np.repeat(offsets[:-1], np.diff(offsets))
    return order, start_runs(changed, offsets)


def _dense(order: Integers, changed: Flags, offsets: Integers) -> Integers:
    """The number of the run in its row that every element is in, from 1."""
    runs = offsets_of(changed.astype(np.int64))
    numbers = runs[1:] - np.repeat(runs[offsets[:-1]], np.diff(offsets))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = numbers
    return ranks


def _character_ids(codes: Integers, offsets: Integers) -> Integers:
    present = np.zeros(int(codes.max(initial=0)) + 1, np.bool_)
    present[codes] = True
    numbers: Integers = np.cumsum(present, dtype=np.int64)
    if numbers[-1] < ALPHABET:
        return numbers[codes]
    width = int(np.diff(offsets).max(initial=0)).bit_length()
    return _dense(*_sorted(codes.astype(np.uint64) << np.uint64(width), offsets), offsets)


def _dictionary_ids(tokens: Tokens, offsets: Integers) -> Integers:
    strings = [token for row in tokens.all_strings() for token in row]
    ranks: list[int] = []
    for start, end in spans(offsets):
        numbers: dict[str, int] = {}
        ranks += [numbers.setdefault(token, len(numbers) + 1) for token in strings[start:end]]
    return np.array(ranks, np.int64)
