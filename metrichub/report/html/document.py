"""Document: the page as one text, everything in it escaped or allowed by its hash."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from importlib.resources import files
from itertools import permutations
from typing import Any, NamedTuple

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from metrichub.catalog.requirements import optional_package
from metrichub.data.values import json_value
from metrichub.errors import MissingDependency, ReportError
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.merge import comparable
from metrichub.evaluation.significance import SignificanceOptions
from metrichub.models.usage import Usage
from metrichub.report.by_output import intervals_of
from metrichub.report.groupings import (
    cell_groupings,
    groupings_of,
    verdict_groupings,
    verdict_key,
)
from metrichub.report.html import charts
from metrichub.report.html.answer import (
    PageHeadline,
    answer_of,
    briefly,
    claims_by_verdict,
    judged_claims,
    tasks_of,
    without_common_start,
)
from metrichub.report.html.forest import WIDTH, slices_part
from metrichub.report.html.labels import labels_of
from metrichub.report.html.ngrams import ngrams_of
from metrichub.report.html.provenance import Provenance, facts_of, metrics_of
from metrichub.report.html.records import (
    CHUNK,
    PageLimits,
    Records,
    Scores,
    SystemRecords,
    as_shown,
    outputs_of,
    packed,
    problems_of,
    records_of,
    score_columns,
    script_json,
)
from metrichub.report.html.theme import THEME
from metrichub.report.notes import note_lines
from metrichub.report.ranking import Ranking, compare_all
from metrichub.report.rows import ScoreFormat
from metrichub.report.scoreboard import differences, long_tests, scoreboard, scores_in_full
from metrichub.report.slices import slices_of
from metrichub.report.tables import Cell, Score, Table, decimals_of, transposed

SCRIPTS = (
    "plain.js",
    "steps.js",
    "conversation.js",
    "view.js",
    "details.js",
    "cells.js",
    "filters.js",
    "samples.js",
)
STYLES = ("report.css", "samples.css")
OF_RATINGS = ("people.js",)


class PageOptions(NamedTuple):
    """The contents of a page, beside the options of its tests; see `write`."""

    ids: Sequence[Any] | None = None
    human: str | Iterable[str] | None = None
    agreement: Any = None
    title: str | None = None
    by: str | None = None
    provenance: Provenance | None = None


def report_page(
    systems: Mapping[str, Measurement],
    shown: PageOptions,
    options: SignificanceOptions,
    limits: PageLimits,
    tell: Callable[[str, int, int | None], object] = lambda *_: None,
    ranking: Ranking[Any] | None = None,
) -> str:
    """The page of these systems; the first is the one that the others are compared with."""
    if not systems:
        raise ReportError("there is no report to write")
    first, *others = systems.values()
    for other in others:
        comparable(first, other)
    tell("testing", 0, None)
    outputs = outputs_of(systems)
    if others and ranking is None:
        ranking = compare_all(systems, **options._asdict())
    if ranking:
        options, intervals = ranking.options, ranking.intervals()
    else:
        options = options._replace(cluster=first.clustered(options.cluster)[1])
        how = options.of_intervals()
        intervals = {name: intervals_of(report, **how) for name, report in systems.items()}
    people = _people(systems, outputs, options, shown)
    people_data = people.data if people else {}
    rated = [rating["name"] for rating in people_data.get("ratings", ())]
    groupings = groupings_of(systems, rated, shown.by)
    answer = answer_of(systems, ranking, intervals, options)
    slices = slices_of(systems, groupings, answer.pair, options)
    people_first = people is not None and shown.agreement is not None
    begin = answer.ranked or answer.columns[0]
    key = people.leading if people_first else (begin.metric, begin.output)
    # Samples may lack an output.
    start = next((k for k, output in enumerate(outputs) if output[:2] == key), None)
    starting = None if start is None else outputs[start][2]
    records = records_of(systems, outputs, limits, start, tell)
    tell("drawing", 0, None)
    labels = labels_of(systems, begin.metric, starting or outputs[0][2])
    ngrams = ngrams_of(systems)
    judged = judged_claims(systems)
    by_samples = [*labels.outcomes, *verdict_groupings(systems, judged), *cell_groupings(systems)]
    names = [*systems]
    data = _data(systems, shown.ids, outputs, records) | {
        "start": start or 0,
        "by_references": _reads_references(systems, begin.metric),
        "pair": [names.index(name) for name in reversed(answer.pair)] if answer.pair else None,
        "judged": judged,
        "groupings": [grouping.data() for grouping in (*groupings, *by_samples)],
        "labelled": [*{matrix.metric for matrix in (*labels.first, *labels.others)}],
    }
    parts = {"people": people_data, "ngrams": ngrams and ngrams.data()}
    data |= {name: part for name, part in parts.items() if part}
    scores = [output.pop("values") for output in data["outputs"]]
    names_of_scripts = (*SCRIPTS, *OF_RATINGS) if people_data else SCRIPTS
    # One script, which waits in its middle for the data to be unpacked.
    script = f'"use strict";\n(async () => {{\n{"".join(map(_asset, names_of_scripts))}}})();'
    style = THEME.read_text(encoding="utf-8") + "".join(map(_asset, STYLES))
    sentences, copied = answer.sentences, [*_differences(answer), answer.paper]
    if people_first:
        sentences, copied = people.headline, [people.main]
    every = ScoreFormat("all", confidence=options.confidence)
    board = scoreboard(systems, None, intervals, every)
    metrics, provenance = metrics_of(systems), shown.provenance or Provenance()
    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    page.globals |= {"table": lambda table: Markup(_rounded(table).html())}
    text = page.from_string(_asset("report.html")).render(
        policy=_policy(script, style),
        style=Markup(style),
        script=Markup(script),
        data=packed(map(script_json, [data, *scores])),
        texts=packed(records.chunks),
        exports={
            "Markdown": "\n".join(table.markdown() for table in copied),
            "LaTeX": "\n".join(table.latex() for table in copied),
            "CSV": (long_tests(ranking) if ranking else scores_in_full(systems, intervals)).csv(),
        },
        systems=names,
        short=without_common_start(names),
        size=first.size,
        options=options,
        ids=shown.ids,
        title=shown.title or sentences[0].rstrip("."),
        said=sentences if shown.title else sentences[1:],
        facts=facts_of(systems, provenance),
        origin=provenance.facts(),
        answer=answer,
        heads=[briefly(column) for column in answer.columns],
        ranked_by=begin,
        start=start,
        wins=_wins(starting, data["start"]) if starting and answer.board else {},
        tasks=tasks_of(systems, begin.metric, starting) if starting else {},
        claims=claims_by_verdict(systems, begin.metric, judged),
        verdict_key=verdict_key,
        labels=labels,
        people=people,
        people_first=people_first,
        ngrams=ngrams,
        slices=slices_part(answer.columns, slices, groupings, systems, options.confidence),
        spread=charts.spread_of(outputs, start, answer.pair),
        dash_of=charts.dash_of,
        width=WIDTH,
        doubts=[*note_lines(systems, "doubts"), *_about_judges(systems)],
        notes=note_lines(systems, "facts"),
        all_scores=transposed(board) if others else board,
        tests=differences(ranking, every) if ranking else None,
        own_tables=_own_tables(systems),
        metrics=metrics,
        place_of={about.metric: k for k, about in enumerate(metrics)},
        usage=_usage(systems),
    )
    # A lone surrogate, which UTF-8 can't hold, becomes a question mark.
    return text.encode("utf-8", "replace").decode("utf-8")


def _reads_references(systems: Mapping[str, Measurement], metric: str) -> bool:
    """Whether a metric reads references; of one that doesn't, marks of their words say nothing."""
    results = [s.results[metric] for s in systems.values() if metric in s.results]
    return not {"reference", "references"}.isdisjoint(results[0].metric.inputs())


