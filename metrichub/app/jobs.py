"""What worker processes do: read, score and write; all comes and goes as plain values."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from metrichub import Hub
from metrichub.app.policy import RequestedMetric, metric_of
from metrichub.app.problem import Refusal
from metrichub.app.settings import Judging
from metrichub.data.files import as_one, read_bounded, write_text
from metrichub.data.location import short_names
from metrichub.data.samples import Reading, Samples, check_same_samples, expected_work
from metrichub.data.source import open_source
from metrichub.data.tidy import in_order
from metrichub.data.values import json_value
from metrichub.errors import (
    InputError,
    MetrichubError,
    MissingColumn,
    ReportError,
    without_warnings,
)
from metrichub.report import captions, export, notes
from metrichub.report.html.provenance import Provenance
from metrichub.report.rows import ScoreFormat
from metrichub.report.sample_rows import sample_lines
from metrichub.report.scoreboard import rows_of_scores, scoreboard

if TYPE_CHECKING:
    from metrichub import Explanation, Report

PROGRESS, REPORT, SAVED = "progress.json", "report.html", "report.json.gz"
_EVERY = 0.2
_BATCHES, _CHARACTERS = 4, 50_000


class ScoreRequest(BaseModel):
    """Samples as columns of equal length, one entry a sample: a text, or a list of texts.

    The columns that the metrics read have to be there: `predictions`, `references`, `sources`,
    `questions`, `contexts`, or any other that a metric's card names, such as `patterns`.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, list[Any]]
    metrics: list[str | RequestedMetric] = Field(
        min_length=1, description="Names, specs such as `bleu2 = bleu(max_order=2)`, or objects."
    )
    columns: dict[str, str] = Field(
        {}, description="Maps a column to its name in the request, if it has another one."
    )
    reduce: Literal["best", "worst", "mean", "max", "min", "first"] | None = Field(
        None, description="How to reduce several candidates of a sample to one score."
    )
    intervals: bool = Field(False, description="Whether to add bootstrap intervals.")
    samples: bool = Field(False, description="Whether to add the scores of every sample.")
    explanations: bool = Field(False, description="Whether to add an explanation of every sample.")


class Upload(NamedTuple):
    """A file of a job: where it is, what it is ("jsonl"), and the name that its owner gave it."""

    path: Path
    format: str
    shown: str


@dataclass(frozen=True)
class FileJob:
    """Files to score, each the outputs of a system on the same samples; the first is the baseline.

    Attributes:
        folder: What is made of them is written there.
        files: The files.
        metrics: Specs of the metrics.
        mapping: A column, and the name that it has in the files.
        reduce: How to reduce several candidates of a sample to one score.
        judging: The server's judge.
        unpacked: Bytes that a file may have once it is unpacked.
    """

    folder: Path
    files: tuple[Upload, ...]
    metrics: Sequence[str]
    mapping: Mapping[str, str]
    reduce: str | None
    judging: Judging
    unpacked: int

    @property
    def systems(self) -> dict[str, Upload]:
        """The files by what distinguishes their names, as the command `compare` calls them."""
        return dict(zip(system_names([file.shown for file in self.files]), self.files, strict=True))


def system_names(files: Sequence[str]) -> list[str]:
    """What distinguishes the names of files; a name that comes again has its number.

    >>> system_names(["run-ours.jsonl", "run-theirs.jsonl"])
    ['run-ours', 'run-theirs']
    >>> system_names(["out.jsonl", "out.jsonl"])
    ['out.jsonl', 'out.jsonl (2)']
    """
    names = short_names(files, alone=len(files) == 1)
    before = [names[:i].count(name) for i, name in enumerate(names)]
    return [f"{name} ({n + 1})" if n else name for name, n in zip(names, before, strict=True)]


@dataclass(frozen=True)
class Summary:
    """What a run's page shows.

    Attributes:
        size: The number of samples.
        table: The headline scores as HTML.
        signatures: The metrics' signatures.
        notes: Notes for readers of the scores, and of which metric.
        sentences: The results of tests between several systems, in words.
        about: How the intervals were made, and what ranks and marks mean.
    """

    size: int
    table: str
    signatures: tuple[str, ...]
    notes: tuple[tuple[str, str], ...]
    sentences: tuple[str, ...] = ()
    about: str = ""


def _hub(metrics: Iterable[str | RequestedMetric], reduce: str | None, judging: Judging) -> Hub:
    asked = (RequestedMetric(metric) if isinstance(metric, str) else metric for metric in metrics)
    made = [metric_of(metric, judging) for metric in asked]
    return Hub(made, reduce=reduce)  # type: ignore[arg-type]  # Hub checks the word


