"""What one metric measured of all samples: rows that add up, or objects that don't.

Both kinds answer the same questions (scores, samples, resampled scores, merge, pool), so that a
report needs no knowledge of the metrics in it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrichub.errors import ReportError
from metrichub.evaluation.observation import scores_of
from metrichub.evaluation.resample import Draw
from metrichub.evaluation.signature import Signature
from metrichub.evaluation.stats import Stats
from metrichub.metric import Array, CorpusMetric, Metric, Unscored

Outputs = dict[str, NDArray[np.float64]]
Swap = Callable[[NDArray[np.bool_]], tuple[Outputs, Outputs]]
"""From tosses (b, N) to both systems' scores (b,): each keeps its rows where a toss is True."""
NO_REASON = "the metric gives no score"


@dataclass(frozen=True)
class Result(ABC):
    """What one metric measured. `count` and `unscored` are numbers of samples.

    `unanswered` counts those of the unscored whose prediction the definition gives no value, by
    the card's word for it.
    """

    metric: Metric
    signature: Signature
    count: int
    unscored: int
    reasons: Counter[str]
    unanswered: Counter[str]

    @property
    @abstractmethod
    def pooled(self) -> bool:
        """Whether the rows were given up: no samples, intervals or tests."""

    @abstractmethod
    def scores(self) -> dict[str, float]:
        """The corpus score of every output; `nan` if nothing was scored."""

    @abstractmethod
    def samples(self) -> Outputs:
        """The score of every sample, (N,) an output; `nan` where unscored."""

    @abstractmethod
    def why(self, sample: int) -> str | None:
        """Why a sample is unscored; None if it is scored."""

    @abstractmethod
    def resampled(self, draw: Draw) -> Outputs:
        """The corpus scores (b,) of b resamples."""

    @abstractmethod
    def against(self, other: Any) -> Swap:
        """What gives the corpus scores of this system and the other after swaps of their rows."""

    @abstractmethod
    def pool(self) -> Result:
        """The same corpus scores without the rows."""

    @classmethod
    @abstractmethod
    def merge(cls, parts: Sequence[Any], signature: Signature) -> Result:
        """The result of all parts' samples, in order."""

    @abstractmethod
    def saved(self) -> dict[str, Any]:
        """What a file holds of it beside the scores: arrays, rows, and what they belong to."""

    @abstractmethod
    def check(self, size: int) -> None:
        """Raise `ValueError` if the parts don't fit together and a report of `size`."""

    @abstractmethod
    def scored(self) -> NDArray[np.bool_]:
        """Which samples have a score, (N,).

        Raises:
            ReportError: it was pooled.
        """

    @abstractmethod
    def only(self, samples: NDArray[np.bool_]) -> Result:
        """The same where only the samples of the mask (N,) are scored."""

    @property
    def statistics(self) -> Stats | None:
        """The statistics of every sample; None where there are none, or no longer."""
        return None

    @property
    def only_sums(self) -> bool:
        """Whether all that is left are sums, so that parts can be merged as they come."""
        return False

    def without_rows(self) -> Result:
        """The same with less to keep, where scores and merges need no rows."""
        return self

    def notes(self) -> Sequence[str]:
        """Remarks that a reader of the corpus score has to know."""
        return ()

    def _was_pooled(self, what: str) -> ReportError:
        return ReportError(
            f"{self.metric.name}: this report was pooled, so there are no samples for {what}; "
            "keep the report as it was before pool(), or evaluate with samples=True"
        )