def _about_judges(systems: Mapping[str, Measurement]) -> list[str]:
    """Remarks on judges that aren't models."""
    metrics = [result.metric for report in systems.values() for result in report.results.values()]
    notes = (note for metric in metrics for note in getattr(metric, "about_models", list)())
    return [f"{note[0].upper()}{note[1:]}." for note in dict.fromkeys(notes)]


def _differences(answer: PageHeadline) -> list[Table]:
    """The forest plots of two systems as one table; none of several, whose board says it."""
    if not answer.pair or not answer.forests or answer.board:
        return []
    rows = [[row.label, *row.cells] for plot in answer.forests for row in plot.rows]
    return [Table(answer.forests[0].head, rows)]


def _rounded(table: Table) -> Table:
    """The table with the decimals that scores have on the page."""

    def rounded(cell: Cell) -> Cell:
        if not isinstance(cell, float) or not math.isfinite(cell):
            return cell
        if cell.is_integer() and abs(cell) >= 10:
            return cell
        return Score(f"{cell:.{decimals_of(cell)}f}")

    return table._replace(rows=[[rounded(cell) for cell in row] for row in table.rows])


def _wins(scores: Scores, number: int) -> dict[tuple[str, str], str]:
    """For each two systems, what selects the samples in which the first is better."""
    shown = {name: as_shown(values) for name, values in scores.systems.items()}
    selects = {}
    for (i, system), (j, other) in permutations(enumerate(shown), 2):
        low, high = (system, other) if scores.better == "lower" else (other, system)
        if (shown[low] < shown[high]).any():
            # The worst of the other against the first come first: the largest differences.
            chosen = {"output": number, "better": f"{i}>{j}", "pair": [i, j]}
            selects[system, other] = script_json(chosen)
    return selects