@without_warnings()
def score_request(request: ScoreRequest, judging: Judging) -> dict[str, Any] | Refusal:
    """The scores of samples in the types of JSON, or why there are none."""
    try:
        hub = _hub(request.metrics, request.reduce, judging)
        # As a table, since a column's name must never be taken for an argument.
        report = hub.evaluate(dict(request.__pydantic_extra__), columns=request.columns or None)
    except MetrichubError as error:
        return Refusal(type(error).__name__, str(error))
    samples, every = report.samples(), range(report.size)
    # Up to a thousand of each metric are named.
    lost = {
        name: [i for i in every if math.isnan(outputs["score"][i])][:1000]
        for name, outputs in samples.items()
    }
    answer: dict[str, Any] = json_value(
        {
            "size": report.size,
            "scores": report.scores(),
            "counts": report.counts(),
            "signatures": report.signatures(),
            "notes": report.notes(),
            "without_score": {
                name: [_without_score(i, report.explain(name, i)) for i in places]
                for name, places in lost.items()
                if places
            },
            "intervals": report.intervals() if request.intervals else None,
            "samples": samples if request.samples else None,
            "explanations": {
                name: [report.explain(name, i)._asdict() for i in every] for name in samples
            }
            if request.explanations
            else None,
        }
    )
    return answer


def _without_score(sample: int, why: Explanation) -> dict[str, Any]:
    return {"sample": sample, "status": why.status, "reason": why.reason}


def columns_of(file: Upload, most: int) -> tuple[str, ...] | Refusal:
    """The columns at the beginning of a file, or why it can't be read; a saved report has none."""
    names: dict[str, None] = {}
    try:
        if _report_text(file, most):
            return ()
        for samples in islice(read_bounded(file.path, file.format, most, _CHARACTERS), _BATCHES):
            names |= dict.fromkeys(samples)
    except MetrichubError as error:
        # What is wrong further down is told where it is scored; here a file may be cut off.
        if not names:
            return _refusal(error, (file,))
    return tuple(names)


def _refusal(error: MetrichubError, files: Iterable[Upload], *columns: Iterable[str]) -> Refusal:
    """Why files can't be read, with the names that their owner knows; and which columns there are.

    Whoever can choose a column, as one wasn't found or several could be it, is told so.
    """
    told = Refusal.of(error)
    to_choose = error.remedy is not None and error.remedy.action == "choose_column"
    kind = "MissingColumn" if to_choose or isinstance(error, MissingColumn) else told.error
    message = told.message
    for file in files:
        message = message.replace(str(file.path), file.shown)
    return Refusal(kind, message, *map(tuple, columns))


def score_files(job: FileJob) -> Summary | Refusal:
    """The summary of scored files or of saved reports, or why there is none."""
    names: dict[str, None] = {}
    needs: Mapping[str, str] = {}
    try:
        texts = {name: _report_text(file, job.unpacked) for name, file in job.systems.items()}
        if all(texts.values()):
            return _written({n: _opened(file, texts[n]) for n, file in job.systems.items()}, job)
        if any(texts.values()):
            raise InputError(
                "a saved report can be compared with saved reports alone; upload the reports of "
                "all systems, or the samples of all"
            )
        if not job.metrics:
            raise InputError("choose a metric")
        hub = _hub(job.metrics, job.reduce, job.judging)
        needs = hub.needs()
        # Columns may be chosen before the metrics are.
        job = replace(job, mapping={c: name for c, name in job.mapping.items() if c in needs})
        batches: Mapping[str, Iterable[Samples]] = {
            name: _noted(file, names, job) for name, file in job.systems.items()
        }
        if len(batches) > 1:
            # As a whole, once it is sure that they are about the same samples.
            whole = in_order({name: as_one(list(parts)) for name, parts in batches.items()})
            check_same_samples(whole, hub.needs(), job.mapping, hub.made_by_systems())
            batches = {name: [samples] for name, samples in whole.items()}
        return _written(_measured(hub, batches, job), job)
    except MetrichubError as error:
        return _refusal(error, job.files, names, needs)


def _noted(file: Upload, names: dict[str, None], job: FileJob) -> Iterator[Samples]:
    """The batches, their columns noted."""
    for samples in read_bounded(file.path, file.format, job.unpacked):
        names |= dict.fromkeys(samples)
        yield samples


def _report_text(file: Upload, most: int) -> str:
    """The text of a saved report; blank for any other file."""
    if file.format != "json":
        return ""
    with open_source(file.path, most) as source:
        text = source.text()
    return text if '"metrichub-report-' in text[:100] else ""


