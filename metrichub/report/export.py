"""A report as other programs take it: a dictionary, a data frame, flat keys, a table as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metrichub.data.values import json_value
from metrichub.errors import MissingDependency, ReportError, UnknownParameter, printable
from metrichub.evaluation.measurement import Measurement, status_of
from metrichub.evaluation.repeats import repeated_scores
from metrichub.report.by_output import intervals_of
from metrichub.report.captions import captioned
from metrichub.report.notes import note_lines, notes_of
from metrichub.report.rows import OutputChoice, ScoreFormat, are_equal, output_columns, rows_of
from metrichub.report.scoreboard import scoreboard, scores_in_full
from metrichub.report.tables import Table

if TYPE_CHECKING:
    from pandas import DataFrame

    from metrichub.evaluation.resample import Interval
    from metrichub.models.usage import Usage


def document(
    report: Measurement,
    intervals: Mapping[str, Mapping[str, Interval]] | None = None,
    signatures: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Scores, samples, those without a score, notes, what judges took, and what is given."""
    content: dict[str, Any] = {"scores": report.scores(), "samples": report.size}
    if counts := {name: reasons for name, reasons in report.counts().items() if reasons}:
        content["counts"] = counts
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
                output: {k: v for k, v in asdict(repeated).items() if k != "samples"}
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
    counts |= {"models": usage.models} if seconds and usage.models else {}
    return {name: round(v, 9) if isinstance(v, float) else v for name, v in counts.items()}


def main_scores(report: Measurement) -> Iterator[str]:
    """The score of each metric beside its name, or that of the headline output that it equals."""
    for name, scores in report.scores().items():
        outputs = report.results[name].metric.headline()
        equal = (other for other in outputs if are_equal({"": report}, name, other, "score"))
        output = "score" if "score" in outputs else next(equal, "score")
        shown = name if output == "score" else f"{name}.{output}"
        yield f"{shown} {scores.get('score', nan):.4f}"


def flat(report: Measurement, outputs: OutputChoice, separator: str) -> dict[str, float]:
    """The scores by one key each; see `Report.flatten`."""
    columns = output_columns({"": report}, ScoreFormat(outputs))
    return {
        metric if output == "score" else f"{metric}{separator}{output}": row.score
        for row in rows_of({"": report}, columns)
        for metric, output in [row.column[:2]]
    }


def table(report: Measurement, outputs: OutputChoice, intervals: bool) -> Table:
    """The scores with all their digits, a row per output; see `Report.to_csv`."""
    drawn = {"": intervals_of(report)} if intervals else None
    return scores_in_full({"": report}, drawn, ScoreFormat(outputs))


def readable(report: Measurement) -> tuple[Table, list[str]]:
    """The scores as people read them, a row per output, and the notes that go below."""
    table = scoreboard({"": report}, None, {}, ScoreFormat())
    return table, [printable(line) for line in note_lines({"": report})]


def paper_table(
    report: Measurement, outputs: OutputChoice, intervals: bool, percent: bool
) -> Table:
    """The same with what a paper says below it; see `Report.to_markdown`."""
    drawn = intervals_of(report) if intervals else {}
    form = ScoreFormat(outputs, percent)
    table = captioned({"": report}, None, {"": drawn}, form)
    notes = " ".join(f"Note: {line}." for line in note_lines({"": report}))
    return table._replace(method=f"{table.method} {notes}".strip())


def frame(report: Measurement, texts: bool = False, metadata: bool = True) -> DataFrame:
    """The scores of the samples as columns; see `Report.to_frame`."""
    try:
        import pandas
    except ImportError:
        raise MissingDependency("to_frame", "pandas") from None
    if texts and report.texts is None:
        raise ReportError("the report has no texts; evaluate with samples=True, texts=True")
    samples, stored = report.samples(), report.texts if texts else None
    names = [] if stored is None else stored.names
    parts = ("status", "reason", "steps") if texts else ("reason",)
    added = {f"{name}.{part}" for name, scores in samples.items() for part in (*scores, *parts)}
    columns_kept = report.metadata if metadata else {}
    columns: dict[str, Any] = {
        _in_utf8(f"{n} (kept)" if n in added.union(names) else n): [_in_utf8(v) for v in values]
        for n, values in columns_kept.items()
    }
    columns |= {name: [_in_utf8(row.get(name)) for row in stored or ()] for name in names}
    for name, scores in samples.items():
        columns |= {f"{name}.{output}": values for output, values in scores.items()}
        why = [status_of(report, name, sample) for sample in range(report.size)]
        unscored, trace = any(reason for _, reason in why), report.traces.get(name)
        if texts and (unscored or trace):
            columns[f"{name}.status"] = [status for status, _ in why]
        if unscored:
            columns[f"{name}.reason"] = [_in_utf8(reason) for _, reason in why]
        if texts and trace:
            columns[f"{name}.steps"] = [trace.steps.get(i, ()) for i in range(report.size)]
    index = pandas.RangeIndex(report.size, name="sample") if report.index is None else report.index
    return pandas.DataFrame(columns, index=index)


def save_page(
    path: str | Path, systems: Mapping[str, Measurement], options: Mapping[str, Any]
) -> None:
    """Write the systems as one HTML file; see `Report.to_html`."""
    from metrichub.report.html import write

    options_of_page = write.__kwdefaults__ or {}
    if unknown := [option for option in options if option not in options_of_page]:
        raise UnknownParameter("to_html", unknown[0], list(options_of_page))
    write(path, systems, **options)


def _in_utf8(value: Any) -> Any:
    """A value that pandas can hold, whose texts are UTF-8; a lone surrogate becomes U+FFFD."""
    if isinstance(value, list):
        return [_in_utf8(item) for item in value]
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
