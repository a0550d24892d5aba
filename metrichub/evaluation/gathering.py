"""Gathering: measurements of parts, as they come, become one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from metrichub.errors import ScoringError
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.merge import merged
from metrichub.evaluation.result import Result


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
