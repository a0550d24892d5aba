"""What a worker process does with an uploaded file: scores it and writes what can be downloaded."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metrichub.app.limits import rows_of
from metrichub.app.policy import Wanted
from metrichub.app.refusal import Refusal
from metrichub.app.settings import Judging
from metrichub.app.work import job_hub
from metrichub.data.files import read_batches, write_text
from metrichub.data.reading import Reading
from metrichub.errors import InputError, MetrichubError, MissingColumn
from metrichub.report.tables import Table, json_safe

if TYPE_CHECKING:
    from metrichub.data.rows import Samples
    from metrichub.hub import Hub
    from metrichub.report.report import Report

PROGRESS = "progress.json"
_EVERY = 0.2


@dataclass(frozen=True)
class FileJob:
    """A file to score.

    Attributes:
        path: The file; what is made of it is written beside.
        format: What it is: "jsonl", "csv" and so on.
        shown: The name that its owner knows it by.
        metrics: The metrics.
        mapping: A column, and the name that it has in the file.
        reduce: How several candidates of a sample make one row.
        judging: The server's judge.
        rows: How many rows a metric may see of a batch.
    """

    path: Path
    format: str
    shown: str
    metrics: Sequence[Wanted]
    mapping: Mapping[str, str] = field(default_factory=dict)
    reduce: str | None = None
    judging: Judging = field(default_factory=Judging)
    rows: int = 1_000_000


@dataclass(frozen=True)
class Summary:
    """What a run's page shows.

    Attributes:
        size: The number of samples.
        table: Head and rows of the scores.
        signatures: Each metric's signature.
        notes: What a reader has to know beside the scores.
        files: What can be downloaded.
    """

    size: int
    table: Table
    signatures: Mapping[str, str]
    notes: Mapping[str, Sequence[str]]
    files: tuple[str, ...]


def score_file(job: FileJob) -> Summary | Refusal:
    """The summary of a scored file, or why it can't be scored."""
    names: dict[str, None] = {}
    needs: Mapping[str, str] = {}
    try:
        hub = job_hub(job.metrics, job.reduce, job.judging)
        needs = hub.needs()
        batches = _noted(read_batches(job.path, format=job.format), names, job.rows)
        reading = Reading(batches, needs, job.mapping)
        try:
            report = _measured(hub, reading, job)
        except InputError as error:
            raise reading.located(error) from error
        return _written(report, report.metadata.get("id"), job)
    except MetrichubError as error:
        kind = "MissingColumn" if _is_missing(error) else type(error).__name__
        message = str(error).replace(str(job.path), job.shown)
        return Refusal(kind, message, tuple(names), tuple(needs))


def _noted(batches: Iterable[Samples], names: dict[str, None], rows: int) -> Iterator[Samples]:
    """The batches, their columns noted, as long as they hold no more rows than allowed."""
    for samples in batches:
        names |= dict.fromkeys(samples)
        if rows_of(samples.values()) > rows:
            raise samples.error("a few samples have too many texts to pair each with each")
        yield samples


def _is_missing(error: BaseException) -> bool:
    """Whether a column wasn't found, or several could be it."""
    told = (error, error.__cause__)
    return any(isinstance(one, MissingColumn) or "could both be" in str(one) for one in told)


def _measured(hub: Hub, reading: Reading, job: FileJob) -> Report:
    last = done = 0.0

    def progress(amount: int) -> None:
        nonlocal last, done
        done += amount
        if (now := time.monotonic()) - last >= _EVERY:
            last = now
            expected = (reading.expected or 0) * len(hub.metrics)
            share = min(done / expected, 1) if expected else None
            _tell(job, samples=int(done / len(hub.metrics)), share=share)

    report = hub.evaluate(iter(reading), columns=job.mapping, texts=True, progress=progress)
    _tell(job, samples=report.size, share=None, writing=True)
    return report


def _tell(job: FileJob, **progress: Any) -> None:
    write_text(job.path.with_name(PROGRESS), json.dumps(progress))


def _written(report: Report, ids: Sequence[Any] | None, job: FileJob) -> Summary:
    folder = job.path.parent
    intervals = report.intervals()
    table, signatures, notes = Table.of(report, intervals), report.signatures(), report.notes()
    document = {
        "file": job.shown,
        "samples": report.size,
        "scores": report.scores(),
        "intervals": intervals,
        "signatures": signatures,
        "notes": notes,
    }
    rows = list(_sample_rows(report, ids))
    texts = {
        "scores.json": f"{json.dumps(json_safe(document), indent=2)}\n",
        "scores.csv": table.csv(),
        "samples.jsonl": "".join(f"{json.dumps(json_safe(row))}\n" for row in rows),
        "samples.csv": _csv(rows),
    }
    for name, text in texts.items():
        write_text(folder / name, text)
    report.to_html(folder / "report.html", ids=ids)
    return Summary(report.size, table, signatures, notes, (*texts, "report.html"))


def _sample_rows(report: Report, ids: Sequence[Any] | None) -> Iterator[dict[str, Any]]:
    columns = {
        f"{metric}.{output}": values.tolist()
        for metric, outputs in report.samples().items()
        for output, values in outputs.items()
    }
    for i in range(report.size):
        row = {"sample": i} | ({"id": ids[i]} if ids else {})
        yield row | {name: values[i] for name, values in columns.items()}


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(value) for name, value in json_safe(row).items()})
    # A lone surrogate has no UTF-8.
    return out.getvalue().encode("utf-8", "replace").decode("utf-8")


def _cell(value: Any) -> Any:
    """A value that a spreadsheet takes for no formula."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return value
