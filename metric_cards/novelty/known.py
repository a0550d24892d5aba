"""Training texts as sets of names: 64-bit hashes of their n-grams and of the texts themselves."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from metrichub.errors import FileError
from metrichub.text import Flags, Integers, Texts, Words, offsets_of, spans

LINES = 5_000
"""Lines of a file that are read at a time."""

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)


class Names(NamedTuple):
    """The n-grams of N texts, flat, and where those of each text start; the N texts as a whole."""

    ngrams: Words
    offsets: Integers
    texts: Words

    def part(self, start: int, end: int) -> Names:
        """The names of the texts from one place to another; a copy, so that the rest can go."""
        first, last = self.offsets[start], self.offsets[end]
        return Names(
            self.ngrams[first:last].copy(),
            self.offsets[start : end + 1] - first,
            self.texts[start:end].copy(),
        )


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
            np.unique(np.concatenate([empty, *(part.ngrams for part in listed)])),
            np.unique(np.concatenate([empty, *(part.texts for part in listed)])),
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
    texts = [_name(hashes[start:end]) for start, end in spans(tokens.offsets)]
    return Names(ngrams, offsets_of(np.maximum(lengths - n + 1, 0)), np.array(texts, np.uint64))


def absent(names: Words, known: Words) -> Flags:
    """Whether each name is missing among the known ones, which are sorted."""
    if len(known) == 0:
        return np.ones(len(names), np.bool_)
    place = np.searchsorted(known, names)
    missing: Flags = known[np.minimum(place, len(known) - 1)] != names
    return missing


def read(path: str, field: str, tokenizer: str, n: int) -> Known:
    """What a file of training texts knows; read once per process as long as it stays the same.

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
    known = Known.union(())
    lines = _lines(path, field)
    while block := list(islice(lines, LINES)):
        known = Known.union((known, names_of(Texts(block), tokenizer, n)))
    return known


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
        raise FileError(path, f"this line is no JSON ({error.msg})", number) from None
    text = row.get(field) if isinstance(row, dict) else None
    if not isinstance(text, str):
        raise FileError(path, f"there is no text under the key {field!r}", number)
    return text


def _name(tokens: Words) -> int:
    return int.from_bytes(blake2b(tokens.tobytes(), digest_size=8).digest(), "little")
