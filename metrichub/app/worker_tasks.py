"""What worker processes do: read and score what was sent; it comes and goes as plain values."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from metrichub import Hub
from metrichub.app.jobs import PROGRESS, FileJob, Summary, Upload
from metrichub.app.limits import rows_of
from metrichub.app.policy import RequestedMetric, metric_of
from metrichub.app.problem import ON_PAGES, Refusal
from metrichub.app.result_files import write_comparison, write_scores
from metrichub.app.settings import Judging
from metrichub.data.files import as_one, read_bounded, write_text
from metrichub.data.samples import Reading, Samples, check_same_samples
from metrichub.data.values import json_value
from metrichub.errors import InputError, MetrichubError, MissingColumn

if TYPE_CHECKING:
    from metrichub import Report

_EVERY = 0.2
_BATCHES, _CHARACTERS = 4, 50_000


@dataclass(frozen=True)
class Job:
    """What is to be scored, and what is to be told of it.

    Attributes:
        metrics: The metrics.
        columns: The samples.
        mapping: A column, and the name that it has among the columns.
        reduce: How to reduce several candidates of a sample to one score.
        judging: The server's judge.
        intervals: Whether there are to be intervals.
        samples: Whether there are to be scores of every sample.
        explanations: Whether there are to be explanations of every sample.
    """

    metrics: Sequence[RequestedMetric]
    columns: Mapping[str, Sequence[Any]]
    mapping: Mapping[str, str] = field(default_factory=dict)
    reduce: str | None = None
    judging: Judging = field(default_factory=Judging)
    intervals: bool = False
    samples: bool = False
    explanations: bool = False


def job_hub(metrics: Sequence[RequestedMetric], reduce: str | None, judging: Judging) -> Hub:
    """The hub of what a client asks for.

    Raises:
        MetrichubError: a metric that can't be made, or isn't offered.
    """
    made = [metric_of(metric, judging) for metric in metrics]
    return Hub(made, reduce=reduce)  # type: ignore[arg-type]  # Hub checks the word


def score_job(job: Job) -> dict[str, Any] | Refusal:
    """The scores of a job in the types of JSON, or why there are none."""
    try:
        hub = job_hub(job.metrics, job.reduce, job.judging)
        # As a table, since a column's name must never be taken for an argument.
        report = hub.evaluate(dict(job.columns), columns=dict(job.mapping) or None)
        return _payload(report, job)
    except MetrichubError as error:
        return Refusal.of(error)


def _payload(report: Report, job: Job) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "size": report.size,
        "scores": report.scores(),
        "signatures": report.signatures(),
        "notes": report.notes(),
        "unscored": unscored(report),
    }
    if job.intervals:
        payload["intervals"] = report.intervals()
    if job.samples:
        payload["samples"] = report.samples()
    if job.explanations:
        payload["explanations"] = {
            name: [report.explain(name, i)._asdict() for i in range(report.size)]
            for name in report.results
        }
    safe: dict[str, Any] = json_value(payload)
    return safe


def unscored(report: Report, most: int = 1000) -> dict[str, list[dict[str, Any]]]:
    """The samples without a score and the reasons, at most so many a metric."""
    samples: dict[str, list[dict[str, Any]]] = {}
    for name, outputs in report.samples().items():
        lost = [i for i, score in enumerate(outputs["score"].tolist()) if math.isnan(score)]
        for i in lost[:most]:
            explained = report.explain(name, i)
            samples.setdefault(name, []).append({"sample": i, "reason": explained.reason})
    return samples


def columns_of(file: Upload, most: int) -> tuple[str, ...] | Refusal:
    """The columns at the beginning of a file, or why it can't be read."""
    names: dict[str, None] = {}
    try:
        for samples in islice(read_bounded(file.path, file.format, most, _CHARACTERS), _BATCHES):
            names |= dict.fromkeys(samples)
    except MetrichubError as error:
        # What is wrong further down is told where it is scored; here a file may be cut off.
        if not names:
            message = error.worded(ON_PAGES).replace(str(file.path), file.shown)
            return Refusal(type(error).__name__, message)
    return tuple(names)


def score_file(job: FileJob) -> Summary | Refusal:
    """The summary of scored files, or why they can't be scored."""
    names: dict[str, None] = {}
    needs: Mapping[str, str] = {}
    try:
        hub = job_hub(job.metrics, job.reduce, job.judging)
        needs = hub.needs()
        # Columns may be chosen before the metrics are.
        job = replace(job, mapping={c: name for c, name in job.mapping.items() if c in needs})
        batches = {name: _noted(file, names, job) for name, file in job.systems.items()}
        if len(batches) == 1:
            (report,) = _measured(hub, batches, job).values()
            return write_scores(report, job)
        return write_comparison(_measured(hub, _paired(hub, batches, job), job), job)
    except MetrichubError as error:
        kind = "MissingColumn" if _is_missing(error) else type(error).__name__
        message = job.named(error.worded(ON_PAGES))
        return Refusal(kind, message, tuple(names), tuple(needs))


def _noted(file: Upload, names: dict[str, None], job: FileJob) -> Iterator[Samples]:
    """The batches, their columns noted, as long as they hold no more than allowed."""
    for samples in read_bounded(file.path, file.format, job.limits.unpacked):
        names |= dict.fromkeys(samples)
        if rows_of(samples.values()) > job.limits.rows:
            raise samples.error("a few samples have too many texts to pair each with each")
        yield samples


def _paired(
    hub: Hub, batches: Mapping[str, Iterable[Samples]], job: FileJob
) -> dict[str, list[Samples]]:
    """The systems as a whole, once it is sure that they are about the same samples."""
    systems = {name: as_one(list(parts)) for name, parts in batches.items()}
    check_same_samples(systems, hub.needs(), job.mapping, hub.made_by_systems())
    return {name: [samples] for name, samples in systems.items()}


def _is_missing(error: MetrichubError) -> bool:
    """Whether a column wasn't found, or several could be it."""
    to_choose = error.remedy is not None and error.remedy.action == "choose_column"
    return to_choose or isinstance(error, MissingColumn)


def _measured(
    hub: Hub, batches: Mapping[str, Iterable[Samples]], job: FileJob
) -> dict[str, Report]:
    """Every system's report, one system after the other."""
    needs = hub.needs()
    readings = {name: Reading(parts, needs, job.mapping) for name, parts in batches.items()}
    progress = _Progress(job, list(readings.values()), len(hub.metrics))
    reports = {}
    for name, reading in readings.items():
        try:
            reports[name] = hub.evaluate(
                iter(reading), columns=job.mapping, texts=True, progress=progress.add
            )
        except InputError as error:
            raise reading.located(error) from error
    progress.write(samples=sum(report.size for report in reports.values()), writing=True)
    return reports


class _Progress:
    """How far a job is, written for the server where some time has gone by."""

    def __init__(self, job: FileJob, readings: Sequence[Reading], metrics: int) -> None:
        self._job, self._readings, self._metrics = job, readings, metrics
        self._last = self._done = 0.0

    def add(self, amount: int) -> None:
        """Note that a metric has measured so many more samples."""
        self._done += amount
        if (now := time.monotonic()) - self._last >= _EVERY:
            self._last = now
            # Systems whose files aren't begun are taken to be like the first.
            expected = (self._readings[0].expected or 0) * len(self._readings) * self._metrics
            share = min(self._done / expected, 1) if expected else None
            self.write(samples=int(self._done / self._metrics), share=share)

    def write(self, **progress: Any) -> None:
        """Write how far it is."""
        text = json.dumps({"share": None, **progress})
        write_text(self._job.folder / PROGRESS, text)
