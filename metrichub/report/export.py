"""A report as other programs take it: a dictionary, a data frame, flat keys, a table as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metrichub.data.values import json_value
from metrichub.errors import MissingDependency, UnknownParameter, printable
from metrichub.evaluation.explanation import Trace
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.repeats import repeated_scores
from metrichub.report.by_output import intervals_of
from metrichub.report.captions import captioned
from metrichub.report.notes import note_lines, notes_of
from metrichub.report.rows import OutputChoice, ScoreFormat, output_columns, rows_of
from metrichub.report.scoreboard import rows_of_scores, scoreboard
from metrichub.report.tables import Table, csv_text

if TYPE_CHECKING:
    from pandas import DataFrame

    from metrichub.evaluation.resample import Interval
    from metrichub.models.usage import Usage

_OWN = ("file", "sample", "scores", "explanations")
"""What a row of a sample has of its own."""


def document(
    report: Measurement,
    intervals: Mapping[str, Mapping[str, Interval]] | None = None,
    signatures: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Scores, samples, notes, what judges took, and what else is given, for JSON."""
    content: dict[str, Any] = {"scores": report.scores(), "samples": report.size}
    if intervals is not None:
        content["intervals"] = intervals
    if signatures is not None:
        content["signatures"] = signatures
    if notes := notes_of(report):
        content["notes"] = notes
    if report.usage.calls or report.usage.cached:
        content["usage"] = usage_counts(report.usage)
    if report.runs:
        content["repeated"] = {
            metric: {
                output: {k: v for k, v in repeated._asdict().items() if k != "samples"}
                for output, repeated in outputs.items()
            }
            for metric, outputs in repeated_scores(report.runs).items()
        }
    return content


def json_of(value: Mapping[str, Any], indent: int | None) -> str:
    """A value as JSON, with null for `nan`."""
    return json.dumps(json_value(value), ensure_ascii=False, indent=indent)


def usage_counts(usage: Usage, seconds: bool = True) -> dict[str, Any]:
    """Calls, tokens, money, seconds and requests by their names; an estimate has no seconds."""
    names = ["calls", "cached", "prompt_tokens", "completion_tokens", "money"]
    names += ["seconds", "requests"] if seconds else []
    counts = {name: getattr(usage, name) for name in names}
    return {name: round(v, 9) if isinstance(v, float) else v for name, v in counts.items()}


def flat(report: Measurement, outputs: OutputChoice, separator: str) -> dict[str, float]:
    """The scores by one key each; see `Report.flatten`."""
    columns = output_columns({"": report}, ScoreFormat(outputs))
    return {
        metric if output == "score" else f"{metric}{separator}{output}": row.score
        for row in rows_of({"": report}, columns)
        for metric, output in [row.column[:2]]
    }


def table(report: Measurement, outputs: OutputChoice, intervals: bool) -> Table:
    """The scores with all their digits, a row an output; see `Report.to_csv`."""
    drawn = {"": intervals_of(report)} if intervals else None
    return rows_of_scores({"": report}, drawn, ScoreFormat(outputs))


def readable_table(report: Measurement) -> Table:
    """The scores as people read them, a row an output."""
    return scoreboard({"": report}, None, {}, ScoreFormat())


def readable_text(report: Measurement) -> str:
    """The same table as text, with the notes below it."""
    return "\n".join([readable_table(report).text(), *map(printable, note_lines({"": report}))])


def readable_html(report: Measurement) -> str:
    """The same table for a page, with the notes below it."""
    notes = "".join(f"<li>{escape(printable(line))}</li>" for line in note_lines({"": report}))
    return readable_table(report).html() + (f"<ul>{notes}</ul>" if notes else "")


def paper_table(
    report: Measurement, outputs: OutputChoice, intervals: bool, percent: bool
) -> Table:
    """The same with what a paper says below it; see `Report.to_markdown`."""
    drawn = intervals_of(report) if intervals else {}
    form = ScoreFormat(outputs, percent)
    table = captioned({"": report}, None, {"": drawn}, form)
    notes = " ".join(f"Note: {line}." for line in note_lines({"": report}))
    return table._replace(method=f"{table.method} {notes}".strip())


