"""Results of corpus metrics: objects that they conclude from, and the sample of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrichub.errors import MetricError
from metrichub.evaluation.observation import scoring_errors
from metrichub.evaluation.resampling_units import Units
from metrichub.evaluation.result import NO_REASON, Outputs, Resampler, Result, Swap
from metrichub.evaluation.signature import Signature
from metrichub.metric import Array, CorpusMetric, Metric, Unscored


@dataclass(frozen=True)
class RowsResult(Result):
    """Objects that a corpus metric observed: `rows`, and the sample each belongs to.

    `left_out` has the samples for which the metric said why they have none. Once pooled, only
    `final`, the concluded scores, and `final_notes` are left. Condensed rows belong to no
    sample, and are all that is known of `size` samples.
    """

    rows: Sequence[Any]
    sample: NDArray[np.int64]
    size: int
    final: Mapping[str, float] | None = None
    left_out: Mapping[int, Unscored] = field(default_factory=dict)
    condensed: bool = False
    final_notes: Sequence[str] = ()

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
        if not {type(None), Unscored} & set(map(type, rows)):
            return cls._counted(metric, signature, rows, sample, size, {})
        left_out = [row is None or isinstance(row, Unscored) for row in rows]
        index = sample[~np.array(left_out, np.bool_)]
        scored = set(index.tolist())
        unscored = {
            number: row
            for row, number in zip(rows, sample.tolist(), strict=True)
            if isinstance(row, Unscored) and number not in scored
        }
        observed = [row for row, out in zip(rows, left_out, strict=True) if not out]
        return cls._counted(metric, signature, observed, index, size, unscored)

    @classmethod
    def _counted(  # the parts of a result
        cls,
        metric: Metric,
        signature: Signature,
        rows: Sequence[Any],
        sample: NDArray[np.int64],
        size: int,
        left_out: Mapping[int, Unscored],
    ) -> RowsResult:
        why = Counter(row.reason for row in left_out.values())
        unanswered = Counter(r.undefined_for for r in left_out.values() if r.undefined_for)
        head = (metric, signature, 0, size, why, unanswered)
        result = cls(*head, rows, sample, size, left_out=left_out)
        among = result.unscored_among
        count = int(np.unique(sample).size) - len(among)
        why += Counter(among.values())
        return replace(result, count=count, unscored=size - count, reasons=why)

    @cached_property
    def unscored_among(self) -> Mapping[int, str]:
        """Why samples have rows and yet no score among all of these, by their number."""
        with scoring_errors(self.metric):
            reasons = self.corpus_metric.unscored(self.rows)
        if not reasons:
            return {}
        scored = {*np.delete(self.sample, [*reasons]).tolist()}
        return {
            number: reason
            for row, reason in reasons.items()
            if (number := int(self.sample[row])) not in scored
        }

    @property
    def corpus_metric(self) -> CorpusMetric:
        """The metric."""
        assert isinstance(self.metric, CorpusMetric)
        return self.metric

    @cached_property
    def undefined_for(self) -> Mapping[int, str]:
        """Those of the samples that were left out."""
        return {i: out.undefined_for for i, out in self.left_out.items() if out.undefined_for}

    @property
    def pooled(self) -> bool:
        """Whether only the concluded scores are left, or what they are concluded from."""
        return self.final is not None or self.condensed

    @property
    def resamples(self) -> bool:
        """Whether the metric says so of itself."""
        return self.corpus_metric.resamples

    @property
    def testable(self) -> bool:
        """Whether the metric says so of itself."""
        return self.corpus_metric.testable

    def parts(self, units: Units) -> Mapping[str, Mapping[str, int]]:
        """The parts that the metric finds in its rows."""
        unit = _unit_of(self.sample, units)
        return {
            output: {part: np.unique(unit[rows]).size for part, rows in parts.items()}
            for output, parts in self.corpus_metric.averaged(self.rows).items()
        }

    def notes(self) -> Sequence[str]:
        """The metric's own notes on all rows; it has no summed statistics."""
        if self.final is not None or not self.rows:
            return self.final_notes
        with scoring_errors(self.metric):
            return [*self.metric.notes({}), *self.corpus_metric.notes_of_rows(self.rows)]

    def scores(self) -> dict[str, float]:
        """The scores that the metric concludes from all rows."""
        if self.final is not None:
            return dict(self.final)
        if not self.rows or self.mostly_unread:
            return dict.fromkeys(self.metric.outputs(), float("nan"))
        return dict(self._concluded)

    @cached_property
    def _concluded(self) -> Mapping[str, float]:
        with scoring_errors(self.metric):
            return {name: float(v) for name, v in self.corpus_metric.conclude(self.rows).items()}

    def tables(self) -> Mapping[str, Sequence[Sequence[str | float | None]]]:
        """The tables that the metric makes of all rows; none once these are gone."""
        with scoring_errors(self.metric):
            return self.corpus_metric.tables(self.rows) if self.rows else {}

    def cells(self) -> Mapping[str, Sequence[tuple[str, str] | None]]:
        """The cell of each sample's last row; nothing once rows are gone."""
        if self.pooled:
            return {}
        row = dict(zip(self.sample.tolist(), range(len(self.rows)), strict=True))
        with scoring_errors(self.metric):
            cells = self.corpus_metric.cells_of_rows(self.rows)
        return {
            heading: [cells_of_rows[row[i]] if i in row else None for i in range(self.size)]
            for heading, cells_of_rows in cells.items()
        }

    def samples(self) -> Outputs:
        """The mean over each sample's rows of what the metric says of single rows."""
        if self.pooled:
            raise self._pooled_error("samples()")
        number = np.bincount(self.sample, minlength=self.size)
        with np.errstate(all="ignore"), scoring_errors(self.metric):
            return {
                name: np.bincount(self.sample, np.asarray(values, np.float64), self.size) / number
                for name, values in self.corpus_metric.samples(self.rows).items()
            }

    def why(self, sample: int) -> str | None:
        """The metric's reason, if it gave one."""
        if sample in self.left_out:
            return self.left_out[sample].reason
        scored = (self.sample == sample).any()
        return self.unscored_among.get(sample) if scored else NO_REASON

    def resampler(self, units: Units | None = None) -> RowsResampler:
        """The conclusions from the rows of units that are drawn or swapped."""
        if self.pooled:
            raise self._pooled_error("resampling")
        return RowsResampler(self, units)

    def pool(self) -> RowsResult:
        """The concluded scores without the rows."""
        head = replace(self, final=self.scores(), final_notes=self.notes(), condensed=False)
        return replace(head, rows=(), sample=self.sample[:0], left_out={})

    def condense(self) -> RowsResult:
        """The smallest rows that the metric can conclude from, without the samples."""
        if self.pooled:
            return self
        with scoring_errors(self.metric):
            rows = self.corpus_metric.condense(self.rows)
        # Those that have no score among these rows may have one among more.
        among = Counter(self.unscored_among.values())
        count, unscored = self.count + among.total(), self.unscored - among.total()
        head = replace(self, count=count, unscored=unscored, reasons=self.reasons - among)
        return replace(head, rows=rows, sample=self.sample[:0], left_out={}, condensed=True)

    def scored(self) -> NDArray[np.bool_]:
        """Which samples have a row, (N,)."""
        return np.isin(np.arange(self.size), self.sample)

    def only(self, samples: NDArray[np.bool_]) -> RowsResult:
        """The rows of the samples of the mask."""
        mask = samples[self.sample]
        rows = [row for row, inside in zip(self.rows, mask.tolist(), strict=True) if inside]
        return replace(self, rows=rows, sample=self.sample[mask])

    def take(self, index: NDArray[np.int64]) -> RowsResult:
        """The rows of some samples, in the order of the index."""
        if self.pooled:
            raise self._pooled_error("a group")
        place = {old: new for new, old in enumerate(index.tolist())}
        taken = sorted(
            (
                (place[old], row)
                for old, row in zip(self.sample.tolist(), self.rows, strict=True)
                if old in place
            ),
            key=itemgetter(0),
        )
        rows, sample = [row for _, row in taken], np.array([new for new, _ in taken], np.int64)
        left_out = {place[old]: why for old, why in self.left_out.items() if old in place}
        return self._counted(self.metric, self.signature, rows, sample, len(index), left_out)

    @classmethod
    def merge(cls, parts: Sequence[RowsResult], signature: Signature) -> RowsResult:
        """The result of all parts' samples, in order.

        Raises:
            ReportError: a part was pooled; corpus metrics merge by their rows.
        """
        if all(part.condensed for part in parts):
            return cls._condensed(parts, signature)
        for part in parts:
            if part.pooled:
                why = "a merge"
                raise part._pooled_error(why)  # noqa: SLF001  # of this class
        starts = np.cumsum([0, *(part.size for part in parts)]).tolist()
        rows = [row for part in parts for row in part.rows]
        sample = np.concatenate([p.sample + s for p, s in zip(parts, starts, strict=False)])
        left_out = {
            start + place: why
            for part, start in zip(parts, starts, strict=False)
            for place, why in part.left_out.items()
        }
        merged = cls._counted(parts[0].metric, signature, rows, sample, starts[-1], left_out)
        # A report that was saved before says how many had a reason, but not which. Those that had
        # no score among a part's rows may have one now.
        reasons = sum((part.reasons for part in parts), Counter())
        reasons -= sum((Counter(part.unscored_among.values()) for part in parts), Counter())
        reasons += Counter(merged.unscored_among.values())
        unanswered = sum((part.unanswered for part in parts), Counter())
        return replace(merged, reasons=reasons, unanswered=unanswered)

    @classmethod
    def _condensed(cls, parts: Sequence[RowsResult], signature: Signature) -> RowsResult:
        first, rows = parts[0], [row for part in parts for row in part.rows]
        with scoring_errors(first.metric):
            rows = list(first.corpus_metric.condense(rows))
        return cls(
            *cls.head_of(parts, signature),
            rows,
            first.sample,
            sum(part.size for part in parts),
            condensed=True,
        )


