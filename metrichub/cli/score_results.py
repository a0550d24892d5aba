"""The results of `score`: tables, a document, calibrated means, the scores of samples."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from metrichub.cli.output import write_page
from metrichub.cli.program import note
from metrichub.cli.score_options import Results
from metrichub.cli.shared_options import Display, ResamplingOptions
from metrichub.data.files import write_text
from metrichub.evaluation.significance import SignificanceOptions
from metrichub.report.captions import captioned, signatures_of, without_intervals
from metrichub.report.export import document
from metrichub.report.headline import headline_of_one
from metrichub.report.rows import Intervals, ScoreFormat, merged_columns, output_columns, rows_of
from metrichub.report.sample_rows import sample_lines
from metrichub.report.scoreboard import scoreboard, scores_in_full
from metrichub.report.tables import Cell, Table

if TYPE_CHECKING:
    from metrichub.report.report import Report

_LONGEST = 400
"""How many characters of a text a terminal shows: six lines or so."""
_HEAD = ("calibrated", "calibrated low", "calibrated high", "labels")


@dataclass(frozen=True)
class ScoreTables:
    """The scores of one system or several, as tables and as a document."""

    reports: Mapping[str, Report]
    intervals: Mapping[str, Intervals]
    display: Display
    resampling: ResamplingOptions

    def top(self) -> str:
        """The scores of one system in a sentence; several are compared by another command."""
        if len(self.reports) > 1:
            return ""
        form = ScoreFormat("headline", self.display.percent, self.resampling.confidence)
        columns = merged_columns(self.reports, form)
        rows = rows_of(self.reports, columns, None, self.intervals)
        rows[0] = rows[0]._replace(system=Path(rows[0].system).stem)
        return str(headline_of_one(rows, form.confidence))

    def tables(self, form: str) -> Sequence[Table]:
        """The tables of a format."""
        if form == "csv":
            # All digits, with the signatures of the first system as a last column.
            table = scores_in_full(self.reports, self.intervals, ScoreFormat(self.display.outputs))
            if not self.display.with_signatures:
                return [table]
            signatures = next(iter(self.reports.values())).signatures()
            rows = [[*row, signatures[str(row[0])]] for row in table.rows]
            return [Table([*table.head, "signature"], rows)]
        how = ScoreFormat(self.display.outputs, self.display.percent, self.resampling.confidence)
        if form in ("markdown", "latex"):
            options = SignificanceOptions(**asdict(self.resampling))
            return [captioned(self.reports, None, self.intervals, how, options)]
        return [scoreboard(self.reports, None, self.intervals, how)]

    def foot(self) -> list[str]:
        """The lines below a table of text: the number of samples, and signatures."""
        form = ScoreFormat(self.display.outputs)
        size, *others = {report.size for report in self.reports.values()}
        about = "1 sample" if size == 1 else f"{size:,} samples"
        if len(self.reports) > 1:
            tested = "the difference" if len(self.reports) == 2 else "the differences"
            about += f" · which is better? metrichub compare tests {tested}"
        return [
            *([] if others else [about]),
            *without_intervals(output_columns(self.reports, form), self.intervals),
            *(signatures_of(self.reports) if self.display.with_signatures else ()),
        ]

    def document(self) -> Mapping[str, Any]:
        """The scores of one system for JSON, or of several by their names."""
        documents = {
            name: document(
                report,
                self.intervals.get(name),
                report.signatures() if self.display.with_signatures else None,
            )
            for name, report in self.reports.items()
        }
        return next(iter(documents.values())) if len(documents) == 1 else {"systems": documents}


Means = Mapping[str, Mapping[str, Any]]
"""Calibrated means: metric -> output -> its mean."""


def with_calibrated(tables: Sequence[Table], means: Means, form: str) -> Sequence[Table]:
    """Tables with one of the calibrated means last, or in CSV with columns of them."""
    if not means:
        return tables
    cells: dict[tuple[str, str], list[Cell]] = {
        (metric, output): [*mean[:3], mean.labelled]
        for metric, outputs in means.items()
        for output, mean in outputs.items()
    }
    if form != "csv":
        rows = [[*names, *numbers] for names, numbers in cells.items()]
        return [*tables, Table(["metric", "output", *_HEAD], rows)]
    (table,) = tables
    none = [None] * len(_HEAD)
    rows = [[*row, *cells.get((str(row[0]), str(row[1])), none)] for row in table.rows]
    return [table._replace(head=[*table.head, *_HEAD], rows=rows)]


def calibrated_document(means: Means) -> dict[str, Any]:
    """The calibrated means for JSON; empty without any."""
    documents = {
        metric: {output: mean._asdict() for output, mean in outputs.items()}
        for metric, outputs in means.items()
    }
    return {"calibrated": documents} if means else {}


def calibrated_of(reports: Mapping[str, Report], column: str | None, confidence: float) -> Means:
    """The calibrated mean of every headline output of the one report; none without a column."""
    if column is None:
        return {}
    (report,) = reports.values()
    calibrated = report.calibrated(column, confidence=confidence)
    means = [mean for outputs in calibrated.values() for mean in outputs.values()]
    reservations = (
        str(mean.why)
        if mean.why is not None
        else f"{mean.rarer} of {mean.labelled} labels differ from the most common one; label more"
        for mean in means
        if mean.few or mean.why
    )
    for text in dict.fromkeys(reservations):
        note(f"{column}: {text}")
    for metric, outputs in calibrated.items():
        for output, mean in outputs.items():
            note(f"{metric}{'' if output == 'score' else f' {output}'}: {mean.lean}")
    return calibrated


def worst_of(
    reports: Mapping[str, Report], by: str, number: int, percent: bool, narrow: bool
) -> tuple[list[Table], dict[str, Any]]:
    """The worst samples of every report by an output, "wer.score", as tables and for JSON.

    A sample has a line for each of its texts. In a narrow table, long ones are cut.
    """
    if not number:
        return [], {}
    columns = output_columns(reports, ScoreFormat("all", percent))
    column = next(c for c in columns if f"{c.metric}.{c.output}" == by)
    systems = {name: report.worst(by, number) for name, report in reports.items()}
    tables = []
    for name, report in reports.items():
        lines: list[list[Cell]] = []
        for row in systems[name]:
            lines.append([column.number(row[by]), "sample", _named(row)])
            for label, text in _texts_of(row, report, column.metric):
                short = textwrap.shorten(text, _LONGEST, placeholder=" …") if narrow else text
                lines.append(["", label, short])
        missing = int(np.isnan(report.samples()[column.metric][column.output]).sum())
        of = f" of {name}" if len(reports) > 1 else ""
        without = f"; {missing:,} of {report.size:,} have no score" if missing else ""
        caption = f"Worst {len(systems[name]):,}{of} by {column.label}{without}"
        if missing == report.size:
            caption = f"No sample{of} has a score by {column.label}"
        tables.append(Table([column.head, "", ""], lines, caption=caption))
    return tables, {"worst": systems if len(systems) > 1 else next(iter(systems.values()))}


def _named(row: Mapping[str, Any]) -> str:
    """The number of a sample with its id, whatever comes before that in the column's name."""
    ids = (f" ({n} {row[n]})" for n in row if re.fullmatch(r"(.*_)?id", n, re.IGNORECASE))
    return f"{row['sample']}{next(ids, '')}"


