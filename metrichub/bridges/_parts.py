"""Parts of samples that lie on several machines, measured there, as bytes that merge to a report.

Every part is measured where it lies and leaves sums only, of 1,000 buckets that a sample's key
chooses, so that neither order nor cut matters. A part that is measured twice, as its worker died,
counts once, since engines hand on the result of one attempt.

A part that can't be measured is its error, as bytes like any other: an exception would be tried
again, and come back as an engine's own, with ours in the text of a traceback.
"""

from __future__ import annotations

import logging
import pickle
import threading
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any

from metrichub import Hub, Report
from metrichub.authoring import CorpusMetric, Metric
from metrichub.bridges._hub_scores import Metrics, hub_of
from metrichub.data import columns as names
from metrichub.data.batch import Batch
from metrichub.data.inputs import batches_of
from metrichub.data.values import columns_of_path
from metrichub.errors import (
    InputError,
    MetricError,
    MetrichubError,
    MissingColumn,
    ReportError,
    ScoringError,
    did_you_mean,
)
from metrichub.evaluation.measure import Measure
from metrichub.evaluation.measurement import Measurement, with_facts
from metrichub.evaluation.merge import merged
from metrichub.evaluation.run import measured, of_all_metrics

Pickler = Callable[[object], bytes]
WIDTH = 64
"""About how many parts are merged in one place."""
_MINUTE = 60.0
_log = logging.getLogger("metrichub")


@dataclass(frozen=True)
class Parts:
    """How parts are measured and merged: a hub, the key, columns by their names in the data.

    Only these `metrics` of the hub are measured. `dumps` pickles what a script defines, too;
    `gathered` is the largest number of samples whose rows are gathered for a metric that doesn't
    add up.
    """

    hub: Hub
    key: tuple[str, ...]
    columns: Mapping[str, str] | None
    gathered: int
    dumps: Pickler
    metrics: tuple[Metric, ...]

    @classmethod
    def of(
        cls,
        metrics: Metrics,
        key: str | Sequence[str],
        columns: Mapping[str, str] | None,
        gathered: int,
        dumps: Pickler,
    ) -> Parts:
        """How parts are measured; raises `InputError` without a key."""
        key = (key,) if isinstance(key, str) else tuple(key)
        if not all(key) or not key:
            raise InputError(
                "samples on several machines need a key, the columns that identify each sample, "
                "such as key='id', as their positions aren't known"
            )
        hub = hub_of(metrics)
        return cls(hub, key, columns, gathered, dumps, hub.metrics)

    @property
    def one_process(self) -> bool:
        """Whether a metric asks for one process."""
        return any(metric.one_process() for metric in self.metrics)

    def apart(self) -> list[Parts]:
        """Parts of the metrics that ask for one process, and of the others, if there are both."""
        alone = tuple(metric for metric in self.metrics if metric.one_process())
        others = tuple(metric for metric in self.metrics if metric not in alone)
        return [replace(self, metrics=metrics) for metrics in (others, alone) if metrics]

    def names(self, available: Collection[str]) -> list[str]:
        """The columns that are read, of those that there are.

        Raises:
            MissingColumn: one isn't there.
            InputError: two names for one column.
        """
        mapping = names.own_names(self.hub.objects(), available, self.columns)
        chosen = names.resolve(self.hub.needs(), available, mapping)
        for name in self.key:
            if name not in available:
                raise MissingColumn(
                    f"the key names the column {name!r}, which doesn't exist"
                    f"{did_you_mean(name, available)} (columns: {', '.join(available)})"
                )
        read = chain.from_iterable(columns_of_path(n, available) for n in chosen.values())
        return list(dict.fromkeys([*read, *self.key]))

    def measure(self, batches: Iterable[Any]) -> bytes:
        """The sums of the samples of some Arrow batches.

        Or a `ScoringError` or `InputError`, whose text names the sample by its key.
        """

        def work() -> Measurement:
            with self._located(batches) as seen:
                coming = self._batches(seen)
                return measured(
                    self._measure(), coming, samples=False, condensed=True, key=self.key
                )

        return self.to_bytes(work)

    def merge(self, parts: Iterable[bytes]) -> bytes | None:
        """The sum of several parts, or the first error among them; None if there are none."""
        listed = list(parts)
        return self.to_bytes(lambda: self._joined(listed)) if listed else None

    def report(self, *parts: Iterable[bytes]) -> Report:
        """The report of all parts, once or those of each of `apart`; raises the first error."""
        measurements = [self._joined(of_metrics) for of_metrics in parts]
        measurement, *others = [m for m in measurements if m] or [_from_bytes(self.measure(()))]
        for other in others:
            measurement = of_all_metrics([m.name for m in self.metrics], measurement, other)
        return Report.of(measurement.without_samples())

    @contextmanager
    def _located(self, batches: Iterable[Any]) -> Iterator[_Batches]:
        """Name the sample of an error by its key, while batches are measured."""
        seen = _Batches(batches)
        try:
            yield seen
        except ScoringError as error:
            where = self._where(seen.row(error.sample))
            raise ScoringError(error.metric, error.problem + where) from error.__cause__
        except InputError as error:
            # Its sample is counted from the first of its batch.
            place = None if error.sample is None else seen.start + error.sample
            raise InputError(f"{error}{self._where(seen.row(place))}") from error

    def _batches(self, seen: _Batches) -> Iterator[Batch]:
        hub = self.hub
        unreduced = hub.metrics if hub.reduce is None else ()
        needs, objects = hub.needs(), hub.objects()
        return batches_of(iter(seen), {}, needs, self.columns, objects, [], self.key, unreduced)

    def _measure(self) -> Measure:
        hub = self.hub
        return Measure(self.metrics, hub.reduce, hub.block_characters)

    def _joined(self, parts: Iterable[bytes]) -> Measurement | None:
        """Several parts as one; raises the first error of them."""
        measurements: list[Measurement] = list(map(_from_bytes, parts))
        if not measurements:
            return None
        self._check_size(sum(part.size for part in measurements))
        total = merged(measurements)
        # In order of place no more, so that where each part began says nothing.
        return with_facts(total, fingerprints=[(total.size, {})])

    def _check_size(self, size: int) -> None:
        for metric in self.hub.metrics:
            rows = isinstance(metric, CorpusMetric) and metric.gathers == "rows"
            if rows and size > self.gathered:
                raise ReportError(
                    f"{metric.name} doesn't add up: it gathers the rows of all samples, and of "
                    f"{self.gathered:,} at most; leave it out, score fewer samples, or set "
                    "gathered= to what one machine's memory holds"
                )

    def _where(self, row: Mapping[str, Any] | None) -> str:
        if row is None:
            return ""
        values = ", ".join(f"{name}={row[name]!r}" for name in self.key)
        return f" (the sample with {values})"

    def to_bytes(self, work: Callable[[], object]) -> bytes:
        """The result of some work, or the error that it raises, as bytes."""
        try:
            result = work()
        except MetrichubError as error:
            result = error
        return zlib.compress(self.dumps(result), 1)