@dataclass(frozen=True)
class SumResult(Result):
    """Statistics that add up: `rows` (N, ...) or None once pooled, and their sums."""

    rows: Stats | None
    totals: Mapping[str, Array]

    @classmethod
    def of(cls, metric: Metric, signature: Signature, rows: Stats) -> SumResult:
        """The result of these rows."""
        count, unanswered = rows.count, Counter(rows.undefined_for.values())
        head = (metric, signature, count, len(rows) - count, rows.why(), unanswered)
        return cls(*head, rows, rows.totals())

    @property
    def pooled(self) -> bool:
        """Whether the rows were given up."""
        return self.rows is None

    def scores(self) -> dict[str, float]:
        """`score(T)`, the corpus score."""
        found = scores_of(self.metric, self.totals, np.asarray(self.count, np.float64))
        return {name: float(value) for name, value in found.items()}

    def samples(self) -> Outputs:
        """`score(S)`, the score of every sample."""
        rows = self._kept("samples")
        return scores_of(self.metric, rows.arrays, rows.scored.astype(np.float64))

    def why(self, sample: int) -> str | None:
        """The metric's reason, if it gave one."""
        rows = self._kept("explanations")
        return None if rows.scored[sample] else rows.reasons.get(sample, NO_REASON)

    def resampled(self, draw: Draw) -> Outputs:
        """`score(W @ S)`, where W counts how often each sample was drawn."""
        rows = self._kept("resampling")
        arrays, count = rows.unflat(draw.weights @ self._flat)
        return scores_of(self.metric, arrays, count)

    def against(self, other: SumResult) -> Swap:
        """`score(M @ A + (1 - M) @ B)`, as ΣB + M @ (A - B), and the same of 1 - M."""
        # Together, as a system without a scored sample can't know the shape of its statistics.
        both = Stats.concatenate(
            [part._kept("a paired test") for part in (self, other)]  # noqa: SLF001  # of this class
        )
        here, there = np.split(both.flat(), 2)
        difference, mine, theirs = here - there, here.sum(axis=0), there.sum(axis=0)

        def swapped(mask: NDArray[np.bool_]) -> tuple[Outputs, Outputs]:
            moved = mask.astype(np.float64) @ difference
            one, two = both.unflat(theirs + moved), both.unflat(mine - moved)
            return scores_of(self.metric, *one), scores_of(self.metric, *two)

        return swapped

    @cached_property
    def _flat(self) -> NDArray[np.float64]:
        return self._kept("resampling").flat()

    def _kept(self, what: str) -> Stats:
        if self.rows is None:
            raise self._was_pooled(what)
        return self.rows

    def pool(self) -> SumResult:
        """The sums without the rows."""
        return replace(self, rows=None)

    def without_rows(self) -> SumResult:
        """The sums: they are all that scores and merges need."""
        return self.pool()

    @property
    def only_sums(self) -> bool:
        """Whether the rows were given up."""
        return self.pooled

    @property
    def statistics(self) -> Stats | None:
        """The statistics of every sample, None once pooled."""
        return self.rows

    def scored(self) -> NDArray[np.bool_]:
        """Which samples have a score, (N,)."""
        return self._kept("a paired test").scored

    def only(self, samples: NDArray[np.bool_]) -> SumResult:
        """The sums over the samples of the mask."""
        return SumResult.of(self.metric, self.signature, self._kept("a paired test").only(samples))

    def saved(self) -> dict[str, Any]:
        """The sums, and the statistics of every sample with the reasons of those unscored."""
        sums: dict[str, Any] = {"totals": self.totals}
        if self.rows is None:
            return sums
        why = {str(row): reason for row, reason in self.rows.reasons.items()}
        saved = {"statistics": self.rows.arrays, "scored": self.rows.scored.tolist(), "why": why}
        if self.rows.undefined_for:
            found = self.rows.undefined_for.items()
            saved["undefined_for"] = {str(row): kind for row, kind in found}
        return sums | saved

    def check(self, size: int) -> None:
        """Raise `ValueError` if rows and sums differ, or there are other than `size` samples."""
        sizes = [self.count + self.unscored]
        if self.rows is not None:
            sizes += [len(self.rows), *map(len, self.rows.arrays.values())]
            if not _equal(self.rows.totals(), self.totals) or self.rows.count != self.count:
                raise ValueError("its samples have other sums than it says")
        _check_sizes(sizes, size)

    def notes(self) -> Sequence[str]:
        """What the metric itself says of the summed statistics."""
        return self.metric.notes(self.totals) if self.count else ()

    @classmethod
    def merge(cls, parts: Sequence[SumResult], signature: Signature) -> SumResult:
        """The result of all parts' samples, in order; pooled if any part is."""
        first = parts[0]
        kept = [part.rows for part in parts if part.rows is not None]
        if len(kept) == len(parts):
            return cls.of(first.metric, signature, Stats.concatenate(kept))
        filled = [part for part in parts if part.count] or [first]
        totals = {
            name: np.asarray(sum(part.totals[name] for part in filled)) for name in filled[0].totals
        }
        return cls(
            first.metric,
            signature,
            sum(part.count for part in parts),
            sum(part.unscored for part in parts),
            sum((part.reasons for part in parts), Counter()),
            sum((part.unanswered for part in parts), Counter()),
            None,
            totals,
        )


