"""Stats: what a metric measured of every sample, as named arrays with the sample axis first."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from metrichub.errors import MetricError
from metrichub.metric import Array as Array
from metrichub.metric import Unscored

_CANCELLED = 1e-6
"""A sum that is so small a part of the sum of its sizes has lost over six digits."""
T = TypeVar("T")
NOTED = "noted_"
"""How the names of statistics begin that only `notes` reads; where none counts, they may lack."""


def scored_by(arrays: Mapping[str, T]) -> dict[str, T]:
    """The statistics that `score` takes."""
    return {name: array for name, array in arrays.items() if not name.startswith(NOTED)}


@dataclass(frozen=True)
class GroupSums:
    """Statistics summed over groups of samples: each array is (G, ...).

    `counts` is (G,), the number of scored samples of every group.
    """

    arrays: Mapping[str, Array]
    counts: NDArray[np.int64]

    @property
    def width(self) -> int:
        """How many numbers a group has beside its count."""
        return sum(int(np.prod(array.shape[1:])) for array in self.arrays.values())

    def take(self, index: NDArray[np.int64]) -> GroupSums:
        """The groups at `index`, in that order."""
        return GroupSums({k: a[index] for k, a in self.arrays.items()}, self.counts[index])

    def flat(self) -> NDArray[np.float64]:
        """The groups as one matrix (G, K): all arrays side by side, then `counts`."""
        groups = len(self.counts)
        parts = [
            a.reshape(groups, int(np.prod(a.shape[1:]))).astype(np.float64)
            for a in self.arrays.values()
        ]
        return np.hstack([*parts, self.counts[:, None].astype(np.float64)])

    def unflat(self, matrix: NDArray[np.float64]) -> tuple[dict[str, Array], NDArray[np.float64]]:
        """Weighted sums (..., K) of `flat()` as arrays (..., *shape), and the count (...)."""
        arrays: dict[str, Array] = {}
        start = 0
        for name, array in self.arrays.items():
            width = int(np.prod(array.shape[1:]))
            part = matrix[..., start : start + width]
            arrays[name] = part.reshape(*matrix.shape[:-1], *array.shape[1:])
            start += width
        return arrays, matrix[..., start]


@dataclass(frozen=True)
class BucketSums(GroupSums):
    """Sums of the samples of every bucket; see `metrichub.evaluation.buckets`.

    `by_position` says that a sample's position chose its bucket.
    """

    by_position: bool

    @classmethod
    def merged(cls, parts: Sequence[tuple[int, BucketSums | None]]) -> BucketSums | None:
        """The sums of all parts in order, given with their numbers of samples, if all have them."""
        filled = [(size, part) for size, part in parts if size] or list(parts[:1])
        summed = [part for _, part in filled if part is not None]
        if (
            not summed
            or len(summed) < len(filled)
            or len({part.by_position for part in summed}) > 1
        ):
            return None
        starts = np.cumsum([0, *(size for size, _ in filled)]).tolist()
        moved = [part.shifted(start) for part, start in zip(summed, starts, strict=False)]
        # A part without a scored sample can't know how wide the others' statistics are.
        scored = [part for part in moved if part.counts.any()] or moved[:1]
        if len({len(part.counts) for part in scored}) > 1:
            return None
        arrays = {
            name: np.asarray(sum(part.arrays[name] for part in scored)) for name in scored[0].arrays
        }
        return cls(arrays, np.asarray(sum(part.counts for part in scored)), summed[0].by_position)

    def shifted(self, start: int) -> BucketSums:
        """The same behind `start` other samples."""
        if not self.by_position or not start:
            return self
        shift = start % len(self.counts)
        arrays = {name: np.roll(array, shift, axis=0) for name, array in self.arrays.items()}
        return BucketSums(arrays, np.roll(self.counts, shift), True)


@dataclass(frozen=True)
class Stats:
    """Rows S of a metric: each array is (N, ...); `scored` is (N,) and says which rows count.

    A row that was measured as `nan` holds zeros here and is False in `scored`, so that sums over
    rows need no mask. `reasons` says why a row is unscored, where the metric gave a reason, and
    `undefined_for` which rows are so for their prediction (see `Unscored`).
    """

    arrays: Mapping[str, Array]
    scored: NDArray[np.bool_]
    reasons: Mapping[int, str] = field(default_factory=dict)
    undefined_for: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        measured: Mapping[str, object],
        rows: int,
        reasons: Mapping[int, str] | None = None,
        undefined_for: Mapping[int, str] | None = None,
    ) -> Stats:
        """The rows that a metric measured; a row with a `nan` anywhere is unscored.

        Raises:
            MetricError: an array doesn't have one row per sample, or isn't numeric.
        """
        arrays: dict[str, Array] = {}
        scored = np.ones(rows, np.bool_)
        for name, values in measured.items():
            array = np.asarray(values)
            if array.shape[:1] != (rows,) or array.dtype.kind not in "biuf":
                raise MetricError(
                    f"the statistic {name!r} has shape {array.shape} and type {array.dtype}; "
                    f"numbers of shape ({rows}, ...) are needed"
                )
            kind = np.float64 if array.dtype.kind == "f" else np.int64
            arrays[name] = array.astype(kind, copy=False)
            if kind is np.float64:
                scored &= ~np.isnan(array).reshape(rows, array.size // max(rows, 1)).any(axis=1)
        stats = cls(arrays, scored, dict(reasons or {}), dict(undefined_for or {}))
        return stats if scored.all() else stats.only(scored)

    def __len__(self) -> int:
        return len(self.scored)

    @property
    def count(self) -> int:
        """The number of scored rows."""
        return int(self.scored.sum())

    def totals(self) -> dict[str, Array]:
        """T = ΣS: each array summed over the samples."""
        return {name: sum_of(array) for name, array in self.arrays.items()}

    def take(self, index: NDArray[np.int64]) -> Stats:
        """The rows at `index`, in that order."""
        reasons, undefined_for = (
            {i: words[r] for i, r in enumerate(index.tolist()) if r in words} if words else {}
            for words in (self.reasons, self.undefined_for)
        )
        arrays = {k: a[index] for k, a in self.arrays.items()}
        return Stats(arrays, self.scored[index], reasons, undefined_for)

    def only(self, mask: NDArray[np.bool_]) -> Stats:
        """The same rows, where only those of the mask (N,) are scored."""
        arrays = {
            name: np.where(by_row(mask, a), a, a.dtype.type(0)) for name, a in self.arrays.items()
        }
        return Stats(arrays, self.scored & mask, self.reasons, self.undefined_for)

    def without(self, rows: Mapping[int, Unscored]) -> Stats:
        """The same, where these rows are unscored."""
        if not rows:
            return self
        mask = np.ones(len(self), np.bool_)
        mask[list(rows)] = False
        kinds = {row: kind for row, kind in self.undefined_for.items() if row not in rows}
        kinds |= {row: u.undefined_for for row, u in rows.items() if u.undefined_for}
        reasons = {**self.reasons, **{row: u.reason for row, u in rows.items()}}
        return replace(self.only(mask), reasons=reasons, undefined_for=kinds)

    def replaced(self, mask: NDArray[np.bool_], row: Mapping[str, Any]) -> Stats:
        """The same with this row in place of those of the mask, but for rows without a score.

        A row that is unscored for its prediction is replaced, too; statistics that the row lacks,
        as they aren't outputs, are 0.
        """
        kinds = self.undefined_for
        undefined = np.zeros(len(self), np.bool_)
        undefined[list(kinds)] = True
        mask = mask & (self.scored | undefined)
        arrays = {
            name: np.where(by_row(mask, array), row.get(name, 0), array)
            for name, array in self.arrays.items()
        }
        reasons, kinds = (
            {place: word for place, word in words.items() if not mask[place]}
            for words in (self.reasons, kinds)
        )
        return Stats(arrays, self.scored | mask, reasons, kinds)

    @staticmethod
    def concatenate(parts: Sequence[Stats]) -> Stats:
        """The rows of all parts, in order.

        Raises:
            MetricError: the parts hold other statistics, or of another shape.
        """
        if len(parts) == 1:
            return parts[0]
        starts = np.cumsum([0, *(len(part) for part in parts)]).tolist()
        shape_giver = next((part for part in parts if part.scored.any()), parts[0])
        shapes = shape_giver.shapes
        for part in parts:
            if part.scored.any() and part.shapes != shapes:
                raise MetricError(
                    f"the statistics have to be the same for all samples, not {part.shapes} "
                    f"and {shapes}"
                )
        every = [(name, array) for part in parts for name, array in part.arrays.items()]
        noted = {name: array for name, array in every if name.startswith(NOTED)}
        arrays = {
            name: np.concatenate([part.like(name, array) for part in parts])
            for name, array in {**shape_giver.arrays, **noted}.items()
        }
        reasons, undefined_for = (
            {
                start + row: word
                for start, words in zip(starts, by_part, strict=False)
                for row, word in words.items()
            }
            for by_part in ([p.reasons for p in parts], [p.undefined_for for p in parts])
        )
        scored = np.concatenate([part.scored for part in parts])
        return Stats(arrays, scored, reasons, undefined_for)

    def like(self, name: str, other: Array) -> Array:
        """The array of a name; zeros in the other's shape where no row has it, or is scored."""
        if self.scored.any() and name in self.arrays:
            return self.arrays[name]
        return np.zeros((len(self), *other.shape[1:]), other.dtype)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each statistic of one row that `score` takes."""
        return {name: array.shape[1:] for name, array in scored_by(self.arrays).items()}

    def why(self) -> Counter[str]:
        """How often each reason for an unscored row was given."""
        return Counter(self.reasons.values())

    def sums(self) -> GroupSums:
        """Every sample as a separate group."""
        return GroupSums(scored_by(self.arrays), self.scored.astype(np.int64))

    def grouped(self, of: NDArray[np.int64], number: int) -> GroupSums:
        """The sums of the samples of every group; `of` is (N,), the group of every sample."""
        arrays = scored_by(self.arrays).items()
        return GroupSums(
            {name: sums_of_groups(array, of, number) for name, array in arrays},
            sums_of_groups(self.scored.astype(np.int64), of, number),
        )


def sum_of(array: Array) -> Array:
    """The sum of an array (N, ...) over its rows, exact where its parts cancel each other."""
    total = np.asarray(array.sum(axis=0))
    if array.dtype.kind == "f" and array.min(initial=0) < 0:
        with np.errstate(over="ignore"):
            sizes = abs(array).sum(axis=0)
        cancelled = np.isfinite(sizes) & (abs(total) < _CANCELLED * sizes)
        for column in np.flatnonzero(cancelled).tolist():
            total.flat[column] = math.fsum(array.reshape(len(array), -1)[:, column].tolist())
    return total


def by_row(values: NDArray[Any], array: Array) -> NDArray[Any]:
    """A value for each row (N,), in the shape that goes with the rows of an array (N, ...)."""
    return values.reshape(-1, *[1] * (array.ndim - 1))


def sums_of_groups(values: Array, of: NDArray[np.int64], number: int) -> Array:
    """The sums (G, ...) of values (N, ...) by the group of each, (N,), which is below `number`."""
    sums = np.zeros((number, *values.shape[1:]), values.dtype)
    np.add.at(sums, of, values)
    return sums
