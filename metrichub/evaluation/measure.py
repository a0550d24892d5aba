"""Measuring: a pure function from a batch to a measurement, here or spread over processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from metrichub.catalog.registry import origin
from metrichub.data.batch import Batch, Block, View
from metrichub.data.fingerprint import Fingerprint
from metrichub.data.metadata import joined_metadata
from metrichub.errors import ParameterError
from metrichub.evaluation.buckets import BucketSizes, places
from metrichub.evaluation.explanation import ErrorBudget, Observed, Trace
from metrichub.evaluation.failures import located
from metrichub.evaluation.gathering import gathered
from metrichub.evaluation.lengths import lengths_of, summed_lengths
from metrichub.evaluation.letters import (
    ByTokenizer,
    letters_of,
    mixed_forms_of,
    summed,
    unread_rows,
)
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.observation import is_async, measure_objects, measure_rows
from metrichub.evaluation.passes import PostponedRows, two_passes
from metrichub.evaluation.progress import Progress, watched_progress
from metrichub.evaluation.reduce import Reduction, name_of, reduce
from metrichub.evaluation.result import Result
from metrichub.evaluation.result_rows import RowsResult
from metrichub.evaluation.result_sums import SumResult
from metrichub.evaluation.result_weighed import WeighedResult
from metrichub.evaluation.signature import Signature, prompts_hash
from metrichub.evaluation.stats import Stats
from metrichub.evaluation.stored import StoredSamples
from metrichub.metric import CorpusMetric, FunctionMetric, Metric
from metrichub.models.usage import Usage
from metrichub.text.tokenizations import Tokenizations, watched

if TYPE_CHECKING:
    from metrichub.models.batch import BatchRun

PART_CHARACTERS = 1_000_000
"""About how much text one process measures at a time."""

_KEPT_BYTES = 31 << 20
"""How much freed memory the C library may keep for the next block; glibc's bound is 32 MiB."""


@dataclass(frozen=True)
class Measure:
    """What is done to every batch: the metrics, the reduction, and the size of a block.

    `repeat` is the number of the run where judges are asked several times; an `estimating` one
    calls no server, and only its usage counts. With a `batch` judges answer out of its folder.
    `corpora` has what a first pass found out for metrics that are measured in two, by their names.
    """

    metrics: tuple[Metric, ...]
    reduction: Reduction | None
    block_characters: int
    budget: ErrorBudget = field(default_factory=ErrorBudget)
    repeat: int = 0
    estimating: bool = False
    batch: BatchRun | None = None
    corpora: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, batch: Batch, progress: Progress | None = None) -> Measurement:
        """The measurement of a batch; `progress` gets the samples times metrics of every block."""
        _keep_memory()
        results: dict[str, Result] = {}
        traces: dict[str, list[tuple[int, Trace]]] = {}
        letters: list[dict[str, ByTokenizer]] = []
        mixed: dict[str, set[str]] = {}
        usage = Usage()
        for characters, metrics in self._groups().items():
            parts: dict[str, list[Any]] = {metric.name: [] for metric in metrics}
            for block in batch.blocks(characters or self.block_characters):
                observed = self._observed(metrics, block, progress)
                waiting = len(block) * (len(metrics) - len(observed.rows))
                usage += observed.usage
                for name, found in observed.traces.items():
                    traces.setdefault(name, []).append((block.start, found))
                for metric in metrics:
                    view, given = block.view(metric.inputs()), observed.rows.get(metric.name)
                    telling = watched_progress(len(block), progress)
                    with watched() as tokenized, located(metric, block), telling as portion:
                        part = self._part(metric, block, view, given, tokenized)
                    waiting -= portion.told
                    if forms := mixed_forms_of(view):
                        mixed[metric.name] = mixed.get(metric.name, set()) | forms
                    parts[metric.name].append(part)
                    if given is None:
                        letters.append({metric.name: letters_of(metric, view, tokenized)})
                if progress:
                    progress(waiting)
            for metric in metrics:
                signature = signature_of(metric, self.reduction)
                result = _result(metric, signature, parts[metric.name], batch.size)
                if isinstance(result, RowsResult) and metric.name in self.corpora:
                    result = WeighedResult.of_rows(result, self.corpora[metric.name])
                results[metric.name] = result
        counts = {name: column.counts for name, column in batch.columns.items()}
        bound = any(s.length_bound for m in self.metrics for s in m.card.scores.values())
        return Measurement(
            {metric.name: results[metric.name] for metric in self.metrics},
            batch.size,
            ((batch.size, {}),),
            {name: (int(c.min()), int(c.max())) for name, c in counts.items() if len(c)},
            {name: Trace.joined(found) for name, found in traces.items()},
            usage,
            letters=summed(letters),
            mixed_forms={name: tuple(sorted(forms)) for name, forms in mixed.items()},
            lengths=lengths_of(batch) if bound else None,
        )

    def _part(
        self,
        metric: Metric,
        block: Block,
        view: View,
        given: Sequence[Any] | None,
        tokenized: Tokenizations,
    ) -> Stats | tuple[Sequence[Any], NDArray[np.int64]]:
        """What a metric measures of a block: a row a sample, or objects with the sample of each."""
        if isinstance(metric, CorpusMetric):
            rows = measure_objects(metric, view, given)
            if given is None and (unread := unread_rows(metric, view, tokenized)):
                rows = [unread.get(number, row) for number, row in enumerate(rows)]
            sample = np.arange(len(block)) if view.sample is None else view.sample
            return rows, sample + block.start
        stats = measure_rows(metric, view, given)
        if given is None:
            stats = stats.without(unread_rows(metric, view, tokenized))
        if view.sample is None:
            return stats
        return reduce(metric, stats, view.sample, len(block), self.reduction)

    def _groups(self) -> dict[int | None, list[Metric]]:
        """The metrics by the size of the blocks that they want."""
        groups: dict[int | None, list[Metric]] = {}
        for metric in self.metrics:
            groups.setdefault(metric.block_characters, []).append(metric)
        return groups

    def _observed(
        self, metrics: Sequence[Metric], block: Block, progress: Progress | None
    ) -> Observed:
        """What the asynchronous metrics observe of a block, all at once."""
        views = {m.name: (m, block.view(m.inputs())) for m in metrics if is_async(m)}
        if not views:
            return Observed({}, {}, Usage())
        from metrichub.evaluation.asynchronous import observe

        with located(None, block):
            return observe(
                views,
                self.budget,
                progress,
                repeat=self.repeat,
                estimating=self.estimating,
                batch=self.batch,
            )


