"""Measurement: what metrics measured of samples, before anything is asked of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from metrichub.data.metadata import Metadata
from metrichub.errors import ReportError, did_you_mean, what
from metrichub.evaluation.explanation import Trace
from metrichub.evaluation.letters import ByTokenizer
from metrichub.evaluation.result import Result
from metrichub.evaluation.stored import StoredSamples
from metrichub.models.usage import Usage


@dataclass(frozen=True)
class Measurement:
    """What metrics measured of `size` samples, one result a metric.

    `segments` holds the number of samples of every batch that went in, with a hash of each column
    but the predictions; `candidates` the smallest and largest number of items a sample has in
    each column. `texts` are the samples themselves where they were kept; a saved report has none.
    `runs` holds the result of each run where judges were asked several times. `read_from` has the
    names that a column was read from where the data had none for it, `letters` what each metric's
    tokenizers did to the letters. `metadata` holds the short columns that no metric reads, a value
    a sample, such as ids, systems and ratings.
    """

    results: Mapping[str, Result]
    size: int
    segments: tuple[tuple[int, Mapping[str, str]], ...]
    candidates: Mapping[str, tuple[int, int]]
    traces: Mapping[str, Trace] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    texts: StoredSamples | None = field(default=None, repr=False, compare=False)
    runs: Mapping[str, tuple[Result, ...]] = field(default_factory=dict, repr=False)
    read_from: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    letters: Mapping[str, ByTokenizer] = field(default_factory=dict, repr=False)
    metadata: Metadata = field(default_factory=dict, repr=False)

    def pool(self) -> Self:
        """The same corpus scores without the samples: memory no longer grows with them."""
        return replace(
            self,
            results={name: r.pool() for name, r in self.results.items()},
            traces={name: found.pool() for name, found in self.traces.items()},
            texts=None,
            metadata={},
            runs={name: tuple(run.pool() for run in runs) for name, runs in self.runs.items()},
        )


def chosen_metrics(
    metrics: str | Iterable[str] | None, known: Collection[str], where: str
) -> Collection[str]:
    """The names of the metrics that were chosen, all that are known if none were.

    Raises:
        ReportError: a name is that of none.
    """
    if metrics is None:
        return known
    one = isinstance(metrics, str) or not isinstance(metrics, Iterable)
    names: list[Any] = [metrics] if one else list(metrics)
    for name in names:
        if not isinstance(name, str):
            raise ReportError(f"metrics are chosen by their names, not by {what(name)}")
        if name not in known:
            near = did_you_mean(name, known) or f"; choose from: {', '.join(known)}"
            raise ReportError(f"no metric {name!r} in {where}{near}")
    return names