def _texts_of(row: Mapping[str, Any], report: Report, metric: str) -> Iterator[tuple[str, str]]:
    """The texts of a sample, and the verdicts of a metric's judge with their reasons."""
    for name in () if report.texts is None else report.texts.names:
        for item in row[name] if isinstance(row[name], list) else [row[name]]:
            present = {k: v for k, v in item.items() if v} if isinstance(item, dict) else item
            yield name.removesuffix("s"), item if isinstance(item, str) else json.dumps(present)
    yield from _verdicts(row.get(f"{metric}.steps", ()))


def _verdicts(steps: Any) -> Iterator[tuple[str, str]]:
    if isinstance(steps, Mapping) and steps.get("reason"):
        verdict = next((steps[k] for k in ("verdict", "outcome", "score") if k in steps), "")
        yield str(verdict), ": ".join(filter(None, [steps.get("item"), steps["reason"]]))
    elif isinstance(steps, (Mapping, list, tuple)):
        for part in steps.values() if isinstance(steps, Mapping) else steps:
            yield from _verdicts(part)


def write_files(
    reports: Mapping[str, Report], results: Results, resampling: ResamplingOptions
) -> None:
    """Write the files that were asked for: scores of samples, the report, and its page."""
    if results.samples_out:
        write_text(results.samples_out, sample_lines(reports, Path(results.samples_out).suffix))
    first = next(iter(reports.values()))
    if results.save:
        first.save(results.save)
    how = asdict(resampling) | {"title": results.title, "by": results.by}
    write_page(results.page, reports, first.metadata.get("id"), **how)
