"""Bucket totals: a fixed number of sums in place of samples, which still have intervals and tests.

Every sample falls into one of 1,000 buckets by a hash of its key, or by its position, and only the
sums of every bucket are kept. A bootstrap draws buckets and a paired test swaps them, as the same
keys fall into the same buckets for every system. Merging is addition.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from metrichub.data.batch import Batch, Column
from metrichub.errors import ReportError, listed
from metrichub.evaluation.stats import sums_of_groups

BUCKETS = 1000
FEW = 200
"""The number of buckets of a metric that has many statistics."""
CELLS = 1_000_000
"""How many numbers the buckets of one metric hold at most; FEW must divide BUCKETS."""
ROUGH = 50
"""Fewer filled buckets than this make rough intervals."""


@dataclass(frozen=True)
class BucketSizes:
    """How many samples every bucket holds, (1000,), and what was read of them.

    `key` names the columns whose values chose the bucket; none says that the position did.
    `prints` has for every column that systems don't make a number a bucket that two systems share
    if they were given the same samples, whatever their order within it.
    """

    key: tuple[str, ...]
    sizes: NDArray[np.int64]
    prints: Mapping[str, NDArray[np.uint64]]

    @classmethod
    def of(cls, batch: Batch, key: tuple[str, ...], by_systems: Collection[str]) -> BucketSizes:
        """The buckets of a batch; by position its first sample is in the first."""
        place = places(batch)
        prints = {
            name: sums_of_groups(_prints(column), place, BUCKETS)
            for name, column in batch.columns.items()
            if name not in by_systems
        }
        return cls(key, np.bincount(place, minlength=BUCKETS), prints)

    @classmethod
    def merged(cls, parts: Sequence[tuple[int, BucketSizes | None]]) -> BucketSizes | None:
        """The buckets of all parts in order, given with their numbers of samples.

        None where a part has none.

        Raises:
            ReportError: parts have other keys, since no bucket then holds what it says.
        """
        filled = [(size, part) for size, part in parts if size or part]
        summed = [part for _, part in filled if part is not None]
        if not summed or len(summed) < len(filled):
            return None
        first = summed[0].key
        if other := next((part for part in summed if part.key != first), None):
            raise ReportError(
                f"one report holds sums by {summed[0].named} and another by {other.named}; to "
                "merge them, evaluate all with the same key"
            )
        starts = np.cumsum([0, *(size for size, _ in filled)]).tolist()
        moved = [p.shifted(start) for p, start in zip(summed, starts, strict=False)]
        columns = set.intersection(*(set(part.prints) for part in moved))
        return cls(
            summed[0].key,
            reduce(np.add, (part.sizes for part in moved)),
            {n: reduce(np.add, (part.prints[n] for part in moved)) for n in sorted(columns)},
        )

    @property
    def named(self) -> str:
        """The key or the position by which samples were summed, in words."""
        return listed(map(repr, self.key)) if self.key else "position"

    def filled(self, buckets: int) -> NDArray[np.int64]:
        """Which buckets hold samples, if there are this number of them."""
        return np.flatnonzero(self.sizes.reshape(-1, buckets).sum(axis=0))

    def check_same(self, other: BucketSizes) -> None:
        """Raise `ReportError` unless both have as many samples in each bucket of one key."""
        if self.key != other.key:
            raise ReportError(
                f"one system holds sums by {self.named} and the other by {other.named}; "
                "a paired test needs the same key"
            )
        if (self.sizes != other.sizes).any():
            raise ReportError(
                f"the systems have different values of {self.named}; a paired test needs the "
                "same samples"
            )

    def notes(self) -> list[str]:
        """That intervals are rough where the samples fell into few buckets."""
        number = len(self.filled(BUCKETS))
        if self.key and 0 < number < min(ROUGH, int(self.sizes.sum())):
            return [
                f"intervals are rough, as {self.named} has only about {number} different values"
            ]
        return []

    def shifted(self, start: int) -> BucketSizes:
        """The same behind `start` other samples."""
        if self.key or not start:
            return self
        prints = {name: np.roll(values, start) for name, values in self.prints.items()}
        return BucketSizes(self.key, np.roll(self.sizes, start), prints)


def places(batch: Batch) -> NDArray[np.int64]:
    """The bucket of every sample of a batch, (N,): by its key, or by its position."""
    if batch.keys is None:
        return np.arange(batch.size) % BUCKETS
    return (batch.keys % np.uint64(BUCKETS)).astype(np.int64)


def buckets_for(width: int) -> int | None:
    """The number of buckets for statistics of this width; None where even few are too big."""
    return next((number for number in (BUCKETS, FEW) if number * width <= CELLS), None)


def _prints(column: Column) -> NDArray[np.uint64]:
    """A number that depends on all items of a sample, (N,), and on no other sample."""
    items = [f"{len(text)}:{text}" for text in map(str, column.items)]
    texts: Iterable[str] = items
    if column.offsets is not None:
        texts = ("".join(items[a:b]) for a, b in pairwise(column.offsets))
    prints = [crc32(text.encode("utf-8", "surrogatepass")) << 32 | len(text) for text in texts]
    return np.array(prints, np.uint64)
