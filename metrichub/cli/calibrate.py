"""The option --calibrate of `score`: means corrected by people's labels of a few samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from metrichub.cli.program import note
from metrichub.report.tables import Cell, Table

if TYPE_CHECKING:
    from metrichub.report.report import Report

calibrate_option = click.option(
    "--calibrate",
    metavar="COLUMN",
    help="Add an estimate of people's mean score, from their labels of a random part of the "
    "samples.",
)
_HEAD = ("calibrated", "calibrated low", "calibrated high", "labels")


class Calibrated(NamedTuple):
    """The calibrated means of a report: metric -> output -> its mean; empty if none were asked."""

    means: Mapping[str, Mapping[str, Any]]

    def beside(self, tables: Sequence[Table], form: str) -> Sequence[Table]:
        """Tables with one of the calibrated means last, or in CSV with columns of them."""
        if not self.means:
            return tables
        if form == "csv":
            return [_with_columns(table, self.means) for table in tables]
        rows: list[list[Cell]] = [
            [metric, output, *mean[:3], mean.labelled]
            for metric, outputs in self.means.items()
            for output, mean in outputs.items()
        ]
        return [*tables, Table(["metric", "output", *_HEAD], rows)]

    def document(self) -> dict[str, Any]:
        """The calibrated means for JSON."""
        found = {
            metric: {output: mean._asdict() for output, mean in outputs.items()}
            for metric, outputs in self.means.items()
        }
        return {"calibrated": found} if found else {}


def calibrated_of(reports: Mapping[str, Report], column: str | None, level: float) -> Calibrated:
    """The calibrated mean of every headline output of the one report; none without a column."""
    if column is None:
        return Calibrated({})
    (report,) = reports.values()
    found = report.calibrated(column, confidence=level)
    means = [one for outputs in found.values() for one in outputs.values()]
    for said in dict.fromkeys(_said(one) for one in means if one.few or one.why):
        note(f"{column}: {said}")
    return Calibrated(found)


def _with_columns(table: Table, means: Mapping[str, Mapping[str, Any]]) -> Table:
    rows = []
    for row in table.rows:
        mean = means.get(str(row[0]), {}).get(str(row[1]))
        rows.append([*row, *((*mean[:3], mean.labelled) if mean else (None,) * 4)])
    return table._replace(head=[*table.head, *_HEAD], rows=rows)


def _said(one: Any) -> str:
    """Why there is no interval, or how few labels the mean rests on."""
    if one.why is not None:
        return str(one.why)
    return f"{one.rarer} of {one.labelled} labels differ from the most common one; label more"
