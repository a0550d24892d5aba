"""What worker processes do: score a request's columns, which come and go as plain values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from metrichub.app.policy import Wanted, metric_of
from metrichub.app.problem import Refusal
from metrichub.app.settings import Judging
from metrichub.errors import MetrichubError
from metrichub.hub import Hub
from metrichub.report.tables import json_safe

if TYPE_CHECKING:
    from metrichub.report.report import Report


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

    metrics: Sequence[Wanted]
    columns: Mapping[str, Sequence[Any]]
    mapping: Mapping[str, str] = field(default_factory=dict)
    reduce: str | None = None
    judging: Judging = field(default_factory=Judging)
    intervals: bool = False
    samples: bool = False
    explanations: bool = False


def job_hub(metrics: Sequence[Wanted], reduce: str | None, judging: Judging) -> Hub:
    """The hub of what a client asks for.

    Raises:
        MetrichubError: a metric that can't be made, or isn't offered.
    """
    made = [metric_of(wanted, judging) for wanted in metrics]
    return Hub(made, reduce_fn=reduce)  # type: ignore[arg-type]  # Hub checks the word


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
    told: dict[str, Any] = {
        "size": report.size,
        "scores": report.scores(),
        "signatures": report.signatures(),
        "notes": report.notes(),
        "unscored": unscored(report),
    }
    if job.intervals:
        told["intervals"] = report.intervals()
    if job.samples:
        told["samples"] = report.samples()
    if job.explanations:
        told["explanations"] = {
            name: [report.explain(name, i)._asdict() for i in range(report.size)]
            for name in report.results
        }
    safe: dict[str, Any] = json_safe(told)
    return safe


def unscored(report: Report, most: int = 1000) -> dict[str, list[dict[str, Any]]]:
    """The samples without a score and the reasons, at most so many a metric."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name, outputs in report.samples().items():
        lost = [i for i, score in enumerate(outputs["score"].tolist()) if math.isnan(score)]
        for i in lost[:most]:
            explained = report.explain(name, i)
            found.setdefault(name, []).append({"sample": i, "reason": explained.reason})
    return found