class RowsResampler(Resampler):
    """Conclusions from the rows of units that are drawn or swapped; `nan` of none."""

    def __init__(self, result: RowsResult, units: Units | None) -> None:
        self.result, self.units = result, units
        self.columns = np.zeros((result.size if units is None else units.number, 0))

    @cached_property
    def _of_rows(self) -> Callable[[Array], Outputs]:
        return _resampler(self.result.corpus_metric, self.result.rows)

    def drawn(self, weights: NDArray[np.float64], product: NDArray[np.float64]) -> Outputs:
        """The conclusions from each resample's rows."""
        result = self.result
        if not result.resamples:
            return dict.fromkeys(result.metric.outputs(), np.full(len(weights), np.nan))
        return self._of_rows(weights[:, _unit_of(result.sample, self.units)])

    def against(self, other: RowsResampler) -> Swap:
        """The conclusions from this system's rows where the tosses hold, else the other's."""
        mine, theirs = self.result, other.result
        rows, sample = [*mine.rows, *theirs.rows], np.concatenate((mine.sample, theirs.sample))
        is_mine = np.arange(len(rows)) < len(mine.rows)
        # By sample, so that sums of the same rows are the same from either side.
        order = np.argsort(sample, kind="stable")
        is_mine, unit = is_mine[order], _unit_of(sample[order], self.units)
        concluded = _resampler(mine.corpus_metric, [rows[number] for number in order.tolist()])

        def swapped(tosses: NDArray[np.bool_], _: NDArray[np.float64]) -> tuple[Outputs, Outputs]:
            first = tosses[:, unit] == is_mine
            return concluded(first.astype(np.float64)), concluded((~first).astype(np.float64))

        return swapped


