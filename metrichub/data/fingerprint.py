"""Fingerprint: a hash of every column of a stream of batches, however the stream is cut."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from metrichub.data.batch import Batch

_ITEMS = 10_000
"""How many items are joined at a time, so that no column is copied whole."""


class Fingerprint:
    """Hashes of all columns but the predictions; systems are compared on equal ones."""

    def __init__(self) -> None:
        self._columns: dict[str, _ColumnHash] = {}

    def add(self, batch: Batch) -> None:
        """Go on with more samples."""
        for name, column in batch.columns.items():
            if name != "predictions":
                self._columns.setdefault(name, _ColumnHash()).add(column.items, column.counts)

    def digests(self) -> Mapping[str, str]:
        """The hash of every column so far."""
        return {name: column.digest() for name, column in self._columns.items()}


def digest_of(digests: Sequence[object], index: NDArray[np.int64]) -> str:
    """The hash of some samples of a stream, of which these are the hashes and sizes."""
    told = "|".join(map(str, digests)).encode()
    return _hash(told + index.astype("<i8").tobytes()).hexdigest()


class _ColumnHash:
    """Three hashes, since an item's length and text and a sample's number of items could blur."""

    def __init__(self) -> None:
        self._counts, self._lengths, self._text = _hash(), _hash(), _hash()

    def add(self, items: Sequence[Any], counts: NDArray[np.int64]) -> None:
        """Go on with more samples."""
        self._counts.update(counts.astype("<i8").tobytes())
        for start in range(0, len(items), _ITEMS):
            texts = [str(item) for item in items[start : start + _ITEMS]]
            self._lengths.update(np.fromiter(map(len, texts), "<i8", len(texts)).tobytes())
            self._text.update("".join(texts).encode("utf-8", "surrogatepass"))

    def digest(self) -> str:
        """The hash of the three."""
        parts = self._counts.digest() + self._lengths.digest() + self._text.digest()
        return _hash(parts).hexdigest()


def _hash(content: bytes = b"") -> hashlib.blake2b:
    return hashlib.blake2b(content, digest_size=8)
