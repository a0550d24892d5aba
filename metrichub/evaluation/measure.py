"""Measuring: a pure function from a batch to a measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.data.answer_columns import unextracted
from metrichub.data.batch import Batch, Block
from metrichub.evaluation.doubts import heaviest_of
from metrichub.evaluation.explanation import Observed, Trace
from metrichub.evaluation.lengths import lengths_of
from metrichub.evaluation.measurement import Measurement, united
from metrichub.evaluation.observation import (
    Progress,
    answers_view,
    is_async,
    located_errors,
    measure_objects,
    measure_rows,
    watched_progress,
)
from metrichub.evaluation.reduce import reduced
from metrichub.evaluation.result import Result
from metrichub.evaluation.result_rows import RowsResult
from metrichub.evaluation.result_sums import SumResult
from metrichub.evaluation.script_coverage import (
    known_tokenizer,
    letters_of,
    mixed_forms_of,
    seen_texts,
    unread_rows,
)
from metrichub.evaluation.signature import Reduction, Signature, signature_of
from metrichub.evaluation.stats import Stats
from metrichub.metric import CorpusMetric, Metric
from metrichub.models.usage import Budget, Usage

if TYPE_CHECKING:
    from metrichub.models.batch_files import BatchRun

_SHARED_BLOCK = 1.6
"""Texts of up to this number of blocks are one for all metrics, so that they share tokens."""

_KEPT_BYTES = 31 << 20
"""How much freed memory the C library may keep for the next block; glibc's bound is 32 MiB."""