def _unit_of(sample: NDArray[np.int64], units: Units | None) -> NDArray[np.int64]:
    """The unit that each row is drawn with: its sample, or what the sample belongs to."""
    return sample if units is None or units.unit_of_sample is None else units.unit_of_sample[sample]


def _resampler(metric: CorpusMetric, rows: Sequence[Any]) -> Callable[[Array], Outputs]:
    """From how often each resample has each row, (b, R), to the scores, (b,); `nan` of no rows."""
    with scoring_errors(metric):
        fast = metric.resampler(rows) if rows else None

    def scores(counts: Array) -> Outputs:
        with scoring_errors(metric):
            outputs = _concluded(metric, rows, counts) if fast is None else fast(counts)
        if set(outputs) != set(metric.outputs()):
            raise MetricError(
                f"{metric.name}: resamples have {', '.join(outputs)}, but its outputs are "
                f"{', '.join(metric.outputs())}"
            )
        empty = counts.sum(axis=1) == 0
        return {
            name: np.where(empty, np.nan, np.asarray(values, np.float64))
            for name, values in outputs.items()
        }

    return scores


def _concluded(metric: CorpusMetric, rows: Sequence[Any], counts: Array) -> Outputs:
    none = dict.fromkeys(metric.outputs(), float("nan"))
    each = []
    for times in counts.astype(np.int64):
        drawn = [rows[number] for number in np.repeat(np.arange(len(rows)), times).tolist()]
        each.append(metric.conclude(drawn) if drawn else none)
    return {name: np.array([scores[name] for scores in each], np.float64) for name in each[0]}
