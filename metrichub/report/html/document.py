"""Document: the page as one text, everything in it escaped or allowed by its hash."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from importlib.resources import files
from itertools import permutations
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from metrichub.catalog.requirements import optional_package
from metrichub.data.values import json_value
from metrichub.errors import MissingDependency, ReportError
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.merge import comparable
from metrichub.evaluation.significance import SignificanceOptions
from metrichub.metric import has_sample_scores
from metrichub.models.usage import Usage
from metrichub.report.by_output import intervals_of
from metrichub.report.groupings import (
    FEWEST,
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
from metrichub.report.html.forest import WIDTH, slice_table
from metrichub.report.html.labels import labels_of
from metrichub.report.html.ngrams import ngrams_of
from metrichub.report.html.provenance import Provenance, facts_of, metrics_of
from metrichub.report.html.records import (
    CHUNK,
    PageLimits,
    Records,
    Scores,
    SystemRecords,
    Values,
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
from metrichub.report.slices import MOST_SAMPLES, Slices, slices_of
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
    """What a page is to show, beside how its tests are made; see `write`."""

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
    main = [(k, scores) for k, (_, output, scores) in enumerate(outputs) if output == "score"]
    if others and ranking is None:
        ranking = compare_all(systems, **options._asdict())
    if ranking:
        options, intervals = ranking.options, ranking.intervals()
    else:
        options = options._replace(cluster=first.clustered(options.cluster)[1])
        how = options.of_intervals()
        intervals = {name: intervals_of(report, **how) for name, report in systems.items()}
    people = _people(systems, outputs, options, shown)
    rated = [rating["name"] for rating in people.data.get("ratings", ())] if people else []
    groupings = groupings_of(systems, rated, shown.by)
    answer = answer_of(systems, ranking, intervals, options)
    slices = slices_of(systems, groupings, answer.pair, options)
    people_first = people is not None and shown.agreement is not None
    begin = answer.ranked or answer.columns[0]
    key = people.leading if people_first else (begin.metric, begin.output)
    # Samples may lack an output.
    start = next((k for k, one in enumerate(outputs) if one[:2] == key), None)
    records = records_of(systems, outputs, limits, start, tell)
    tell("drawing", 0, None)
    names = (*SCRIPTS, *(OF_RATINGS if people and people.data else ()))
    # One script, which waits in its middle for the data to be unpacked.
    script = f'"use strict";\n(async () => {{\n{"".join(map(_asset, names))}}})();'
    style = THEME.read_text(encoding="utf-8") + "".join(map(_asset, STYLES))
    data = _data(systems, shown.ids, outputs, records)
    scores = [output.pop("values") for output in data["outputs"]]
    data |= _first_view(systems, answer, begin.metric, start)
    labels = labels_of(systems, begin.metric, outputs[start or 0][2])
    data["judged"] = judged_claims(systems)
    own = (*verdict_groupings(systems, data["judged"]), *cell_groupings(systems))
    data["groupings"] = [grouping.data() for grouping in (*groupings, *labels.outcomes, *own)]
    data["labelled"] = [*{matrix.metric for matrix in (*labels.first, *labels.others)}]
    data |= {"people": people.data} if people and people.data else {}
    ngrams = ngrams_of(systems)
    data |= {"ngrams": ngrams.data()} if ngrams else {}
    said = people.headline if people_first else [answer.title, *filter(None, [answer.proof])]
    copied = [people.main] if people_first else [*_differences(answer), answer.paper]
    sliced = answer.columns if slices.slices else ()
    every = ScoreFormat("all", confidence=options.confidence)
    board = scoreboard(systems, None, intervals, every)
    metrics = metrics_of(systems)
    provenance = shown.provenance or Provenance()
    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    page.globals |= {"table": lambda table: Markup(_rounded(table).html())}
    return _readable(
        page.from_string(_asset("report.html")).render(
            policy=_policy(script, style),
            style=Markup(style),
            script=Markup(script),
            data=packed(map(script_json, [data, *scores])),
            texts=packed(records.chunks),
            people=people,
            people_first=people_first,
            ngrams=ngrams,
            systems=list(systems),
            short=without_common_start([*systems]),
            size=first.size,
            options=options,
            title=shown.title or said[0].rstrip("."),
            said=said if shown.title else said[1:],
            answer=answer,
            heads=[*map(briefly, answer.columns)],
            wins=_wins(outputs, start) if answer.board and start is not None else {},
            ranked_by=begin,
            verdict_key=verdict_key,
            claims=claims_by_verdict(systems, begin.metric, data["judged"]),
            tasks=tasks_of(systems, begin.metric, outputs[start][2]) if start is not None else {},
            start=start,
            ids=shown.ids,
            facts=facts_of(systems, provenance),
            origin=provenance.facts(),
            metrics=metrics,
            loop_of={about.metric: k for k, about in enumerate(metrics)},
            exports={
                "Markdown": "\n".join(table.markdown() for table in copied),
                "LaTeX": "\n".join(table.latex() for table in copied),
                "CSV": (
                    long_tests(ranking) if ranking else scores_in_full(systems, intervals)
                ).csv(),
            },
            width=WIDTH,
            all_scores=transposed(board) if others else board,
            own_tables=_own_tables(systems),
            labels=labels,
            tests=differences(ranking, every) if ranking else None,
            slices=[slice_table(column, slices, systems, options.confidence) for column in sliced],
            differing=slices.sentence,
            about_slices=_about_slices(slices, first.size),
            about_groupings=[g.about for g in groupings if g.about],
            charts={
                "differences": charts.difference_histograms(
                    _first(main, start, outputs), answer.pair
                )
                if answer.pair
                else [],
                "histograms": charts.histograms(main),
                "scatters": charts.scatter_charts([scores for _, scores in main]),
            },
            dash_of=charts.dash_of,
            quartiles=quartiles([scores for _, scores in main]),
            correlations=correlations([s for _, s in main]) if len(main) > 1 else None,
            doubts=[*note_lines(systems, "doubts"), *_about_judges(systems)],
            notes=note_lines(systems, "facts"),
            sentence_level=_sentence_level(systems),
            titles={n: r.metric.card.title for s in systems.values() for n, r in s.results.items()},
            signatures=_signatures(systems),
            usage=_usage(systems),
            citations=_citations(systems),
        )
    )


def _about_judges(systems: Mapping[str, Measurement]) -> list[str]:
    """What judges that aren't models say of themselves."""
    metrics = [result.metric for report in systems.values() for result in report.results.values()]
    own = (note for metric in metrics for note in getattr(metric, "about_models", list)())
    return [f"{note[0].upper()}{note[1:]}." for note in dict.fromkeys(own)]


