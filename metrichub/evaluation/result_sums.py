"""Results of metrics whose statistics add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from metrichub.catalog.frontmatter import Scale
from metrichub.evaluation.buckets import buckets_for
from metrichub.evaluation.observation import sample_scores, scores_of, scoring_errors
from metrichub.evaluation.resampling_units import Units
from metrichub.evaluation.result import NO_REASON, Outputs, Resampler, Result, Swap
from metrichub.evaluation.signature import Signature
from metrichub.evaluation.stats import BucketSums, GroupSums, Stats
from metrichub.metric import Array, Metric


@dataclass(frozen=True)
class SumResult(Result):
    """Statistics that add up: `rows` (N, ...) or None once pooled, and their sums.

    Without rows, `bucket_sums` may hold the sums of every bucket of samples.
    """

    adds_up: ClassVar[bool] = True

    rows: Stats | None
    totals: Mapping[str, Array]
    bucket_sums: BucketSums | None = None

    @classmethod
    def of(cls, metric: Metric, signature: Signature, rows: Stats) -> SumResult:
        """The result of these rows."""
        count, unanswered = rows.count, Counter(rows.undefined_for.values())
        head = (metric, signature, count, len(rows) - count, rows.why(), unanswered)
        return cls(*head, rows, rows.totals())

    @property
    def scale(self) -> Callable[[str], Scale | None]:
        """From an output to what its numbers mean, by what the samples say of it."""
        of_card = self.metric.card.scale
        of_samples = self.metric.scales(self.totals, self.count) if self.count else {}
        return (lambda output: of_samples.get(output) or of_card(output)) if of_samples else of_card

    @property
    def undefined_for(self) -> Mapping[int, str]:
        """Those of the rows."""
        return {} if self.rows is None else self.rows.undefined_for

    @property
    def pooled(self) -> bool:
        """Whether the rows were given up."""
        return self.rows is None

    def scores(self) -> dict[str, float]:
        """`score(T)`, the corpus score; `nan` where the metric says that there is none."""
        return dict(self._scores)

    @cached_property
    def _scores(self) -> Mapping[str, float]:
        count = 0 if self.mostly_unread else self.count
        outputs = scores_of(self.metric, self.totals, np.asarray(count, np.float64))
        with scoring_errors(self.metric):
            if count and self.metric.undefined(self.totals):
                outputs["score"] = np.array(np.nan)
        return {name: float(value) for name, value in outputs.items()}

    def samples(self) -> Outputs:
        """`score_samples(S)`, or without one `score(S)`, the score of every sample."""
        return sample_scores(self.metric, self._rows("samples()"))

    def added(self) -> Outputs:
        """The jackknife's pseudo-values (Tukey 1958): of a mean, they are the samples' scores."""
        sums = self._rows("added()").sums()
        rows, count = sums.flat(), np.where(sums.counts > 0, self.count, np.nan)
        arrays, counts = sums.unflat(rows.sum(axis=0) - rows)
        without, scores = scores_of(self.metric, arrays, counts), self.scores().items()
        return {name: count * score - (count - 1) * without[name] for name, score in scores}

    def why(self, sample: int) -> str | None:
        """The metric's reason, if it gave one."""
        rows = self._rows("an explanation")
        return None if rows.scored[sample] else rows.reasons.get(sample, NO_REASON)

    def resampler(self, units: Units | None = None) -> SumResampler:
        """The scores of weighed sums: `score(W @ S)`."""
        return SumResampler(self.metric, self._sums("resampling", units))

    def _sums(self, what: str, units: Units | None) -> GroupSums:
        """The statistics of every sample, cluster or bucket, which are drawn or swapped."""
        if self.bucket_sums is not None and units is not None and units.filled is not None:
            return self.bucket_sums.take(units.filled)
        rows = self._rows(what)
        if units is None or units.unit_of_sample is None:
            return rows.sums()
        return rows.grouped(units.unit_of_sample, units.number)

    def _rows(self, what: str) -> Stats:
        if self.rows is None:
            raise self._pooled_error(what)
        return self.rows

    def pool(self) -> SumResult:
        """The sums without the rows."""
        return replace(self, rows=None, bucket_sums=None)

    def without_rows(self, place: NDArray[np.int64], by_position: bool) -> SumResult:
        """The sums of all samples and of every bucket; without these if they were too wide."""
        rows = self._rows("a sum")
        buckets = buckets_for(rows.sums().width)
        if buckets is None:
            return self.pool()
        sums = rows.grouped(place % buckets, buckets)
        bucket_sums = BucketSums(sums.arrays, sums.counts, by_position)
        return replace(self, rows=None, bucket_sums=bucket_sums)

    @property
    def buckets(self) -> BucketSums | None:
        """The sums of buckets of samples, once the rows are gone."""
        return self.bucket_sums

    @property
    def statistics(self) -> Stats | None:
        """The statistics of every sample, None once pooled."""
        return self.rows

    def scored(self) -> NDArray[np.bool_]:
        """Which samples have a score, (N,)."""
        return self._rows("a paired test").scored

    def only(self, samples: NDArray[np.bool_]) -> SumResult:
        """The sums over the samples of the mask."""
        return SumResult.of(self.metric, self.signature, self._rows("a paired test").only(samples))

    def take(self, index: NDArray[np.int64]) -> SumResult:
        """The result of some samples, in the order of the index."""
        return SumResult.of(self.metric, self.signature, self._rows("a group").take(index))

    def notes(self) -> Sequence[str]:
        """The metric's own notes on the summed statistics."""
        with scoring_errors(self.metric):
            return self.metric.notes(self.totals) if self.count else ()

    @classmethod
    def merge(cls, parts: Sequence[SumResult], signature: Signature) -> SumResult:
        """The result of all parts' samples, in order; pooled if any part is."""
        first = parts[0]
        rows = [part.rows for part in parts if part.rows is not None]
        if len(rows) == len(parts):
            return cls.of(first.metric, signature, Stats.concatenate(rows))
        filled = [part for part in parts if part.count] or [first]
        names = dict.fromkeys(name for part in filled for name in part.totals)
        totals = {
            name: np.asarray(sum(part.totals.get(name, 0) for part in filled)) for name in names
        }
        return cls(
            *cls.head_of(parts, signature),
            None,
            totals,
            BucketSums.merged([(part.count + part.unscored, part.bucket_sums) for part in parts]),
        )


class SumResampler(Resampler):
    """The scores of sums over units that are drawn or swapped."""

    def __init__(self, metric: Metric, sums: GroupSums) -> None:
        self.metric, self.sums, self.columns = metric, sums, sums.flat()
        self.total = self.columns.sum(axis=0)

    def drawn(self, weights: NDArray[np.float64], product: NDArray[np.float64]) -> Outputs:
        """The scores of the product, which is all that they need."""
        return scores_of(self.metric, *self.sums.unflat(product))

    def against(self, other: SumResampler) -> Swap:
        """`score(M @ A + (1 - M) @ B)`, as ΣB + M @ (A - B), and the same of 1 - M."""

        def swapped(
            tosses: NDArray[np.bool_], product: NDArray[np.float64]
        ) -> tuple[Outputs, Outputs]:
            return (
                self.drawn(product, other.total + product),
                self.drawn(product, self.total - product),
            )

        return swapped
