"""Measuring: a pure function from a batch to a report, here or spread over processes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from metrichub.batch import Batch
from metrichub.errors import ParameterError
from metrichub.metric import CorpusMetric, Metric, measure_objects, measure_rows
from metrichub.reduce import Reduction, name_of, reduce
from metrichub.registry import origin
from metrichub.report import Report
from metrichub.result import Result, RowsResult, SumResult
from metrichub.stats import Stats

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

PART_CHARACTERS = 2_000_000
"""About how much text one process measures at a time."""

Progress = Callable[[int], object]


@dataclass(frozen=True)
class Measure:
    """What is done to every batch: the metrics, the reduction, and the size of a block."""

    metrics: tuple[Metric, ...]
    reduction: Reduction | None
    block_characters: int

    def __call__(self, batch: Batch, progress: Progress | None = None) -> Report:
        """The report of a batch; `progress` gets the samples times metrics of every block."""
        results: dict[str, Result] = {}
        for characters, group in groupby(self.metrics, lambda metric: metric.block_characters):
            metrics = list(group)
            parts: dict[str, list[Any]] = {metric.name: [] for metric in metrics}
            for block in batch.blocks(characters or self.block_characters):
                for metric in metrics:
                    view = block.view(metric.inputs())
                    if isinstance(metric, CorpusMetric):
                        rows = measure_objects(metric, view)
                        sample = np.arange(len(block)) if view.sample is None else view.sample
                        parts[metric.name].append((rows, sample + block.start))
                    else:
                        stats = measure_rows(metric, view)
                        if view.sample is not None:
                            stats = reduce(metric, stats, view.sample, len(block), self.reduction)
                        parts[metric.name].append(stats)
                if progress:
                    progress(len(block) * len(metrics))
            for metric in metrics:
                signature = signature_of(metric, self.reduction)
                results[metric.name] = _result(metric, signature, parts[metric.name], batch.size)
        counts = {name: column.counts for name, column in batch.columns.items()}
        return Report(
            {metric.name: results[metric.name] for metric in self.metrics},
            batch.size,
            ((batch.size, batch.digests()),),
            {name: (int(c.min()), int(c.max())) for name, c in counts.items() if len(c)},
        )


def measured(
    measure: Measure, batches: Iterable[Batch], workers: int, progress: Progress | None
) -> Iterator[Report]:
    """The report of every batch in order, measured in `workers` processes if that is over 1.

    Raises:
        ParameterError: workers isn't positive.
    """
    if not isinstance(workers, int) or workers < 1:
        raise ParameterError(None, "workers", workers, "an integer at least 1")
    with _pool(workers) as pool:
        for batch in batches:
            if pool is None:
                yield measure(batch, progress)
            else:
                yield _spread(pool, workers, measure, batch, progress)


def _pool(workers: int) -> AbstractContextManager[ProcessPoolExecutor | None]:
    if workers == 1:
        return nullcontext()
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # Spawned, since a forked child of a process with threads may hang.
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))


def _spread(
    pool: ProcessPoolExecutor,
    workers: int,
    measure: Measure,
    batch: Batch,
    progress: Progress | None,
) -> Report:
    """The report of a batch whose parts are measured in a pool, a few of them in flight."""
    waiting: deque[Future[Report]] = deque()
    reports: list[Report] = []

    def collect() -> None:
        reports.append(waiting.popleft().result())
        if progress:
            progress(reports[-1].size * len(measure.metrics))

    for part in batch.parts(PART_CHARACTERS):
        waiting.append(pool.submit(measure, part))
        if len(waiting) > 2 * workers:
            collect()
    while waiting:
        collect()
    whole = reports[0].merge(*reports[1:]) if reports else measure(batch)
    return replace(whole, segments=((batch.size, batch.digests()),))


def signature_of(metric: Metric, reduction: Reduction | None) -> str:
    """A metric with all its parameters, the version of its package, and the reduction."""
    entry = origin(type(metric))
    home = f"{entry.distribution}:{entry.version}" if entry else f"local:{type(metric).__module__}"
    return f"{metric.label()}|{home}|reduce:{name_of(metric, reduction)}"


def without_rows(report: Report) -> Report:
    """The report with sums only, but for the metrics whose scores don't add up."""
    kept = {
        name: result.pool() if isinstance(result, SumResult) else result
        for name, result in report.results.items()
    }
    return replace(report, results=kept)


def _result(metric: Metric, signature: str, parts: Sequence[Any], size: int) -> Result:
    if isinstance(metric, CorpusMetric):
        rows = [row for objects, _ in parts for row in objects]
        sample = np.concatenate([np.zeros(0, np.int64), *(sample for _, sample in parts)])
        return RowsResult.of(metric, signature, rows, sample, size)
    if not parts:
        return SumResult.of(metric, signature, Stats({}, np.zeros(0, np.bool_)))
    return SumResult.of(metric, signature, Stats.concatenate(parts))
