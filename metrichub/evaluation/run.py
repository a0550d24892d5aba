"""A run: batches go in, measured here or spread over processes, and one measurement comes out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, tee
from operator import attrgetter
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from metrichub.data.answer_columns import with_answers, with_references
from metrichub.data.batch import Batch
from metrichub.data.columns import MADE, UNREAD, column_of
from metrichub.errors import DOUBTS, CellError, InputError, ParameterError, ScoringError
from metrichub.evaluation.buckets import BucketSizes, places
from metrichub.evaluation.doubts import Reader, findings_of
from metrichub.evaluation.measure import Measure
from metrichub.evaluation.measurement import (
    Measurement,
    joined_facts,
    pooled_facts,
    united,
    with_facts,
)
from metrichub.evaluation.merge import merged
from metrichub.evaluation.observation import Progress
from metrichub.evaluation.result import Result
from metrichub.evaluation.stored import StoredSamples
from metrichub.metric import Metric

if TYPE_CHECKING:
    from metrichub.models.batch_files import BatchRun

PART_CHARACTERS = 1_000_000
"""About how much text one process measures at a time."""

_IN_PARTS = (
    "pass samples that come in parts to hub.evaluate(...) as an iterator of tables, or merge the "
    "reports of the parts with report.merge(other)"
)
_ITEMS = 10_000
"""How many items are joined at a time, so that no column is copied whole."""
_EXTRACTIONS = attrgetter("extraction", "reference_extraction")
_hash = partial(hashlib.blake2b, digest_size=8)

OTHER_METHODS = {
    "compute": "call it: hub(predictions=[...], references=[...])",
    "score": "call it: hub(predictions=[...], references=[...])",
    "add": _IN_PARTS,
    "add_batch": _IN_PARTS,
}
"""Advice for methods that other libraries have."""


def system_columns(metrics: Iterable[Metric]) -> set[str]:
    """The columns that systems make, in which they may differ on the same samples."""
    columns = {*MADE}
    for metric in metrics:
        columns.update(map(column_of, metric.system_inputs()))
    return columns


class Fingerprint:
    """Hashes of all columns but those that systems make; they are compared on equal ones.

    Contexts have one too, as they must be equal where nothing else shows that the samples are the
    same. A column that no metric reads may show it.
    """

    def __init__(self, metrics: Sequence[Metric] = ()) -> None:
        self._columns: dict[str, _ColumnHash] = {}
        self._made = system_columns(metrics) - {"contexts"}

    def add(self, batch: Batch) -> None:
        """Go on with more samples."""
        for name, column in batch.columns.items():
            if name not in self._made:
                self._columns.setdefault(name, _ColumnHash()).add(column.items, column.counts)
        for name, values in batch.unread.items():
            one_each = np.ones(len(values), np.int64)
            self._columns.setdefault(UNREAD + name, _ColumnHash()).add(values, one_each)

    def digests(self) -> Mapping[str, str]:
        """The hash of every column so far."""
        return {name: column.digest() for name, column in self._columns.items()}


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


class Recorder:
    """Keeps facts of the batches of a run beside scores; it sees each once, before it is cut.

    Those are their facts, and with `texts` the batches themselves.
    """

    def __init__(self, samples: bool, texts: bool, metrics: Sequence[Metric] = ()) -> None:
        self._samples, self._texts = samples, samples and texts
        self._batches: list[Batch] = []
        self._facts: list[tuple[int, Mapping[str, Any]]] = []
        self._fingerprint, self._reader = Fingerprint(metrics), Reader()
        self._looks = DOUBTS.get() != "unseen"

    def see(self, batch: Batch) -> None:
        """Go on with the next batch."""
        if self._looks:
            self._reader.see(batch)
        if self._samples:
            self._facts.append((batch.size, batch.facts))
            self._fingerprint.add(batch)
        else:
            summed = [*self._facts, (batch.size, pooled_facts(batch.facts))]
            self._facts = [(sum(size for size, _ in summed), joined_facts(summed))]
        if self._texts:
            self._batches.append(batch)

    def complete(self, measurement: Measurement, measure: Measure) -> Measurement:
        """The measurement of all batches with what was kept of them, and what checks find there."""
        facts = {
            **measurement.facts,
            **joined_facts(self._facts),
            "fingerprints": [(measurement.size, self._fingerprint.digests())],
        }
        texts = StoredSamples(tuple(self._batches)) if self._texts else None
        complete = replace(measurement, facts=facts, texts=texts)
        if not self._looks:
            return complete
        rows = self._reader.rows()
        return with_facts(complete, doubts=findings_of(measure.again, complete, rows))


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
        traces = {name: trace.pool() for name, trace in measurement.traces.items()}
        by_systems = system_columns(result.metric for result in measurement.results.values())
        buckets = BucketSizes.of(batch, self.key, by_systems - {"contexts"})
        facts = pooled_facts(measurement.facts)
        summed = replace(measurement, results=results, traces=traces, buckets=buckets, facts=facts)
        return summed.condense() if self.condensed else summed


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

    A metric that asks for one process is measured here, while the others' parts are out.
    With `samples=False` only sums are kept, of all samples and of buckets of them that the `key`
    chooses, and no more than a few parts are held at a time; a `condensed` measurement can still
    be merged with others. With `texts` the samples are kept to show them.

    Raises:
        ParameterError: workers isn't positive.
    """
    if not isinstance(workers, int) or workers < 1:
        raise ParameterError(None, "workers", workers, "an integer of at least 1")

    def work_of(metrics: Sequence[Metric]) -> Measure | _Pooled:
        chosen = replace(measure, metrics=tuple(metrics))
        return chosen if samples else _Pooled(chosen, key, condensed)

    recorder = Recorder(samples, texts, measure.metrics)
    # The same parts and blocks for any number of workers: so is every rounding.
    parts = _parts(measure, batches, recorder)
    here = [metric for metric in measure.metrics if workers == 1 or metric.one_process()]
    there = [metric for metric in measure.metrics if metric not in here]
    measurements: Iterable[Measurement]
    if there:
        # Loads what starts and ends processes.
        from metrichub.evaluation.workers import distribute

        parts, parts_here = tee(parts) if here else (parts, iter(()))
        spread = distribute(work_of(there), parts, workers)
        measurements = _with_progress(spread, len(there), progress)
        if here:
            beside = map(partial(work_of(here), progress=progress), parts_here)
            joined = partial(of_all_metrics, [metric.name for metric in measure.metrics])
            measurements = map(joined, measurements, beside)
    else:
        work = work_of(here)
        measurements = (work(part, progress) for part in parts)
    merged_parts = recorder.complete(_merged_stream(measurements), measure)
    if samples:
        return merged_parts
    return merged_parts.condense() if condensed else merged_parts.without_samples()