def _people(
    systems: Mapping[str, Measurement],
    outputs: Sequence[tuple[str, str, Scores]],
    options: SignificanceOptions,
    shown: PageOptions,
) -> Any:
    """The section on agreement with people; none without the package, unless it was asked for."""
    try:
        page = optional_package("metrichub.agreement.page", "human=")
    except MissingDependency:
        if shown.human is not None:
            raise
        return None
    return page.people_of(systems, outputs, options, shown.human, shown.agreement)


def _asset(name: str) -> str:
    return files("metrichub.report.html").joinpath("assets", name).read_text(encoding="utf-8")


def _policy(script: str, style: str) -> str:
    """The Content-Security-Policy that allows this script and this style alone."""
    script_hash, style_hash = (
        base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
        for text in (script, style)
    )
    return (
        f"default-src 'none'; script-src 'sha256-{script_hash}'; "
        f"style-src 'sha256-{style_hash}'; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _data(
    systems: Mapping[str, Measurement],
    ids: Sequence[Any] | None,
    outputs: Sequence[tuple[str, str, Scores]],
    records: Records,
) -> dict[str, Any]:
    """The data that the page's script reads at the start; texts are in the chunks."""
    explaining = {n for report in systems.values() for n in SystemRecords(report).explaining()}
    return {
        "systems": list(systems),
        "size": next(iter(systems.values())).size,
        "chunk": CHUNK,
        "ids": [*map(_exact, json_value(list(ids)))] if ids else None,
        "metadata": _metadata(systems),
        "outputs": score_columns(systems, outputs),
        "problems": [problems_of(report) for report in systems.values()],
        "explaining": sorted(explaining),
        "explained": records.explained,
        "kept": records.stored,
        "texts": any(report.texts for report in systems.values()),
    }


def _exact(value: Any) -> Any:
    """A value whose digits a page's script keeps: a large whole number as a text."""
    return str(value) if isinstance(value, int) and abs(value) > 2**53 else value


def _metadata(systems: Mapping[str, Measurement]) -> dict[str, Sequence[Any]]:
    """The columns of the reports; those that differ, once per system."""
    columns: dict[str, Sequence[Any]] = {}
    for system, report in systems.items():
        for name, values in report.metadata.items():
            same = all(other.metadata.get(name) == values for other in systems.values())
            columns[name if same else f"{name} of {system}"] = [*map(_exact, values)]
    return columns


def _own_tables(systems: Mapping[str, Measurement]) -> list[tuple[str, Table]]:
    """The tables that metrics show beside their scores, with a heading each; no matrices."""
    return [
        (" · ".join(filter(None, (name, metric, heading))), Table([*map(str, head)], rows))
        for name, report in systems.items()
        for metric, tables in report.tables().items()
        for heading, (head, *rows) in tables.items()
        if heading not in report.results[metric].cells()
    ]


def _usage(systems: Mapping[str, Measurement]) -> Table | None:
    """Calls to judges and their cost, a row per system; None without any."""
    used = {name: report.usage for name, report in systems.items() if report.usage != Usage()}
    if not used:
        return None
    names = [field.name for field in fields(Usage) if field.name != "models"] + ["answered_by"]
    rows = [[name, *(getattr(usage, n) for n in names)] for name, usage in used.items()]
    return Table(["system", *(name.replace("_", " ") for name in names)], rows)
