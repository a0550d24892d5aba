"""People: agreement of the scores with ratings, and the largest disagreements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from metrichub.agreement.agreement import CEILING, CHANCE, Agreement, AgreementRow
from metrichub.agreement.best_metric import by_agreement, number, read_first, sentences_of
from metrichub.agreement.coefficients import COEFFICIENTS
from metrichub.agreement.correlation import correlate, with_sources
from metrichub.agreement.of_report import agreement_of, scores_by_label, sources_of
from metrichub.agreement.page_columns import RatedColumns, rated_columns
from metrichub.errors import InputError
from metrichub.evaluation.measurement import Measurement, with_facts
from metrichub.evaluation.significance import SignificanceOptions
from metrichub.report.html.charts import Tick
from metrichub.report.html.forest import Axis, Forest, ForestRow
from metrichub.report.html.records import Scores, page_numbers
from metrichub.report.rows import chosen_outputs
from metrichub.report.tables import Cell, Score, Table

WORK = 10_000_000
"""Draws times samples times values: about so much is done for the intervals."""

FEW_DRAWS = 100
"""Fewer draws say nothing of the ends of an interval."""

_LEVELS = {
    "item": "over the outputs of each item, then the mean over items",
    "pooled": "over all outputs at once",
}


class People(NamedTuple):
    """What a page says of agreement with people: tables, sentences, and its script's data.

    `headline` says which metric agrees best, where agreement is what the page is about, and
    `leading` is that metric with its output; `bars` are
    the metrics by the first rating, with the places of chance and the human ceiling as ticks;
    `rated` says of several systems how people rate them.
    """

    headline: Sequence[str]
    leading: tuple[str, str]
    rated: list[str]
    bars: Forest
    main: Table
    whole: list[Table]
    sentences: list[str]
    notes: list[str]
    lines: list[str]
    data: dict[str, Any]


def people_of(
    systems: Mapping[str, Measurement],
    outputs: Sequence[tuple[str, str, Scores]],
    options: SignificanceOptions,
    human: str | Iterable[str] | None = None,
    measured: Agreement | None = None,
) -> People | None:
    """Agreement with the ratings in the reports; None without any.

    `human` names the columns of ratings, which else are found by what is in them. What is
    `measured` already, such as agreement with preferences, is shown as it is.

    Raises:
        MissingColumn: no report has such a column.
        ReportError: a column that was named holds no ratings.
    """
    names = [human] if isinstance(human, str) else None if human is None else list(human)
    main = {key for report in systems.values() for key in chosen_outputs(report, "headline")}
    shown = [output for output in outputs if output[:2] in main]
    if measured and not names:
        return _people([measured], "", {}, [], first=True)
    columns = rated_columns(systems, options.cluster, names)
    if not columns.ratings or not shown:
        return None
    agreements = (
        [measured]
        if measured
        else [
            _agreement(systems, columns, of_kind, options, len(shown))
            for of_kind in (columns.numbers(), columns.labels())
            if of_kind
        ]
    )
    rated = _mean_ratings(list(systems), columns)
    first = measured is not None
    data = _data(columns, first=first)
    return _people(agreements, columns.sentence(), data, rated, first=first)


def _mean_ratings(systems: Sequence[str], columns: RatedColumns) -> list[str]:
    """Each rating's mean by system, the highest first; of two, which is rated higher how often."""
    if len(columns.rated) < 2:
        return []
    told = []
    for name, values in columns.ratings.items():
        by_system = {
            system: own
            for system, own in zip(systems, values, strict=True)
            if not np.isnan(own).all()
        }
        ranked = sorted(by_system, key=lambda system: -np.nanmean(by_system[system]))
        line = ", ".join(f"{system} {np.nanmean(by_system[system]):.3g}" for system in ranked)
        if len(ranked) == 2:
            first, second = (by_system[system] for system in ranked)
            both = int((~np.isnan(first - second)).sum())
            line += (
                f" ({ranked[0]} rated higher in {int((first > second).sum()):,} of {both:,} "
                f"samples, {ranked[1]} in {int((second > first).sum()):,})"
            )
        told.append(f"{name}: {line}")
    return told