class _Batches:
    """Batches on their way, of which the last is kept, to find the row that was measured."""

    def __init__(self, batches: Iterable[Any]) -> None:
        self._batches, self._last, self.start, self._end = batches, None, 0, 0

    def __iter__(self) -> Iterator[Any]:
        for batch in self._batches:
            self._last, self.start = batch, self._end
            self._end += batch.num_rows
            yield batch

    def row(self, number: int | None) -> dict[str, Any] | None:
        """The row of this number, counted from the first of all batches, if it is in the last."""
        if number is None or self._last is None or not self.start <= number < self._end:
            return None
        row: dict[str, Any] = self._last.slice(number - self.start, 1).to_pylist()[0]
        return row


def _from_bytes(part: bytes) -> Any:
    """The measurement in a part; raises the error if the part is one."""
    result = pickle.loads(zlib.decompress(part))
    if isinstance(result, MetrichubError):
        raise result
    return result


@contextmanager
def told_each_minute(engine: str, state: Callable[[], str]) -> Iterator[None]:
    """Log once a minute that an engine measures, and how far it is."""
    ended = threading.Event()

    def tell() -> None:
        for minutes in count(1):
            if ended.wait(_MINUTE):
                return
            # A warning is shown where nobody has set up logging.
            _log.warning("%s has been measuring for %d min: %s", engine, minutes, state())

    thread = threading.Thread(target=tell, name="told each minute", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def worker_died(engine: str) -> MetricError:
    """The error of workers that died again and again."""
    return MetricError(
        f"a worker of {engine} died each time it measured a certain part: it ran out of memory, or "
        "a metric's library crashed; use smaller parts, or hub.evaluate of the same rows show which"
    )