def of_all_metrics(names: Sequence[str], first: Measurement, other: Measurement) -> Measurement:
    """The measurements of the same samples by different metrics as one, in the order of names."""
    results = {**first.results, **other.results}
    by_metric = ("usage", "script_coverage", "mixed_forms", "heaviest")
    facts = {
        **other.facts,
        **first.facts,
        **{name: united(first.facts[name], other.facts[name]) for name in by_metric},
    }
    if facts["lengths"] is None:
        facts["lengths"] = other.facts["lengths"]
    buckets = first.buckets
    if buckets is not None and other.buckets is not None:
        prints = {n: v for n, v in buckets.prints.items() if n in other.buckets.prints}
        buckets = replace(buckets, prints=prints)
    return replace(
        first,
        results={name: results[name] for name in names},
        traces={**first.traces, **other.traces},
        facts=facts,
        buckets=buckets,
    )


def _merged_stream(measurements: Iterable[Measurement]) -> Measurement:
    """All parts in order as one; rows are joined metric by metric, to hold few twice."""
    merged_parts: Measurement | None = None
    parts: dict[str, list[Result]] = {}
    for measurement in _located_in_all(measurements):
        part = replace(measurement, results={}, facts={**measurement.facts, "fingerprints": []})
        merged_parts = part if merged_parts is None else merged((merged_parts, part))
        for name, result in measurement.results.items():
            results = parts.setdefault(name, [])
            results.append(result)
            if result.adds_up and result.pooled:
                results[:] = [_merged_results(results)]
    joined = {name: _merged_results(parts.pop(name)) for name in list(parts)}
    assert merged_parts is not None, "a run without samples has an empty batch"
    return replace(merged_parts, results=joined)


