"""Training texts as sets of names: 64-bit hashes of their n-grams and of the texts themselves."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from metrichub.errors import FileError
from metrichub.text import (
    Flags,
    Integers,
    Texts,
    Tokens,
    Words,
    offsets_of,
    positions_within,
    sort_rows,
    spans,
    start_runs,
)

LINES = 5_000
"""Lines of a file that are read at a time."""

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)


class Names(NamedTuple):
    """The n-grams of N texts, flat, and where those of each text start; the N texts as a whole."""

    ngrams: Words
    offsets: Integers
    texts: Words


class Known(NamedTuple):
    """The different n-grams and the different texts of a set of texts, each sorted."""

    ngrams: Words
    texts: Words

    @classmethod
    def union(cls, parts: Iterable[Known | Names]) -> Known:
        """Everything that any part has."""
        empty = np.zeros(0, np.uint64)
        listed = list(parts)
        return cls(
            _different(np.concatenate([empty, *(part.ngrams for part in listed)])),
            _different(np.concatenate([empty, *(part.texts for part in listed)])),
        )


def names_of(column: Texts, tokenizer: str, n: int) -> Names:
    """The names of a column's n-grams and texts; no n-gram reaches into the next text."""
    tokens = column.tokens(tokenizer)
    hashes, lengths = tokens.hashes, tokens.lengths
    left = np.repeat(tokens.offsets[1:], lengths) - np.arange(len(hashes))
    first = np.flatnonzero(left >= n)
    ngrams = np.zeros(len(first), np.uint64)
    for k in range(n):
        ngrams = (ngrams + hashes[first + k]) * _FACTOR
        ngrams ^= ngrams >> _SHIFT
    return Names(ngrams, offsets_of(np.maximum(lengths - n + 1, 0)), _names(tokens))


def different_by_row(keys: Words, offsets: Integers) -> list[Words]:
    """The different keys of every row, sorted."""
    keys = keys.copy()
    sort_rows(keys, offsets)
    first = start_runs(_changed(keys), offsets)
    return split_rows(keys[first], offsets_of(first.astype(np.int64))[offsets])


def split_rows(keys: Words, offsets: Integers) -> list[Words]:
    """The keys of every row; copies, so that the rest can go."""
    return [keys[start:end].copy() for start, end in spans(offsets)]


def absent(names: Words, present: Words) -> Flags:
    """Whether each name is missing among the known ones, which are sorted."""
    if len(present) == 0:
        return np.ones(len(names), np.bool_)
    place = np.searchsorted(present, names)
    missing: Flags = present[np.minimum(place, len(present) - 1)] != names
    return missing


def read(path: str, field: str, tokenizer: str, n: int) -> Known:
    """The n-grams of a file of training texts; read once per process while it stays the same.

    Raises:
        FileError: the file can't be read, or a line has no text under `field`.
    """
    try:
        state = Path(path).stat()
    except OSError as error:
        raise FileError(path, f"the training texts can't be read ({error.strerror})") from error
    return _read(path, field, tokenizer, n, (state.st_mtime_ns, state.st_size))


@lru_cache(maxsize=4)
def _read(path: str, field: str, tokenizer: str, n: int, state: tuple[int, int]) -> Known:
    corpus = Known.union(())
    lines = _lines(path, field)
    while block := list(islice(lines, LINES)):
        corpus = Known.union((corpus, names_of(Texts(block), tokenizer, n)))
    return corpus


def _lines(path: str, field: str) -> Iterator[str]:
    try:
        with Path(path).open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                text = line.rstrip("\n")
                if text:
                    yield _field(path, number, text, field) if path.endswith(".jsonl") else text
    except UnicodeDecodeError as error:
        raise FileError(path, f"the training texts are not UTF-8 ({error.reason})") from error


def _field(path: str, number: int, line: str, field: str) -> str:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise FileError(path, f"this line isn't JSON ({error.msg})", number) from None
    text = row.get(field) if isinstance(row, dict) else None
    if not isinstance(text, str):
        raise FileError(path, f"there is no text under the key {field!r}", number)
    return text


def _different(keys: Words) -> Words:
    keys = np.sort(keys)
    different: Words = keys[_changed(keys)]
    return different


def _changed(keys: Words) -> Flags:
    """Whether each key differs from the one before it."""
    changed = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=changed[1:])
    return changed


def _names(tokens: Tokens) -> Words:
    """A hash of the tokens of every text: the sum of hashes of each token with its place."""
    places = positions_within(tokens.offsets).astype(np.uint64) + np.uint64(1)
    names = tokens.hashes ^ (places * _FACTOR)
    for _ in range(2):
        names = (names ^ (names >> _SHIFT)) * _FACTOR
    sums = np.zeros(len(names) + 1, np.uint64)
    np.cumsum(names ^ (names >> _SHIFT), out=sums[1:])
    texts: Words = np.diff(sums[tokens.offsets])
    return texts