@dataclass(frozen=True)
class RowsResult(Result):
    """Objects that a corpus metric observed: `rows`, and the sample each belongs to.

    Once pooled, only `final`, the concluded scores, is left.
    """

    rows: Sequence[Any]
    sample: NDArray[np.int64]
    size: int
    final: Mapping[str, float] | None = None

    @classmethod
    def of(
        cls,
        metric: Metric,
        signature: Signature,
        rows: Sequence[Any],
        sample: NDArray[np.int64],
        size: int,
    ) -> RowsResult:
        """The result of these rows; a row that is None or `Unscored` is left out."""
        left_out = [row is None or isinstance(row, Unscored) for row in rows]
        index = sample[~np.array(left_out, np.bool_)]
        scored = set(index.tolist())
        unscored = {
            number: row
            for row, number in zip(rows, sample.tolist(), strict=True)
            if isinstance(row, Unscored) and number not in scored
        }
        why = Counter(row.reason for row in unscored.values())
        unanswered = Counter(r.undefined_for for r in unscored.values() if r.undefined_for)
        return cls(
            *(metric, signature, len(scored), size - len(scored), why, unanswered),
            [row for row, out in zip(rows, left_out, strict=True) if not out],
            index,
            size,
        )

    @property
    def _metric(self) -> CorpusMetric:
        assert isinstance(self.metric, CorpusMetric)
        return self.metric

    @property
    def pooled(self) -> bool:
        """Whether only the concluded scores are left."""
        return self.final is not None

    def scores(self) -> dict[str, float]:
        """What the metric concludes from all rows."""
        if self.final is not None:
            return dict(self.final)
        if not self.rows:
            return dict.fromkeys(self.metric.outputs(), float("nan"))
        return {name: float(v) for name, v in self._metric.conclude(self.rows).items()}

    def samples(self) -> Outputs:
        """The mean over each sample's rows of what the metric says of single rows."""
        if self.pooled:
            raise self._was_pooled("samples")
        number = np.bincount(self.sample, minlength=self.size)
        with np.errstate(all="ignore"):
            return {
                name: np.bincount(self.sample, np.asarray(values, np.float64), self.size) / number
                for name, values in self._metric.samples(self.rows).items()
            }

    def why(self, sample: int) -> str | None:
        """That the metric has no row of the sample."""
        return None if (self.sample == sample).any() else NO_REASON

    def resampled(self, draw: Draw) -> Outputs:
        """What the metric concludes from the rows of each resample; `nan` if it says nothing."""
        if not self._metric.resamples:
            return {name: np.full(len(draw.index), np.nan) for name in self.metric.outputs()}
        groups = self._groups("resampling")
        return _stacked(
            self._conclude([row for number in numbers for row in groups[number]])
            for numbers in draw.index.tolist()
        )

    def against(self, other: RowsResult) -> Swap:
        """What the metric concludes from this system's rows where the mask holds, else other's."""
        pairs = list(
            zip(self._groups("a paired test"), other._groups("a paired test"), strict=True)
        )

        def concluded(mask: NDArray[np.bool_]) -> Outputs:
            return _stacked(
                self._conclude(
                    [row for mine, pair in zip(kept, pairs, strict=True) for row in pair[not mine]]
                )
                for kept in mask.tolist()
            )

        return lambda mask: (concluded(mask), concluded(~mask))

    def pool(self) -> RowsResult:
        """The concluded scores without the rows."""
        return replace(self, rows=(), sample=self.sample[:0], final=self.scores())

    def scored(self) -> NDArray[np.bool_]:
        """Which samples have a row, (N,)."""
        if self.pooled:
            raise self._was_pooled("a paired test")
        return np.isin(np.arange(self.size), self.sample)

    def only(self, samples: NDArray[np.bool_]) -> RowsResult:
        """The rows of the samples of the mask."""
        kept = samples[self.sample]
        rows = [row for row, keep in zip(self.rows, kept.tolist(), strict=True) if keep]
        return replace(self, rows=rows, sample=self.sample[kept])

    def saved(self) -> dict[str, Any]:
        """The rows with the sample of each, and once pooled the concluded scores."""
        saved: dict[str, Any] = {
            "rows": list(self.rows),
            "sample": self.sample.tolist(),
            "size": self.size,
        }
        return saved if self.final is None else saved | {"final": self.final}

    def check(self, size: int) -> None:
        """Raise `ValueError` if a row belongs to no sample, or there are other than `size`."""
        inside = (self.sample >= 0) & (self.sample < size)
        if len(inside) != len(self.rows) or not inside.all():
            raise ValueError("its rows belong to no sample")
        _check_sizes([self.count + self.unscored, self.size], size)

    def _conclude(self, rows: Sequence[Any]) -> Mapping[str, float]:
        if not rows:
            return dict.fromkeys(self.metric.outputs(), float("nan"))
        return self._metric.conclude(rows)

    def _groups(self, what: str) -> list[list[Any]]:
        if self.pooled:
            raise self._was_pooled(what)
        groups: list[list[Any]] = [[] for _ in range(self.size)]
        for row, number in zip(self.rows, self.sample.tolist(), strict=True):
            groups[number].append(row)
        return groups

    @classmethod
    def merge(cls, parts: Sequence[RowsResult], signature: Signature) -> RowsResult:
        """The result of all parts' samples, in order.

        Raises:
            ReportError: a part was pooled; corpus metrics merge by their rows.
        """
        for part in parts:
            if part.pooled:
                why = "merging (its scores don't add up)"
                raise part._was_pooled(why)  # noqa: SLF001  # of this class
        starts = np.cumsum([0, *(part.size for part in parts)]).tolist()
        rows = [row for part in parts for row in part.rows]
        sample = np.concatenate([p.sample + s for p, s in zip(parts, starts, strict=False)])
        merged = cls.of(parts[0].metric, signature, rows, sample, starts[-1])
        reasons = sum((part.reasons for part in parts), Counter())
        unanswered = sum((part.unanswered for part in parts), Counter())
        return replace(merged, reasons=reasons, unanswered=unanswered)


def _check_sizes(found: Sequence[int], size: int) -> None:
    if set(found) != {size}:
        raise ValueError(f"its parts have {[size, *found]} samples")


def _equal(one: Mapping[str, Array], other: Mapping[str, Array]) -> bool:
    return one.keys() == other.keys() and all(
        one[name].shape == other[name].shape and np.allclose(one[name], other[name], equal_nan=True)
        for name in one
    )


def _stacked(rows: Iterator[Mapping[str, float]]) -> Outputs:
    found = list(rows)
    return {name: np.array([row[name] for row in found], np.float64) for name in found[0]}