def _located_in_all(measurements: Iterable[Measurement]) -> Iterator[Measurement]:
    """The same measurements; a failure's sample is counted from the first of all."""
    coming, before = iter(measurements), 0
    while True:
        try:
            measurement = next(coming, None)
        except CellError as error:
            raise error.at(error.sample + before) from error.__cause__
        except ScoringError as error:
            sample = None if error.sample is None else error.sample + before
            raise error.at(sample) from error.__cause__
        if measurement is None:
            return
        before += measurement.size
        yield measurement


def _merged_results(parts: Sequence[Result]) -> Result:
    """The result of all parts' samples, in order; one part is itself."""
    first = parts[0]
    return first if len(parts) == 1 else first.merge(parts, first.signature)


def _parts(measure: Measure, batches: Iterable[Batch], recorder: Recorder) -> Iterator[Batch]:
    """The batches cut into what one process measures at a time; an empty batch is one part."""
    block_sizes = (metric.block_characters or 0 for metric in measure.metrics)
    characters = max(PART_CHARACTERS, *block_sizes)
    if any(chain.from_iterable(map(_EXTRACTIONS, measure.metrics))):
        from metrichub.metric.extraction import read_functions
        from metrichub.metric.reference_extraction import reference_reading

        if reading := reference_reading(measure.metrics):
            batches = map(partial(with_references, **reading._asdict()), batches)
        batches = map(partial(with_answers, functions=read_functions(measure.metrics)), batches)
    for batch in batches:
        recorder.see(batch)
        yield from batch.parts(characters) if batch.size else (batch,)


def _with_progress(
    measurements: Iterable[Measurement], metrics: int, progress: Progress | None
) -> Iterator[Measurement]:
    for measurement in measurements:
        if progress:
            progress(measurement.size * metrics)
        yield measurement


def check_run(
    more: Sequence[object],
    progress: object,
    key: Sequence[str],
    flags: Mapping[str, object],
    repeats: int,
) -> None:
    """Check what a run was given beside its data; `repeats` counts runs that ask a judge anew.

    Raises:
        InputError, ParameterError: it can't be run like that; the text says how it can.
    """
    for name, value in flags.items():
        if not isinstance(value, bool) and (name, value) != ("texts", None):
            allowed = "True or False; a column of this name has to be in a table"
            raise ParameterError(None, name, value, allowed)
    if more:
        raise InputError(
            "pass columns by name, predictions=[...], references=[...], since their "
            "order differs from library to library"
        )
    if progress is not None and not callable(progress):
        raise InputError(
            "progress must be a function that is called with how much was measured since the "
            f"last call, for example tqdm().update, not {progress!r}"
        )
    if key and flags["samples"]:
        raise InputError("a key applies only to reports without samples; add samples=False")
    if key and repeats > 1:
        raise InputError("a key can't be combined with repeats; leave one of them out")


def rounds_of(batch: str | PathLike[str] | None, workers: int) -> BatchRun | None:
    """The run over a batch's folder; one that several systems share is given as it is."""
    if batch is None:
        return None
    from metrichub.models.batch_files import batch_run

    return batch_run(batch, workers)


def finish_rounds(rounds: BatchRun | None, batch: object, report: object) -> None:
    """Write what a run over a batch's folder would ask, if that run was opened for this call.

    Raises:
        Pending: there is something to ask, or answers haven't come yet.
    """
    if rounds is not None and rounds is not batch:
        rounds.finish(report)