def _first_view(
    systems: Mapping[str, Measurement], answer: PageHeadline, metric: str, start: int | None
) -> dict[str, Any]:
    """Which output and systems the samples begin with, and whether words of references are marked.

    Of a metric that reads none these marks would say nothing.
    """
    own = (s.results[metric].metric.inputs() for s in systems.values() if metric in s.results)
    return {
        "start": start or 0,
        "by_references": not {"reference", "references"}.isdisjoint(next(own)),
        "pair": [[*systems].index(name) for name in reversed(answer.pair or ())] or None,
    }


def _first(
    main: Sequence[tuple[int, Scores]],
    start: int | None,
    outputs: Sequence[tuple[str, str, Scores]],
) -> Sequence[tuple[int, Scores]]:
    """The outputs that are drawn, first the one that ranks, in place of its metric's."""
    if start is None:
        return main
    others = [one for one in main if outputs[one[0]][0] != outputs[start][0]]
    return [(start, outputs[start][2]), *others]


def _differences(answer: PageHeadline) -> list[Table]:
    """The forest plots of two systems as one table; none of several, whose board says it."""
    if not answer.pair or not answer.forests or answer.board:
        return []
    rows = [[row.label, *row.cells] for plot in answer.forests for row in plot.rows]
    return [Table(answer.forests[0].head, rows)]


def _rounded(table: Table) -> Table:
    """The table with the decimals that scores have on the page."""
    rows = [
        [Score(f"{cell:.{decimals_of(cell)}f}") if _is_fraction(cell) else cell for cell in row]
        for row in table.rows
    ]
    return table._replace(rows=rows)


def _is_fraction(cell: Cell) -> TypeGuard[float]:
    return (
        isinstance(cell, float)
        and math.isfinite(cell)
        and not (cell.is_integer() and abs(cell) >= 10)
    )


def _wins(outputs: Sequence[tuple[str, str, Scores]], number: int) -> dict[tuple[str, str], str]:
    """For each two systems, what selects the samples in which the first is better."""
    scores = outputs[number][2]
    shown = {name: as_shown(values) for name, values in scores.systems.items()}
    names, selects = [*shown], {}
    for one, other in permutations(names, 2):
        low, high = (one, other) if scores.better == "lower" else (other, one)
        if (shown[low] < shown[high]).any():
            # The worst of the other against the first come first: the largest differences.
            i, j = names.index(one), names.index(other)
            chosen = {"output": number, "better": f"{i}>{j}", "pair": [i, j]}
            selects[one, other] = script_json(chosen)
    return selects


