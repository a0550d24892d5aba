"""Samples as rows: scores beside ids, texts, reasons and verdicts, for files and for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice, repeat
from math import isnan, nan
from typing import Any

import numpy as np

from metrichub.data.values import json_value
from metrichub.errors import ParameterError, ReportError
from metrichub.evaluation.measurement import Measurement, status_of
from metrichub.evaluation.thresholds import Threshold
from metrichub.metric import Metric
from metrichub.report.tables import csv_lines

_OWN = ("file", "sample", "scores", "explanations")
"""The keys of a sample's row that aren't columns."""


def sample_lines(reports: Mapping[str, Measurement], suffix: str) -> Iterator[str]:
    """One line per sample, with its texts if they were kept, as CSV or, for ".jsonl", JSON Lines.

    In CSV, lists and what judges said are JSON. One row at a time is in memory.
    """
    if suffix.lower() == ".jsonl":
        yield from (f"{_line(row)}\n" for row in _rows_of_all(reports))
        return
    # All samples of a report have the same columns.
    firsts = (flat_row(row) for row in _rows_of_all(reports, first=1))
    head = [*dict.fromkeys(key for row in firsts for key in row)]
    rows = map(flat_row, _rows_of_all(reports))
    yield from csv_lines(head, ([_cell(row.get(key)) for key in head] for row in rows))


def _rows_of_all(
    reports: Mapping[str, Measurement], first: int | None = None
) -> Iterator[dict[str, Any]]:
    for name, report in reports.items():
        file = {"file": name} if len(reports) > 1 else {}
        yield from (file | row for row in islice(sample_rows(report), first))


def sample_rows(report: Measurement) -> Iterator[dict[str, Any]]:
    """Of every sample its number, kept columns, texts, scores, and what metrics say of it.

    A metric says something if it asks judges, or gave any sample no score.

    Raises:
        ReportError: the report is pooled.
    """
    samples, names = report.samples(), [] if report.texts is None else report.texts.names
    taken = {*_OWN, *names, *(f"{m}.{output}" for m in samples for output in samples[m])}
    metadata = {f"metadata.{n}" if n in taken else n: v for n, v in report.metadata.items()}
    explaining = [n for n, r in report.results.items() if n in report.traces or r.unscored]
    for i, texts in zip(range(report.size), report.texts or repeat({}), strict=False):
        row = {"sample": i} | {n: values[i] for n, values in metadata.items()}
        row |= {n: texts.get(n) for n in names}
        row["scores"] = {
            metric: {output: float(values[i]) for output, values in outputs.items()}
            for metric, outputs in samples.items()
        }
        if explaining:
            row["explanations"] = {name: _said(report, name, i) for name in explaining}
        yield row


def _said(report: Measurement, metric: str, sample: int) -> dict[str, Any]:
    status, reason = status_of(report, metric, sample)
    explanation: dict[str, Any] = {"status": status, "reason": reason}
    if metric in report.traces:
        explanation["steps"] = report.traces[metric].steps.get(sample, ())
    return explanation


def flat_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a sample with one key for each score, status, reason and what judges said."""
    flat = {name: row[name] for name in row if name not in ("scores", "explanations")}
    for part in ("scores", "explanations"):
        for metric, values in row.get(part, {}).items():
            flat |= {f"{metric}.{name}": value for name, value in values.items()}
    return flat


def worst_output(metrics: Mapping[str, Metric], name: str = "") -> tuple[str, str]:
    """The metric and output by which "wer", "rouge.rougeL", or for "" the first metric, sorts.

    A metric's name alone stands for the first output that its card names to be read.

    Raises:
        ReportError: there is no such metric or output, or neither more nor less of it is better.
    """
    chosen = Threshold.named(name or next(iter(metrics)), ">=", nan)
    if "." not in name and chosen.metric in metrics:
        chosen = chosen._replace(output=metrics[chosen.metric].headline()[0])
    chosen.check(metrics)
    if metrics[chosen.metric].card.better(chosen.output) == "neither":
        raise ReportError(
            f"no sample is the worst by {chosen.shown}, of which neither more nor less is better"
        )
    return chosen.metric, chosen.output


def worst_rows(report: Measurement, name: str, number: int) -> list[dict[str, Any]]:
    """The flat rows of the samples with the worst scores; see `Report.worst`."""
    if not isinstance(name, str):
        raise ParameterError(None, "metric", name, "a metric by its name, as in worst('wer', 5)")
    metrics = {name: result.metric for name, result in report.results.items()}
    metric, output = worst_output(metrics, name)
    if not isinstance(number, int) or number < 1:
        raise ParameterError(None, "number", number, "a whole number of samples, from 1")
    values = report.samples()[metric][output]
    lower = metrics[metric].card.better(output) == "lower"
    order = np.argsort(-values if lower else values, kind="stable").tolist()
    worst = [sample for sample in order if not isnan(values[sample])][:number]
    rows = dict(zip(sorted(worst), sample_rows(report.take(sorted(worst))), strict=True))
    index = report.index
    return [
        {"sample": sample}
        | ({} if index is None else {"index": index[sample]})
        | flat_row(rows[sample] | {"sample": sample})
        for sample in worst
    ]


def _line(row: Mapping[str, Any]) -> str:
    """The row as readable JSON; a lone surrogate has no UTF-8, so such a row is escaped."""
    text = json.dumps(json_value(row), ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(json_value(row))
    return text


def _cell(value: Any) -> Any:
    value = json_value(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else value
