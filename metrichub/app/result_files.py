"""What becomes of a job: the files to download, written beside those uploaded, and a summary."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from metrichub.app.jobs import FileJob, Headline, ScoreTable, Summary
from metrichub.data.files import write_text
from metrichub.data.values import json_value
from metrichub.report.captions import without_intervals
from metrichub.report.notes import shared_notes
from metrichub.report.scoreboard import Intervals, ScoreFormat, output_columns, rows_of_scores

if TYPE_CHECKING:
    from metrichub import Ranking, Report

REPORT = "report.html"


def write_scores(report: Report, job: FileJob) -> Summary:
    """Write what was measured of one file."""
    intervals = report.intervals()
    table = rows_of_scores({"": report}, {"": intervals})
    signatures, notes = report.signatures(), report.notes()
    document = {
        "file": job.files[0].shown,
        "samples": report.size,
        "scores": report.scores(),
        "intervals": intervals,
        "signatures": signatures,
        "notes": notes,
    }
    return Summary(
        report.size,
        ScoreTable.of(table),
        tuple(signatures.values()),
        (
            *((name, text) for name, texts in notes.items() for text in texts),
            *_lacking({"": report}, {"": intervals}),
        ),
        _written({"": report}, document, table.csv(), job),
        tuple(_headlines("", report)),
    )


def write_comparison(reports: Mapping[str, Report], job: FileJob) -> Summary:
    """Write what tests of several systems gave: what `metrichub compare` prints and `--report`."""
    from metrichub import compare_all

    ranking = compare_all(reports)
    first = next(iter(reports.values()))
    document = {
        "files": {name: file.shown for name, file in job.systems.items()},
        **ranking.to_dict(),
        "intervals": ranking.intervals(),
        "signatures": first.signatures(),
        "notes": {name: report.notes() for name, report in reports.items()},
    }
    scores, _ = ranking.tables(intervals=True)
    unranked = ((name, f"no winner: {why}") for name, why in
                ranking.withheld.items())  # fmt: skip
    return Summary(
        first.size,
        ScoreTable.of(scores),
        tuple(ranking.signatures()),
        (*_notes(reports), *unranked, *_lacking(reports, ranking.intervals())),
        _written(reports, document, ranking.to_csv(), job, ranking),
        tuple(line for name, report in reports.items() for line in _headlines(name, report)),
        tuple(ranking.sentences),
    )


def _lacking(
    reports: Mapping[str, Report], intervals: Mapping[str, Intervals]
) -> Iterator[tuple[str, str]]:
    """Which headline outputs have no interval and why."""
    for line in without_intervals(output_columns(reports, ScoreFormat()), intervals):
        yield "intervals", line


def _notes(reports: Mapping[str, Report]) -> Iterator[tuple[str, str]]:
    """The notes of all systems, each once, with those that it is about where it isn't all."""
    for metric, text, systems in shared_notes(reports):
        yield f"{metric} of {', '.join(systems)}" if systems else metric, text


def _headlines(system: str, report: Report) -> Iterator[Headline]:
    for name, result in report.results.items():
        scores = result.scores()
        for output in result.metric.card.headline:
            if output in scores:
                yield Headline(name, output, system, json_value(float(scores[output])))


def _written(
    reports: Mapping[str, Report],
    document: Mapping[str, Any],
    table: str,
    job: FileJob,
    ranking: Ranking | None = None,
) -> tuple[str, ...]:
    """The names of the files, once they are written."""
    ids = next(
        (ids_of for report in reports.values() if (ids_of := report.metadata.get("id"))), None
    )
    rows = [row for name, report in reports.items() for row in _sample_rows(name, report, ids)]
    texts = {
        "scores.json": f"{json.dumps(json_value(document), indent=2)}\n",
        "scores.csv": table,
        "samples.jsonl": "".join(f"{json.dumps(json_value(row))}\n" for row in rows),
        "samples.csv": _csv(rows),
    }
    for name, text in texts.items():
        write_text(job.folder / name, text)
    (name, first), *others = reports.items()
    page = job.folder / REPORT
    first.to_html(page, name=name, others=dict(others), ids=ids, ranking=ranking)
    return (*texts, REPORT)


def _sample_rows(
    system: str, report: Report, ids: Sequence[Any] | None
) -> Iterator[dict[str, Any]]:
    columns = {
        f"{metric}.{output}": values.tolist()
        for metric, outputs in report.samples().items()
        for output, values in outputs.items()
    }
    for i in range(report.size):
        row: dict[str, Any] = {"system": system} if system else {}
        row |= {"sample": i} | ({"id": ids[i]} if ids else {})
        yield row | {name: values[i] for name, values in columns.items()}


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, _columns(rows))
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(value) for name, value in json_value(row).items()})
    # A lone surrogate has no UTF-8.
    return out.getvalue().encode("utf-8", "replace").decode("utf-8")


def _columns(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _cell(value: Any) -> Any:
    """A value that a spreadsheet takes for no formula."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return value