def _keep_memory() -> None:
    """Have freed memory used again for the next array, instead of being given back in between.

    glibc raises the size from which on it gives memory back to that of the largest chunk that was
    freed. This one is never written, so that it takes no memory itself.
    """
    np.empty(_KEPT_BYTES, np.uint8)


@dataclass(frozen=True)
class _Pooled:
    """A measure that keeps sums only, but for metrics whose scores don't add up."""

    measure: Measure
    key: tuple[str, ...]
    condensed: bool

    def __call__(self, batch: Batch, progress: Progress | None = None) -> Measurement:
        measurement = self.measure(batch, progress)
        place = places(batch)
        results = {
            name: result.without_rows(place, by_position=not self.key)
            for name, result in measurement.results.items()
        }
        traces = {name: found.pool() for name, found in measurement.traces.items()}
        buckets = BucketSizes.of(batch, self.key)
        lengths = summed_lengths(measurement.lengths)
        kept = replace(
            measurement, results=results, traces=traces, buckets=buckets, lengths=lengths
        )
        return kept.condense() if self.condensed else kept


def measured(
    measure: Measure,
    batches: Iterable[Batch],
    *,
    samples: bool = True,
    condensed: bool = False,
    texts: bool = False,
    key: tuple[str, ...] = (),
    workers: int = 1,
    progress: Progress | None = None,
) -> Measurement:
    """The measurement of all batches together, measured in `workers` processes if that is over 1.

    A metric that asks for one process is measured here, and so are all that go with it.
    With `samples=False` only sums are kept, of all samples and of buckets of them that the `key`
    chooses, and no more than a few parts are held at a time; a `condensed` measurement can still
    be merged with others. With `texts` the samples are kept to show them.

    Raises:
        ParameterError: workers isn't positive.
    """
    if not isinstance(workers, int) or workers < 1:
        raise ParameterError(None, "workers", workers, "an integer of at least 1")
    work = measure if samples else _Pooled(measure, key, condensed)
    fingerprint, kept, read_from = Fingerprint(), list[Batch](), dict[str, dict[str, None]]()
    metadata: list[tuple[int, Mapping[str, Sequence[Any] | None]]] = []
    batches = _with_names(batches, read_from)
    if samples:
        batches = _with_metadata(batches, metadata)
    if samples and texts:
        batches = _kept(batches, kept)
    # The same parts and blocks for any number of workers: so is every rounding.
    if any(metric.one_process() for metric in measure.metrics):
        workers = 1
    parts = _parts(measure, fingerprint.of_all(batches) if samples else batches)
    measurements: Iterable[Measurement]
    if workers == 1:
        measurements = (work(part, progress) for part in parts)
    else:
        # Loads what starts and ends processes.
        from metrichub.evaluation.workers import distribute

        measurements = _with_progress(
            distribute(work, parts, workers), len(measure.metrics), progress
        )
    waiting = [] if samples or condensed else two_passes(measure.metrics)
    if waiting:
        names = [metric.name for metric in measure.metrics]
        whole = _in_two_passes(measurements, waiting, names, by_position=not key)
    else:
        whole = gathered(measurements)
    whole = replace(
        whole,
        segments=((whole.size, fingerprint.digests()),),
        read_from={column: tuple(names) for column, names in read_from.items()},
        metadata=joined_metadata(metadata),
    )
    if not samples:
        return whole.condense() if condensed else whole.without_samples()
    return replace(whole, texts=StoredSamples(tuple(kept))) if texts else whole


