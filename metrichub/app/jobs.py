"""The jobs of worker processes: read, score and write, with plain values in and out."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from metrichub import Hub
from metrichub.app.policy import RequestedMetric, metric_of
from metrichub.app.problem import Refusal
from metrichub.app.settings import Judging
from metrichub.app.uploads import (
    SYSTEM,
    Choices,
    Upload,
    refusal_of,
    report_texts,
    system_names,
)
from metrichub.data.files import as_one, read_bounded, write_text
from metrichub.data.samples import Reading, Samples, check_same_samples, expected_work
from metrichub.data.tidy import in_order, split_systems
from metrichub.data.values import json_value
from metrichub.errors import InputError, MetrichubError, ReportError, without_warnings
from metrichub.report import export
from metrichub.report.headline import headline_of_one
from metrichub.report.html.provenance import Provenance
from metrichub.report.rows import ScoreFormat, merged_columns, rows_of
from metrichub.report.sample_rows import sample_lines
from metrichub.report.scoreboard import scores_in_full

if TYPE_CHECKING:
    from metrichub import Explanation, Report

PROGRESS, REPORT, SAVED = "progress.json", "report.html", "report.json.gz"
_EVERY = 0.2


class ScoreRequest(BaseModel):
    """Samples as columns of equal length, one entry per sample: a text, or a list of texts.

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


@dataclass(frozen=True)
class FileJob:
    """Files to score, each the outputs of a system on the same samples, or one of all systems.

    Attributes:
        folder: Where reports and tables are written.
        files: The files.
        chosen: How they are to be scored.
        judging: The server's judge.
        unpacked: Bytes that a file may have once it is unpacked.
    """

    folder: Path
    files: tuple[Upload, ...]
    chosen: Choices
    judging: Judging
    unpacked: int


class Summary(NamedTuple):
    """A line of the list of runs: the number of samples, and the result in a sentence or two."""

    size: int
    sentences: tuple[str, ...]


def _hub(metrics: Iterable[str | RequestedMetric], reduce: str | None, judging: Judging) -> Hub:
    requested = (RequestedMetric(spec) if isinstance(spec, str) else spec for spec in metrics)
    chosen = [metric_of(metric, judging) for metric in requested]
    return Hub(chosen, reduce=reduce)  # type: ignore[arg-type]  # Hub checks the word


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


def score_files(job: FileJob) -> Summary | Refusal:
    """The summary of scored files or of saved reports, or why there is none."""
    chosen = job.chosen
    names = system_names([file.shown for file in job.files])
    named = dict(zip(names, job.files, strict=True))
    try:
        if texts := report_texts(job.files, job.unpacked):
            text_of = dict(zip(names, texts, strict=True))
            opened = {name: _opened(named[name], text_of[name]) for name in chosen.first(names)}
            return _written(opened, job)
        if not chosen.metrics:
            raise InputError("choose a metric")
        hub = _hub(chosen.metrics, chosen.reduce, job.judging)
        batches: dict[str, Iterable[Samples]] = {
            name: map(chosen.of, read_bounded(file.path, file.format, job.unpacked))
            for name, file in named.items()
        }
        if len(batches) > 1 or chosen.names(SYSTEM):
            # Read to their ends, as systems are compared on the same samples.
            systems = {name: as_one(list(parts)) for name, parts in batches.items()}
            if len(systems) == 1:
                systems = split_systems(systems[names[0]], chosen.names(SYSTEM)[0])
            systems = {name: systems[name] for name in chosen.first(systems)}
            same = chosen.matched(systems) if chosen.common else in_order(systems)
            check_same_samples(same, hub.needs(), _mapping(hub, job), hub.system_columns())
            batches = {name: [samples] for name, samples in same.items()}
        return _written(_measured(hub, batches, job), job)
    except MetrichubError as error:
        return refusal_of(error, job.files)