def _opened(file: Upload, text: str) -> Report:
    """A saved report, each metric of which is made as one that a client asks for.

    Its answers are in the report, so that any judge will do: none is asked again.
    """
    from metrichub import Report

    try:
        asked = TypeAdapter(list[RequestedMetric]).validate_python([
            {"metric": saved["metric"], "parameters": saved["parameters"], "name": name}
            for name, saved in json.loads(text)["results"].items()
        ])  # fmt: skip
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ReportError(f"{file.shown} is damaged; save the report again") from error
    metrics = [metric_of(metric, Judging("offline", "offline"), saved=True) for metric in asked]
    # The text that was looked at, whatever else could be unpacked from the file.
    path = file.path.with_name("saved.json")
    write_text(path, text)
    try:
        return Report.load(path, metrics)
    except ReportError as error:
        raise ReportError(str(error).replace(str(path), file.shown)) from error
    finally:
        path.unlink()


@without_warnings()
def _measured(
    hub: Hub, batches: Mapping[str, Iterable[Samples]], job: FileJob
) -> dict[str, Report]:
    """Every system's report, one system after the other."""
    needs = hub.needs()
    readings = {name: Reading(parts, needs, job.mapping) for name, parts in batches.items()}
    add = _adder(job, list(readings.values()), len(hub.metrics))
    reports = hub.evaluate_all(readings, columns=job.mapping, texts=True, progress=add)
    _note_progress(job, samples=sum(report.size for report in reports.values()), writing=True)
    return reports


def _note_progress(job: FileJob, **progress: Any) -> None:
    """Write how far a job is, for the server."""
    write_text(job.folder / PROGRESS, json.dumps({"share": None, **progress}))


def _adder(job: FileJob, readings: Sequence[Reading], metrics: int) -> Callable[[int], None]:
    """What to call when a metric has measured so many more samples; notes it now and then."""
    done, last = 0, 0.0

    def add(amount: int) -> None:
        nonlocal done, last
        done += amount
        if (now := time.monotonic()) - last >= _EVERY:
            last = now
            expected = expected_work(readings, metrics)
            share = min(done / expected, 1) if expected else None
            _note_progress(job, samples=done // metrics, share=share)

    return add


@without_warnings()
def _written(reports: Mapping[str, Report], job: FileJob) -> Summary:
    """What a run's page shows, once the files to download are written."""
    from metrichub import compare_all

    (name, first), *others = reports.items()
    ranking = compare_all(reports) if others else None
    intervals = ranking.intervals() if ranking else {name: first.intervals()}
    if ranking:
        scores = ranking.to_dict() | {
            "files": {name: file.shown for name, file in job.systems.items()},
            "intervals": intervals,
            "signatures": first.signatures(),
            "notes": {name: report.notes() for name, report in reports.items()},
        }
        table = ranking.to_csv()
    else:
        scores = {"file": name, **export.document(first, intervals[name], first.signatures())}
        table = rows_of_scores(reports, intervals).csv()
    texts = {
        "scores.json": export.json_of(scores, 2),
        "scores.csv": table,
    }
    for suffix in (".jsonl", ".csv"):
        write_text(job.folder / f"samples{suffix}", sample_lines(reports, suffix))
    for file, text in texts.items():
        # A lone surrogate has no UTF-8.
        write_text(job.folder / file, text.encode("utf-8", "replace").decode("utf-8"))
    read = Provenance.of((file.shown, file.path) for file in job.files)
    how = {"ranking": ranking, "provenance": read}
    first.to_html(job.folder / REPORT, name=name, others=dict(others), **how)
    # A row that isn't JSON can't be saved; all else can be shown.
    with suppress(ReportError):
        if not ranking:
            first.save(job.folder / SAVED)
    form = ScoreFormat()
    told = [
        (f"{note.metric} of {', '.join(note.systems)}" if note.systems else note.metric, note.text)
        for note in notes.shared_notes(reports)
    ]
    told += [(m, f"no winner: {why}") for m, why in (ranking.withheld if ranking else {}).items()]
    board = scoreboard(reports, ranking, intervals, form)
    about = captions.about_intervals(reports, intervals, form)
    marks = captions.legend(board, ranking)
    about = f"{about} {captions.about_tests(board, ranking)} {marks}".strip()
    if ranking and len(board.head) > len(board.rows):
        # A page is narrow: a row an output, and a column a system.
        (_, *head), *rows = zip(board.head, *board.rows, strict=True)
        best = {(j - 1, i + 1) for i, j in board.best}
        board = board._replace(head=["", *head], rows=rows, best=best)
    sentences = ranking.headline.sentences if ranking else ()
    signatures = tuple(captions.signatures_of(reports))
    return Summary(first.size, board.html(), signatures, tuple(told), sentences, about)
