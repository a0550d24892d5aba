"""`--samples`: the scores of every sample as JSONL or CSV, with what the judges said of it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metrichub.cli.measuring import System
from metrichub.cli.output import output_file
from metrichub.report.tables import json_safe

if TYPE_CHECKING:
    from metrichub.report.report import Report


_OWN = ("file", "sample", "scores", "explanations")
"""What a row has of its own."""


def samples_file(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> Path | None:
    """The path of a file to write, whose suffix says how."""
    path = output_file(context, parameter, value)
    if path and path.suffix.lower() not in (".jsonl", ".csv"):
        raise click.BadParameter(f"{value}: the name has to end in .jsonl or .csv", param=parameter)
    return path


def rendered(path: Path, systems: Mapping[str, System]) -> str:
    """The text of the file: a line a sample, with the columns that no metric read.

    JSONL has the explanations of judges too: status, reason, claims, verdicts.
    """
    rows = [
        ({"file": name} if len(systems) > 1 else {}) | row
        for name, system in systems.items()
        for row in _rows(system)
    ]
    if path.suffix.lower() == ".jsonl":
        return "".join(f"{_line(row)}\n" for row in rows)
    flat = [_flat(row) for row in rows]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(k for row in flat for k in row)))
    writer.writeheader()
    writer.writerows(json_safe(flat))
    return out.getvalue()


def _line(row: Mapping[str, Any]) -> str:
    """The row as readable JSON; a lone surrogate has no UTF-8, so such a row is escaped."""
    text = json.dumps(json_safe(row), ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(json_safe(row))
    return text


def _rows(system: System) -> Iterator[dict[str, Any]]:
    scores = {
        metric: {output: values.tolist() for output, values in outputs.items()}
        for metric, outputs in system.report.samples().items()
    }
    metadata = {
        f"metadata.{name}" if name in _OWN else name: values
        for name, values in system.report.metadata.items()
    }
    for i in range(system.report.size):
        row: dict[str, Any] = {"sample": i} | {n: values[i] for n, values in metadata.items()}
        row["scores"] = {
            metric: {output: values[i] for output, values in outputs.items()}
            for metric, outputs in scores.items()
        }
        yield row | _explained(system.report, i)


def _explained(report: Report, sample: int) -> dict[str, Any]:
    """What stands behind the scores of the metrics that ask judges."""
    found = {name: report.explain(name, sample) for name in report.traces}
    explanations = {
        name: {"status": why.status, "reason": why.reason, "steps": why.steps}
        for name, why in found.items()
    }
    return {"explanations": explanations} if explanations else {}


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    flat = {name: row[name] for name in row if name not in ("scores", "explanations")}
    for metric, outputs in row["scores"].items():
        flat |= {f"{metric}.{output}": value for output, value in outputs.items()}
    for metric, why in row.get("explanations", {}).items():
        flat |= {f"{metric}.status": why["status"], f"{metric}.reason": why["reason"]}
    return flat