def _about_slices(slices: Slices, size: int) -> str:
    """How the slices' tests were made, or why there are none."""
    choose = "A click on a slice shows its samples."
    if size > MOST_SAMPLES:
        return f"{choose} Of more than {MOST_SAMPLES:,} samples, slices aren't tested here."
    if not slices.pair:
        return choose
    if not slices.trials:
        return f"{choose} No slice has the {FEWEST} samples that a test takes."
    other, baseline = slices.pair
    return (
        f"{choose} Tested is {other} against {baseline}: paired approximate randomization "
        f"({slices.trials:,} trials), p corrected by Holm's method over all slices and headline "
        f"outputs of the metric. Slices of fewer than {FEWEST} samples aren't tested and don't "
        "count; nor are metrics tested whose statistics don't add up."
    )


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
    allowed = f"script-src {_digest(script)}; style-src {_digest(style)}; img-src data:"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def _digest(text: str) -> str:
    """What a Content-Security-Policy calls a script or style of this text."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _readable(text: str) -> str:
    """A text that UTF-8 can hold; a lone surrogate becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text


def _data(
    systems: Mapping[str, Measurement],
    ids: Sequence[Any] | None,
    outputs: Sequence[tuple[str, str, Scores]],
    records: Records,
) -> dict[str, Any]:
    """What the page's script knows from the start; the texts are in the chunks."""
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


def _sentence_level(systems: Mapping[str, Measurement]) -> list[str]:
    """The metrics whose samples are scored by a convention of their own, as sentence BLEU is."""
    results = {name: r for report in systems.values() for name, r in report.results.items()}
    return [name for name, result in results.items() if has_sample_scores(result.metric)]


def _own_tables(systems: Mapping[str, Measurement]) -> list[tuple[str, Table]]:
    """The tables that metrics show beside their scores, with a heading each; no matrices."""
    return [
        (" · ".join(filter(None, (name, metric, heading))), Table([*map(str, head)], rows))
        for name, report in systems.items()
        for metric, tables in report.tables().items()
        for heading, (head, *rows) in tables.items()
        if heading not in report.results[metric].cells()
    ]


def quartiles(outputs: Sequence[Scores]) -> Table:
    """The five numbers of the scored samples, a row per output and system."""
    several = bool(outputs) and len(outputs[0].systems) > 1
    rows: list[list[Cell]] = []
    for output in outputs:
        for name, values in output.systems.items():
            known = values[~np.isnan(values)]
            five = np.quantile(known, np.linspace(0, 1, 5)).tolist() if len(known) else [None] * 5
            rows.append([output.label, *([name] if several else []), len(known), *five])
    names = ["metric", *(["system"] if several else []), "scored"]
    return Table([*names, "lowest", "lower quartile", "median", "upper quartile", "highest"], rows)


def correlations(outputs: Sequence[Scores]) -> Table:
    """How the metrics agree on the first system's samples.

    Above the diagonal is Spearman's correlation of ranks, below it Pearson's. Samples that
    either metric leaves unscored are left out.
    """
    columns = [next(iter(output.systems.values())) for output in outputs]
    rows: list[list[Cell]] = []
    for i, output in enumerate(outputs):
        row = [
            None if i == j else _correlation(columns[i], columns[j], ranks=j > i)
            for j in range(len(columns))
        ]
        rows.append([output.label, *row])
    return Table(["", *(output.label for output in outputs)], rows)


def _correlation(first: Values, second: Values, *, ranks: bool) -> float | None:
    known = np.isfinite(first) & np.isfinite(second)
    x, y = first[known], second[known]
    if ranks:
        x, y = _ranks(x), _ranks(y)
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(np.corrcoef(x, y)[0, 1])


def _ranks(values: Values) -> Values:
    """The rank of every value, from 1; equal ones share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Values = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks


def _signatures(systems: Mapping[str, Measurement]) -> dict[str, list[str]]:
    """The signatures of every metric: several if candidates or versions differ by the system."""
    signatures: dict[str, list[str]] = {}
    for report in systems.values():
        for name, signature in report.signatures().items():
            if signature not in signatures.setdefault(name, []):
                signatures[name].append(signature)
    return signatures


def _usage(systems: Mapping[str, Measurement]) -> Table | None:
    """What judges were asked, a row per system; nothing if nobody was."""
    used = {name: report.usage for name, report in systems.items() if report.usage != Usage()}
    if not used:
        return None
    names = [field.name for field in fields(Usage) if field.name != "models"] + ["answered_by"]
    rows = [[name, *(getattr(usage, n) for n in names)] for name, usage in used.items()]
    return Table(["system", *(name.replace("_", " ") for name in names)], rows)


def _citations(systems: Mapping[str, Measurement]) -> str:
    entries = (r.metric.card.bibtex for s in systems.values() for r in s.results.values())
    return "\n\n".join(dict.fromkeys(filter(None, entries)))
