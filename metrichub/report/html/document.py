"""Document: the page as one text, everything in it escaped or allowed by its hash."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from importlib.resources import files
from typing import Any

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
from metrichub.report.html import charts
from metrichub.report.html.answer import WIDTH, answer_of
from metrichub.report.html.ngrams import ngrams_of
from metrichub.report.html.records import (
    CHUNK,
    PageLimits,
    Records,
    Scores,
    SystemRecords,
    Values,
    inside_script,
    outputs_of,
    problems_of,
    records_of,
    score_columns,
    script_json,
)
from metrichub.report.html.slices import groupings_of, slices_of
from metrichub.report.html.theme import THEME
from metrichub.report.notes import shared_notes
from metrichub.report.ranking import Ranking, compare_all
from metrichub.report.scoreboard import rows_of_scores, rows_of_tests
from metrichub.report.tables import Cell, Table

SCRIPTS = (
    "labels.js",
    "report.js",
    "diff.js",
    "choice.js",
    "steps.js",
    "conversation.js",
    "reading.js",
    "details.js",
    "ngrams.js",
    "filters.js",
    "histogram.js",
    "view.js",
    "pictures.js",
    "samples.js",
)
STYLES = ("report.css", "samples.css")
OF_RATINGS = ("scatter.js", "people.js")


def report_page(
    systems: Mapping[str, Measurement],
    ids: Sequence[Any] | None,
    options: SignificanceOptions,
    limits: PageLimits,
    human: str | Iterable[str] | None = None,
    tell: Callable[[str, int, int | None], object] = lambda *_: None,
    ranking: Ranking | None = None,
) -> str:
    """The page of these systems; the first is the one that the others are compared with."""
    if not systems:
        raise ReportError("there is no report to write")
    first, *others = systems.values()
    for other in others:
        comparable(first, other)
    tell("testing", 0, None)
    outputs = outputs_of(systems)
    main = [scores for _, output, scores in outputs if output == "score"]
    if others and ranking is None:
        ranking = compare_all(systems, **options._asdict())
    if ranking:
        intervals = ranking.intervals()
    else:
        how = options.of_intervals()
        intervals = {name: intervals_of(report, **how) for name, report in systems.items()}
    records = records_of(systems, outputs, limits, tell)
    tell("drawing", 0, None)
    people = _people(systems, outputs, options, human)
    scripts = [_asset(name) for name in (*SCRIPTS, *(OF_RATINGS if people else ()))]
    style = THEME.read_text(encoding="utf-8") + "".join(map(_asset, STYLES))
    data = _data(systems, ids, outputs, records)
    data["groupings"] = groupings_of(systems)
    data |= {"people": people.data} if people else {}
    ngrams = ngrams_of(systems)
    data |= {"ngrams": ngrams.data()} if ngrams else {}
    answer = answer_of(systems, ranking, intervals, options)
    whole = rows_of_scores(systems, intervals, ranking.ranks if ranking else None)
    exports = {
        "Markdown": answer.paper.markdown(),
        "LaTeX": answer.paper.latex(),
        "CSV": whole.csv(),
    }
    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    page.globals |= {"table": lambda table, caption="": Markup(table.html(caption))}
    return _readable(
        page.from_string(_asset("report.html")).render(
            policy=_policy(scripts, style),
            style=Markup(style),
            scripts=[Markup(script) for script in scripts],
            data=Markup(inside_script(script_json(data))),
            people=people,
            ngrams=ngrams,
            chunks=[Markup(inside_script(chunk)) for chunk in records.chunks],
            systems=list(systems),
            size=first.size,
            options=options,
            answer=answer,
            exports=list(exports),
            exports_json=Markup(inside_script(script_json(exports))),
            width=WIDTH,
            all_scores=whole,
            own_tables=_own_tables(systems),
            tests=_tests(ranking),
            ranking=ranking,
            slices=slices_of(systems, options),
            charts={
                "comparisons": charts.comparisons(main),
                "histograms": charts.histograms(main),
                "scatters": charts.scatter_charts(main),
            },
            dash_of=charts.dash_of,
            quartiles=quartiles(main),
            correlations=correlations(main) if len(main) > 1 else None,
            notes=_notes(systems),
            sentence_level=_sentence_level(systems),
            titles={n: r.metric.card.title for s in systems.values() for n, r in s.results.items()},
            signatures=_signatures(systems),
            usage=_usage(systems),
            citations=_citations(systems),
        )
    )


def _people(
    systems: Mapping[str, Measurement],
    outputs: Sequence[tuple[str, str, Scores]],
    options: SignificanceOptions,
    human: str | Iterable[str] | None,
) -> Any:
    """The section on agreement with people; none without the package, unless it was asked for."""
    try:
        page = optional_package("metrichub.agreement.page", "human=")
    except MissingDependency:
        if human is not None:
            raise
        return None
    return page.people_of(systems, outputs, options, human)


def _asset(name: str) -> str:
    return files("metrichub.report.html").joinpath("assets", name).read_text(encoding="utf-8")


def _policy(scripts: Sequence[str], style: str) -> str:
    allowed = {
        "default-src": "'none'",
        "script-src": " ".join(map(_digest, scripts)),
        "style-src": _digest(style),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {sources}" for name, sources in allowed.items())


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
        "ids": json_value(list(ids)) if ids else None,
        "metadata": _metadata(systems),
        "outputs": score_columns(systems, outputs),
        "problems": [problems_of(report) for report in systems.values()],
        "explaining": sorted(explaining),
        "explained": records.explained,
        "kept": records.stored,
        "texts": any(report.texts for report in systems.values()),
    }


def _metadata(systems: Mapping[str, Measurement]) -> dict[str, Sequence[Any]]:
    """The columns of the reports; those that differ, once per system."""
    columns: dict[str, Sequence[Any]] = {}
    for system, report in systems.items():
        for name, values in report.metadata.items():
            same = all(other.metadata.get(name) == values for other in systems.values())
            columns[name if same else f"{name} of {system}"] = values
    return columns


def _sentence_level(systems: Mapping[str, Measurement]) -> list[str]:
    """The metrics whose samples are scored by a convention of their own, as sentence BLEU is."""
    results = {name: r for report in systems.values() for name, r in report.results.items()}
    return [name for name, result in results.items() if has_sample_scores(result.metric)]


def _tests(ranking: Ranking | None) -> tuple[Table, Table] | None:
    """The tests of the headline outputs, and those of all with every p-value."""
    if not ranking:
        return None
    return rows_of_tests(ranking), rows_of_tests(ranking, all_outputs=True)


def _own_tables(systems: Mapping[str, Measurement]) -> list[tuple[str, Table]]:
    """The tables that metrics show beside their scores, with a heading each."""
    return [
        (" · ".join(filter(None, (name, metric, heading))), Table([*map(str, head)], rows))
        for name, report in systems.items()
        for metric, tables in report.tables().items()
        for heading, (head, *rows) in tables.items()
    ]


def quartiles(outputs: Sequence[Scores]) -> Table:
    """The five numbers of the scored samples, a row an output and system."""
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


def _notes(systems: Mapping[str, Measurement]) -> list[str]:
    """The notes of every metric, those of all systems told once and without naming them."""
    return [
        f"{', '.join(names)}, {metric}: {text}" if names else f"{metric}: {text}"
        for metric, text, names in shared_notes(systems)
    ]


def _signatures(systems: Mapping[str, Measurement]) -> dict[str, list[str]]:
    """The signatures of every metric: several if candidates or versions differ by the system."""
    signatures: dict[str, list[str]] = {}
    for report in systems.values():
        for name, signature in report.signatures().items():
            if signature not in signatures.setdefault(name, []):
                signatures[name].append(signature)
    return signatures


def _usage(systems: Mapping[str, Measurement]) -> Table | None:
    """What judges were asked, a row a system; nothing if nobody was."""
    used = {name: report.usage for name, report in systems.items() if report.usage != Usage()}
    if not used:
        return None
    names = [field.name for field in fields(Usage)]
    rows = [[name, *(getattr(usage, n) for n in names)] for name, usage in used.items()]
    return Table(["system", *(name.replace("_", " ") for name in names)], rows)


def _citations(systems: Mapping[str, Measurement]) -> str:
    entries = (r.metric.card.bibtex for s in systems.values() for r in s.results.values())
    return "\n\n".join(dict.fromkeys(filter(None, entries)))