def frame(report: Measurement) -> DataFrame:
    """The scores of the samples as columns; see `Report.to_frame`."""
    try:
        import pandas
    except ImportError:
        raise MissingDependency("to_frame", "pandas") from None
    samples = report.samples()
    own = {f"{name}.{output}" for name, scores in samples.items() for output in (*scores, "reason")}
    columns: dict[str, Any] = {
        _in_utf8(f"{name} (kept)" if name in own else name): [_in_utf8(value) for value in values]
        for name, values in report.metadata.items()
    }
    for name, scores in samples.items():
        result = report.results[name]
        trace = report.traces.get(name) or Trace()
        called = {**trace.errors, **trace.pending}
        reasons = [called.get(i) or result.why(i) for i in range(report.size)]
        columns |= {f"{name}.{output}": values for output, values in scores.items()}
        if any(reasons):
            columns[f"{name}.reason"] = [_in_utf8(reason) for reason in reasons]
    index = pandas.RangeIndex(report.size, name="sample") if report.index is None else report.index
    return pandas.DataFrame(columns, index=index)


def samples_text(reports: Mapping[str, Measurement], suffix: str) -> str:
    """A line a sample, with the columns that no metric read, as CSV or, for ".jsonl", JSON Lines.

    JSON Lines have the explanations of judges too: status, reason, claims, verdicts.
    """
    rows = [
        ({"file": name} if len(reports) > 1 else {}) | row
        for name, report in reports.items()
        for row in _sample_rows(report)
    ]
    if suffix.lower() == ".jsonl":
        return "".join(f"{_line(row)}\n" for row in rows)
    flat = [_flat(row) for row in rows]
    head = list(dict.fromkeys(key for row in flat for key in row))
    return csv_text(head, ([json_value(row.get(key)) for key in head] for row in flat))


def _line(row: Mapping[str, Any]) -> str:
    """The row as readable JSON; a lone surrogate has no UTF-8, so such a row is escaped."""
    text = json.dumps(json_value(row), ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(json_value(row))
    return text


def _sample_rows(report: Measurement) -> Iterator[dict[str, Any]]:
    scores = {
        metric: {output: values.tolist() for output, values in outputs.items()}
        for metric, outputs in report.samples().items()
    }
    metadata = {
        f"metadata.{name}" if name in _OWN else name: values
        for name, values in report.metadata.items()
    }
    for i in range(report.size):
        row: dict[str, Any] = {"sample": i} | {n: values[i] for n, values in metadata.items()}
        row["scores"] = {
            metric: {output: values[i] for output, values in outputs.items()}
            for metric, outputs in scores.items()
        }
        yield row | _explained(report, i)


def _explained(report: Measurement, sample: int) -> dict[str, Any]:
    """What stands behind the scores of the metrics that ask judges."""
    explanations = {name: report.explain(name, sample) for name in report.traces}
    documents = {
        name: {"status": why.status, "reason": why.reason, "steps": why.steps}
        for name, why in explanations.items()
    }
    return {"explanations": documents} if documents else {}


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    flat = {name: row[name] for name in row if name not in ("scores", "explanations")}
    for metric, outputs in row["scores"].items():
        flat |= {f"{metric}.{output}": value for output, value in outputs.items()}
    for metric, why in row.get("explanations", {}).items():
        flat |= {f"{metric}.status": why["status"], f"{metric}.reason": why["reason"]}
    return flat


def save_page(
    path: str | Path, systems: Mapping[str, Measurement], options: Mapping[str, Any]
) -> None:
    """Write the systems as one HTML file; see `Report.to_html`."""
    from metrichub.report.html import write

    known = write.__kwdefaults__ or {}
    if unknown := [option for option in options if option not in known]:
        raise UnknownParameter("to_html", unknown[0], list(known))
    write(path, systems, **options)


def _in_utf8(value: Any) -> Any:
    """A value that pandas can hold, whose texts are UTF-8; a lone surrogate becomes U+FFFD."""
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