@dataclass(frozen=True)
class Measure:
    """Measures batches: by which metrics, with which reduction, in blocks of which size.

    `repeat` is the number of the run where judges are asked several times; an `estimating` one
    calls no server, and only its usage counts. With a `batch` judges answer out of its folder.
    `signatures` has those that are known already, by the metrics' names.
    """

    metrics: tuple[Metric, ...]
    reduction: Reduction | None
    block_characters: int
    budget: Budget = field(default_factory=Budget)
    repeat: int = 0
    estimating: bool = False
    batch: BatchRun | None = None
    signatures: dict[str, Signature] = field(default_factory=dict)

    def __call__(self, batch: Batch, progress: Progress | None = None) -> Measurement:
        """The measurement of a batch; `progress` gets the samples that each metric is done with."""
        _keep_memory()
        usage = Usage()
        parts: dict[str, list[_Part]] = {metric.name: [] for metric in self.metrics}
        for characters, metrics in self._groups(batch).items():
            for block in batch.blocks(characters or self.block_characters):
                observed = self._observed(metrics, block, progress)
                if observed.rows:
                    usage += observed.usage
                for metric in metrics:
                    parts[metric.name].append(self._part(metric, block, observed, progress))
        facts: dict[str, Any] = {"usage": usage, "script_coverage": {}, "mixed_forms": {}}
        results, traces = {}, {}
        for metric in self.metrics:
            of_metric = parts.pop(metric.name)
            results[metric.name] = self._result(metric, of_metric, batch.size)
            for part in of_metric:
                facts = united(facts, part.facts)
            if of_blocks := [(part.start, part.trace) for part in of_metric if part.trace]:
                traces[metric.name] = Trace.joined(of_blocks)
        counts = {name: column.counts for name, column in batch.columns.items()}
        bound = any(s.length_bound for m in self.metrics for s in m.card.scores.values())
        facts |= {
            "fingerprints": [(batch.size, {})],
            "items_per_sample": {
                name: (int(c.min()), int(c.max())) for name, c in counts.items() if len(c)
            },
            "lengths": lengths_of(batch) if bound and batch.size else None,
            "heaviest": heaviest_of(results),
            "unextracted": unextracted(batch) if batch.answers else {},
        }
        return Measurement(results, batch.size, traces, facts=facts)

    def again(self, metric: Metric, batch: Batch) -> Measurement:
        """The measurement of some samples by one metric, beside the run."""
        return replace(self, metrics=(metric,), signatures={})(batch)

    def _part(
        self, metric: Metric, block: Block, observed: Observed, progress: Progress | None
    ) -> _Part:
        """The part of a metric in a block; `observed` has it of those that were awaited."""
        awaited = observed.rows.get(metric.name)
        view, nothing = block.view(metric.inputs()), None
        if metric.extraction:
            view, nothing = answers_view(block, metric)
        tokenizer = known_tokenizer(metric)
        rows: Stats | _Objects
        # Who awaits a metric tells how far it is.
        watched = watched_progress(len(block), progress if awaited is None else None)
        with located_errors(metric, block), watched:
            if isinstance(metric, CorpusMetric):
                objects = measure_objects(metric, view, awaited)
                if unread := unread_rows(metric, tokenizer, view):
                    objects = [unread.get(number, row) for number, row in enumerate(objects)]
                sample = np.arange(len(block)) if view.sample is None else view.sample
                rows = _Objects(objects, sample + block.start)
            else:
                rows = measure_rows(metric, view, awaited)
                rows = rows.without(unread_rows(metric, tokenizer, view))
                if nothing is not None and nothing.any():
                    from metrichub.metric.extraction import worst_row

                    rows = rows.replaced(nothing, worst_row(metric))
                if view.sample is not None:
                    rows = reduced(metric, rows, view.sample, len(block), self.reduction)
        columns = seen_texts(view)
        facts: dict[str, Any] = {}
        if letters := letters_of(tokenizer, columns):
            facts["script_coverage"] = {metric.name: letters}
        if forms := mixed_forms_of(metric, columns):
            facts["mixed_forms"] = {metric.name: forms}
        return _Part(block.start, rows, facts, observed.traces.get(metric.name))

    def _result(self, metric: Metric, parts: Sequence[_Part], size: int) -> Result:
        """The result of a metric in all blocks of a batch."""
        signature = self.signatures.get(metric.name) or signature_of(metric, self.reduction)
        self.signatures[metric.name] = signature
        rows = [part.rows for part in parts]
        if not isinstance(metric, CorpusMetric):
            none = Stats({}, np.zeros(0, np.bool_))
            return SumResult.of(metric, signature, Stats.concatenate(rows) if rows else none)
        objects = [row for part in rows for row in part.objects]
        sample = np.concatenate([np.zeros(0, np.int64), *(part.sample for part in rows)])
        return RowsResult.of(metric, signature, objects, sample, size)

    def _groups(self, batch: Batch) -> dict[int | None, list[Metric]]:
        """The metrics by the size of the blocks that they want; few texts are a block for all."""
        groups: dict[int | None, list[Metric]] = {}
        for metric in self.metrics:
            groups.setdefault(metric.block_characters, []).append(metric)
        few = int(_SHARED_BLOCK * self.block_characters)
        if None in groups and len(groups) > 1 and len(batch.cuts(few)) <= 1:
            groups[min(filter(None, groups))] += groups.pop(None)
        return groups

    def _observed(
        self, metrics: Sequence[Metric], block: Block, progress: Progress | None
    ) -> Observed:
        """The observations of all asynchronous metrics in a block, made at once."""
        views = {m.name: (m, block.view(m.inputs())) for m in metrics if is_async(m)}
        if not views:
            return Observed({}, {}, Usage())
        from metrichub.evaluation.asynchronous import observe

        with located_errors(None, block):
            return observe(
                views,
                self.budget,
                progress,
                repeat=self.repeat,
                estimating=self.estimating,
                batch=self.batch,
            )


class _Objects(NamedTuple):
    """The observations of a corpus metric in a block: an object a row, and the sample of each."""

    objects: Sequence[Any]
    sample: NDArray[np.int64]


class _Part(NamedTuple):
    """The measurements of one metric in one block, which begins at the sample `start`.

    `rows` has one row per sample, or the objects of a corpus metric.
    """

    start: int
    rows: Any
    facts: Mapping[str, Any]
    trace: Trace | None


def _keep_memory() -> None:
    """Have freed memory used again for the next array, instead of being given back in between.

    glibc raises the size from which on it gives memory back to that of the largest chunk that was
    freed. This one is never written, so that it takes no memory itself.
    """
    np.empty(_KEPT_BYTES, np.uint8)