def _in_two_passes(
    measurements: Iterable[Measurement],
    metrics: Sequence[CorpusMetric],
    order: Sequence[str],
    by_position: bool,
) -> Measurement:
    """All parts as one, where rows of some metrics wait until all are surveyed."""
    with PostponedRows(metrics) as postponed:
        whole = gathered(postponed.first(measurements))
        weighed = postponed.second(by_position)
    found = {**whole.results, **weighed}
    return replace(whole, results={name: found[name] for name in order if name in found})


def _with_names(batches: Iterable[Batch], found: dict[str, dict[str, None]]) -> Iterator[Batch]:
    """The same batches; `found` gets the names that columns were read from, each once."""
    for batch in batches:
        for column, name in batch.read_from.items():
            found.setdefault(column, {})[name] = None
        yield batch


def _with_metadata(
    batches: Iterable[Batch], found: list[tuple[int, Mapping[str, Sequence[Any] | None]]]
) -> Iterator[Batch]:
    for batch in batches:
        found.append((batch.size, batch.metadata))
        yield batch


def _kept(batches: Iterable[Batch], kept: list[Batch]) -> Iterator[Batch]:
    for batch in batches:
        kept.append(batch)
        yield batch


def _parts(measure: Measure, batches: Iterable[Batch]) -> Iterator[Batch]:
    """The batches cut into what one process measures at a time; an empty batch is one part."""
    wanted = (metric.block_characters or 0 for metric in measure.metrics)
    characters = max(PART_CHARACTERS, *wanted)
    for batch in batches:
        yield from batch.parts(characters) if batch.size else (batch,)


def _with_progress(
    measurements: Iterable[Measurement], metrics: int, progress: Progress | None
) -> Iterator[Measurement]:
    for measurement in measurements:
        if progress:
            progress(measurement.size * metrics)
        yield measurement


def signature_of(metric: Metric, reduction: Reduction | None) -> Signature:
    """A metric with all its parameters, definition and prompts, its package, and the reduction."""
    entry = origin(type(metric))
    # What a script's __main__ is called in the processes that it starts.
    module = "__main__" if (own := type(metric).__module__) == "__mp_main__" else own
    home = entry.distribution if entry else f"local:{module}"
    versions = (entry.version,) if entry else ()
    reduced, templates = name_of(metric, reduction), metric.templates()
    return Signature(
        metric.label(),
        metric.card.definition,
        home,
        versions,
        reduced,
        prompts=prompts_hash(templates),
        source=metric.source if isinstance(metric, FunctionMetric) else "",
        templates=templates,
    )


def _result(metric: Metric, signature: Signature, parts: Sequence[Any], size: int) -> Result:
    if isinstance(metric, CorpusMetric):
        rows = [row for objects, _ in parts for row in objects]
        sample = np.concatenate([np.zeros(0, np.int64), *(sample for _, sample in parts)])
        return RowsResult.of(metric, signature, rows, sample, size)
    if not parts:
        return SumResult.of(metric, signature, Stats({}, np.zeros(0, np.bool_)))
    return SumResult.of(metric, signature, Stats.concatenate(parts))
