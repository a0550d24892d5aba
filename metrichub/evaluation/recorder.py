"""Recorder: what a run keeps of its batches as they go in, and of their measurements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from metrichub.data.batch import Batch
from metrichub.data.fingerprint import Fingerprint
from metrichub.data.metadata import joined_metadata
from metrichub.errors import ScoringError
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.merge import merged
from metrichub.evaluation.result import Result
from metrichub.evaluation.stored import StoredSamples


class Recorder:
    """What is kept of the batches of a run beside scores; it sees each once, before it is cut.

    Without `samples` that is the names alone that columns were read from; with `texts` it is the
    batches themselves, too.
    """

    def __init__(self, samples: bool, texts: bool) -> None:
        self._samples, self._texts = samples, samples and texts
        self._batches: list[Batch] = []
        self._read_from: dict[str, dict[str, None]] = {}
        self._metadata: list[tuple[int, Mapping[str, Sequence[Any] | None]]] = []
        self._fingerprint = Fingerprint()

    def see(self, batch: Batch) -> None:
        """Go on with the next batch."""
        for column, name in batch.read_from.items():
            self._read_from.setdefault(column, {})[name] = None
        if self._samples:
            self._metadata.append((batch.size, batch.metadata))
            self._fingerprint.add(batch)
        if self._texts:
            self._batches.append(batch)

    def complete(self, whole: Measurement) -> Measurement:
        """The measurement of all batches with what was kept of them."""
        return replace(
            whole,
            segments=((whole.size, self._fingerprint.digests()),),
            read_from={column: tuple(names) for column, names in self._read_from.items()},
            metadata=joined_metadata(self._metadata),
            texts=StoredSamples(tuple(self._batches)) if self._texts else None,
        )


def gathered(measurements: Iterable[Measurement]) -> Measurement:
    """All parts in order as one; rows are joined metric by metric, to hold few twice."""
    whole = Measurement({}, 0, (), {})
    parts: dict[str, list[Result]] = {}
    for measurement in located_in_all(measurements):
        whole = merged((whole, replace(measurement, results={}, segments=())))
        for name, result in measurement.results.items():
            kept = parts.setdefault(name, [])
            kept.append(result)
            if result.only_sums:
                kept[:] = [merged_results(kept)]
    return replace(whole, results={name: merged_results(parts.pop(name)) for name in list(parts)})


def located_in_all(measurements: Iterable[Measurement]) -> Iterator[Measurement]:
    """The same measurements; a failure's sample is counted from the first of all."""
    coming, before = iter(measurements), 0
    while measurement := _next(coming, before):
        before += measurement.size
        yield measurement


def _next(measurements: Iterator[Measurement], before: int) -> Measurement | None:
    try:
        return next(measurements, None)
    except ScoringError as error:
        sample = None if error.sample is None else error.sample + before
        raise error.at(sample) from error.__cause__


def merged_results(parts: Sequence[Result]) -> Result:
    """The result of all parts' samples, in order; one part is itself."""
    first = parts[0]
    return first if len(parts) == 1 else first.merge(parts, first.signature)