def _mapping(hub: Hub, job: FileJob) -> dict[str, str]:
    """The columns that were chosen; they may be before the metrics are."""
    return {c: name for c, name in job.chosen.mapping.items() if c in hub.needs()}


def _opened(file: Upload, text: str) -> Report:
    """A saved report, each metric of which is made as one that a client asks for.

    Its answers are in the report, so that any judge will do: none is asked again.
    """
    from metrichub import Report

    try:
        requested = TypeAdapter(list[RequestedMetric]).validate_python([
            {"metric": saved["metric"], "parameters": saved["parameters"], "name": name}
            for name, saved in json.loads(text)["results"].items()
        ])  # fmt: skip
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ReportError(f"{file.shown} is damaged; save the report again") from error
    judging = Judging("offline", "offline")
    metrics = [metric_of(metric, judging, saved=True) for metric in requested]
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
    needs, mapping, metrics = hub.needs(), _mapping(hub, job), len(hub.metrics)
    readings = {name: Reading(parts, needs, mapping) for name, parts in batches.items()}
    done, tell = 0, _teller(job)

    def add(amount: int) -> None:
        nonlocal done
        done += amount
        expected = expected_work(readings.values(), metrics)
        total = max(round(expected / metrics), done // metrics) if expected else None
        tell("scoring", done // metrics, total)

    return hub.evaluate_all(readings, columns=mapping, texts=True, progress=add)


def _teller(job: FileJob) -> Callable[[str, int, int | None], None]:
    """A function of a stage, the samples done and their total, which writes them now and then."""
    last = "", 0.0

    def tell(stage: str, done: int, total: int | None) -> None:
        nonlocal last
        now = time.monotonic()
        if stage != last[0] or now - last[1] >= _EVERY:
            last = stage, now
            progress = {"stage": stage, "done": done, "total": total}
            write_text(job.folder / PROGRESS, json.dumps(progress))

    return tell


@without_warnings()
def _written(reports: Mapping[str, Report], job: FileJob) -> Summary:
    """The summary of a run whose report and files to download it writes."""
    from metrichub import compare_all

    tell = _teller(job)
    tell("testing", 0, None)
    (name, first), *others = reports.items()
    ranking = compare_all(reports) if others else None
    intervals = ranking.intervals() if ranking else {name: first.intervals()}
    shown = [file.shown for file in job.files]
    if ranking:
        files = dict(zip(system_names(shown), shown, strict=True)) if shown[1:] else shown[0]
        scores = ranking.to_dict() | {
            "files": files,
            "intervals": intervals,
            "signatures": first.signatures(),
            "notes": {name: report.notes() for name, report in reports.items()},
        }
        table, sentences = ranking.to_csv(), ranking.headline.sentences
    else:
        scores = {"file": name, **export.document(first, intervals[name], first.signatures())}
        table = scores_in_full(reports, intervals).csv()
        form = ScoreFormat()
        rows = rows_of(reports, merged_columns(reports, form), None, intervals)
        sentences = headline_of_one(rows, form.confidence).sentences
    texts = {"scores.json": export.json_of(scores, 2), "scores.csv": table}
    for suffix in (".jsonl", ".csv"):
        write_text(job.folder / f"samples{suffix}", sample_lines(reports, suffix))
    for file, text in texts.items():
        # A lone surrogate has no UTF-8.
        write_text(job.folder / file, text.encode("utf-8", "replace").decode("utf-8"))
    human, choice = job.chosen.human, None
    if job.chosen.choose and human and not others:
        choice = first.choose(human[0])
    first.to_html(
        job.folder / REPORT,
        name=name,
        others=dict(others),
        ranking=ranking,
        provenance=Provenance.of((file.shown, file.path) for file in job.files),
        human=human,
        agreement=choice,
        progress=tell,
    )
    # A row that isn't JSON can't be saved; all else can be shown.
    with suppress(ReportError):
        if not ranking:
            first.save(job.folder / SAVED)
    return Summary(first.size, sentences)