def _people(
    agreements: Sequence[Agreement],
    sentence: str,
    data: dict[str, Any],
    rated: list[str],
    *,
    first: bool = False,
) -> People:
    rows = _by_metric(agreements)
    leading = {metric: own[0] for metric, own in rows.items() if own[0]}
    metric, _, output = next(iter(rows)).partition(".")
    drawn = agreements[0].drawn.draws
    interval = f" [{agreements[0].confidence:.0%} interval]" if drawn else ""
    return People(
        headline=sentences_of(agreements[0], leading) if first else [],
        leading=(metric, output or "score"),
        rated=rated,
        bars=_bars(leading, interval),
        main=_main(rows),
        whole=[agreement.table() for agreement in agreements],
        sentences=[sentence, *_how(agreements)],
        notes=list(dict.fromkeys(note for agreement in agreements for note in agreement.notes)),
        lines=[agreement.line() for agreement in agreements],
        data=data,
    )


def _agreement(
    systems: Mapping[str, Measurement],
    columns: RatedColumns,
    names: Sequence[str],
    options: SignificanceOptions,
    outputs: int,
) -> Agreement:
    """What the command says of these columns, with as many draws as there is time for."""
    reports = [systems[name] for name in columns.rated]
    work = sum(report.size for report in reports) * len(names) * outputs
    draws = min(options.resamples, WORK // max(work, 1))
    how: dict[str, Any] = {
        "draws": draws if draws >= min(FEW_DRAWS, options.resamples) else 0,
        "confidence": options.confidence,
        "seed": options.seed,
    }
    if len(reports) == 1:
        return _of_one(reports[0], names, how)
    return _of_several(dict(zip(columns.rated, reports, strict=True)), names, how)


def _of_one(report: Measurement, names: Sequence[str], how: Mapping[str, Any]) -> Agreement:
    """The agreement of one report; over all outputs where its labels don't lay them out."""
    try:
        return agreement_of(report, names, **how)
    except InputError:
        ratings = {name: report.metadata[name] for name in names}
        return agreement_of(with_facts(report, metadata=ratings), names, **how)


def _of_several(
    systems: Mapping[str, Measurement], names: Sequence[str], how: Mapping[str, Any]
) -> Agreement:
    """Agreement over systems that answered the same samples: each sample is an item."""
    size = next(iter(systems.values())).size
    scored = [scores_by_label(report) for report in systems.values()]
    none = np.full(size, np.nan)
    labels = dict.fromkeys(label for scores, _ in scored for label in scores)
    agreement = correlate(
        {
            label: np.concatenate([scores.get(label, none) for scores, _ in scored])
            for label in labels
        },
        {
            name: [
                rating for r in systems.values() for rating in r.metadata.get(name, [None] * size)
            ]
            for name in names
        },
        item=list(range(size)) * len(systems),
        system=[name for name in systems for _ in range(size)],
        better={label: way for _, better in scored for label, way in better.items()},
        **how,
    )
    sources = [sources_of(report, labels) for report in systems.values()]
    signatures = {name: line for lines, _ in sources for name, line in lines.items()}
    bibtex = list(dict.fromkeys(entry for _, entries in sources for entry in entries))
    return with_sources(agreement, signatures, bibtex)


def _by_metric(agreements: Sequence[Agreement]) -> dict[str, list[AgreementRow | None]]:
    """Each metric's rows, one a rating, the highest by the first; the ceiling and chance last."""
    rows = [row for agreement in agreements for row in read_first(agreement)]
    places = {(row.metric, row.dimension): row for row in rows}
    dimensions = list(dict.fromkeys(row.dimension for row in rows))
    first = {metric: row for (metric, of), row in places.items() if of == dimensions[0]}
    metrics = dict.fromkeys([*by_agreement(first), *(row.metric for row in rows)])
    ordered = sorted(metrics, key=[CEILING, CHANCE].__contains__)
    return {metric: [places.get((metric, of)) for of in dimensions] for metric in ordered}


def _main(rows: Mapping[str, Sequence[AgreementRow | None]]) -> Table:
    """A row a metric, a column a rating; the ceiling and chance last."""
    metrics, columns = [*rows], zip(*rows.values(), strict=True)
    dimensions = [next(filter(None, column)).dimension for column in columns]
    cells: list[list[Cell]] = [[metric, *map(_cell, own)] for metric, own in rows.items()]
    best = set()
    for k in range(1, len(dimensions) + 1):
        column = {name: row for name, own in rows.items() if (row := own[k - 1])}
        ranked = by_agreement(column)
        best |= {(metrics.index(ranked[0]), k)} if len(ranked) > 1 else set()
    return Table(["metric", *dimensions], cells, best)


def _bars(rows: Mapping[str, AgreementRow], interval: str) -> Forest:
    """The metrics by one rating; the best is in colour if its interval lies above chance."""
    axis = Axis.of([end for row in rows.values() for end in (row.low, row.value, row.high)])
    chance, bars = rows[CHANCE].value if CHANCE in rows else 0.0, []
    for k, name in enumerate(by_agreement(rows)):
        row = rows[name]
        kind = "best" if k == 0 and row.low > chance else "alone"
        places = axis.places(row.low, row.value, row.high)
        bars.append(ForestRow(name, name, [str(_cell(row))], kind, (), *places))
    marks = {
        f"{text} {number(rows[name].value)}": axis.place(rows[name].value)
        for name, text in ((CHANCE, "chance"), (CEILING, "one rater"))
        if name in rows
    }
    ticks = [Tick(place, text) for text, place in marks.items() if place is not None]
    row = next(iter(rows.values()))
    known = COEFFICIENTS.get(row.coefficient)
    title = known.title if known else row.coefficient
    return Forest(row.dimension, [title, f"agreement{interval}"], bars, ticks, None)


def _cell(row: AgreementRow | None) -> Score:
    if row is None or row.value != row.value:
        return Score("–")
    bounds = f"[{number(row.low)}, {number(row.high)}]" if row.low == row.low else ""
    return Score(number(row.value), interval=bounds)


def _how(agreements: Sequence[Agreement]) -> list[str]:
    """What the table shows, in plain sentences."""
    sentences = []
    for agreement in agreements:
        first = read_first(agreement)[0]
        dimensions = ", ".join(dict.fromkeys(row.dimension for row in agreement.rows))
        known = COEFFICIENTS.get(first.coefficient)
        title = known.title if known else first.coefficient
        level = _LEVELS.get(first.level, f"at the level {first.level}")
        sentences.append(f"{dimensions}: {title} {level}.")
    drawn, data = agreements[0].drawn, agreements[0].data
    if drawn.draws:
        samples = "samples" if data.items == data.samples else "items"
        what = "systems and items" if drawn.draw == "both" else samples
        share = f"{agreements[0].confidence * 100:g}%"
        sentences.append(
            f"In brackets: {share} intervals, by {drawn.draws:,} bootstrap draws of {what}."
        )
    else:
        sentences.append(
            "There are too many samples for intervals on a page; 'metrichub agreement' has them."
        )
    rows = [row for agreement in agreements for row in read_first(agreement)]
    sentences += dict.fromkeys(f"{r.note.capitalize()}." for r in rows if r.note and r.low != r.low)
    return [*sentences, "Chance is the value for a constant score."]


def _data(columns: RatedColumns, *, first: bool) -> dict[str, Any]:
    """The ratings of every sample, and whether the samples begin with the largest disagreements."""
    means = [
        {"name": name, "values": [page_numbers(of_system) for of_system in values]}
        for name, values in columns.ratings.items()
    ]
    return {"ratings": means, "first": first}
