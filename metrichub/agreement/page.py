"""People: agreement of the scores with ratings, and the largest disagreements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from metrichub.agreement.agreement import CEILING, CHANCE, Agreement, AgreementRow
from metrichub.agreement.choice import ChosenOutput
from metrichub.agreement.coefficients import COEFFICIENTS
from metrichub.agreement.correlation import correlate, with_sources
from metrichub.agreement.of_report import agreement_of, scores_by_label, sources_of
from metrichub.agreement.page_columns import RatedColumns, rated_columns
from metrichub.agreement.tables import (
    by_agreement,
    number,
    read_first,
    score_of,
    sentences_of,
)
from metrichub.errors import InputError
from metrichub.evaluation.measurement import Measurement, with_facts
from metrichub.evaluation.significance import SignificanceOptions
from metrichub.report.html.charts import Tick
from metrichub.report.html.forest import Axis, Forest, ForestRow
from metrichub.report.html.records import Scores, page_numbers
from metrichub.report.rows import chosen_outputs
from metrichub.report.tables import Cell, Table

WORK = 10_000_000
"""Draws times samples times values: about so much is done for the intervals."""

FEW_DRAWS = 100
"""Fewer draws say nothing of the ends of an interval."""

_LEVELS = {
    "item": "over the outputs of each item, then the mean over items",
    "pooled": "over all outputs at once",
}


class People(NamedTuple):
    """The section of a page on agreement with people: tables, sentences, and its script's data.

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
    if isinstance(measured, ChosenOutput):
        row = measured.rows[0]
        every = rated_columns(systems, options.cluster).ratings
        named = list(dict.fromkeys([row.dimension, *every]))
        people = people_of(systems, outputs, options, named)
        metric, _, output = row.metric.partition(".")
        shown = {row.metric: row for row in measured.rows}
        return people and people._replace(
            # A line doesn't break at this hyphen.
            headline=[text.replace("tau-b", "tau\u2011b") for text in measured.sentences()],
            leading=(metric, output or "score"),
            bars=_bars(shown, f" [{measured.confidence:.0%} interval]"),
            sentences=[people.sentences[0], f"{' · '.join(measured.facts())}."],
            lines=[measured.line(), *people.lines],
            data={**people.data, "first": True},
        )
    names = [human] if isinstance(human, str) else None if human is None else list(human)
    main = {key for report in systems.values() for key in chosen_outputs(report, "headline")}
    number = sum(output[:2] in main for output in outputs)
    columns = None
    if names or not measured:
        columns = rated_columns(systems, options.cluster, names)
        if not columns.ratings or not number:
            return None
    agreements = [measured] if measured else []
    if columns and not measured:
        kinds = filter(None, (columns.numbers(), columns.labels()))
        agreements = [_agreement(systems, columns, kind, options, number) for kind in kinds]
    rows = _by_metric(agreements)
    leading = {metric: by_rating[0] for metric, by_rating in rows.items() if by_rating[0]}
    metric, _, output = next(iter(rows)).partition(".")
    drawn = agreements[0].drawn.draws
    interval = f" [{agreements[0].confidence:.0%} interval]" if drawn else ""
    return People(
        headline=sentences_of(agreements[0], leading) if measured else [],
        leading=(metric, output or "score"),
        rated=_mean_ratings(list(systems), columns) if columns else [],
        bars=_bars(leading, interval),
        main=_main(rows),
        whole=[agreement.table() for agreement in agreements],
        sentences=[columns.sentence() if columns else "", *_how(agreements)],
        notes=list(dict.fromkeys(note for agreement in agreements for note in agreement.notes)),
        lines=[agreement.line() for agreement in agreements],
        data=_data(columns, first=measured is not None) if columns else {},
    )


def _mean_ratings(systems: Sequence[str], columns: RatedColumns) -> list[str]:
    """Each rating's mean by system, the highest first; of two, which is rated higher how often."""
    if len(columns.rated) < 2:
        return []
    lines = []
    for name, values in columns.ratings.items():
        pairs = zip(systems, values, strict=True)
        rated = {system: ratings for system, ratings in pairs if not np.isnan(ratings).all()}
        means = {system: float(np.nanmean(ratings)) for system, ratings in rated.items()}
        ranked = sorted(means, key=lambda system: -means[system])
        line = ", ".join(f"{system} {means[system]:.3g}" for system in ranked)
        if len(ranked) == 2:
            first, second = (rated[system] for system in ranked)
            both = int((~np.isnan(first - second)).sum())
            line += (
                f" ({ranked[0]} rated higher in {int((first > second).sum()):,} of {both:,} "
                f"samples, {ranked[1]} in {int((second > first).sum()):,})"
            )
        lines.append(f"{name}: {line}")
    return lines


def _agreement(
    systems: Mapping[str, Measurement],
    columns: RatedColumns,
    names: Sequence[str],
    options: SignificanceOptions,
    outputs: int,
) -> Agreement:
    """The agreement with these columns, with as many draws as there is time for."""
    reports = [systems[name] for name in columns.rated]
    work = sum(report.size for report in reports) * len(names) * outputs
    draws = min(options.resamples, WORK // max(work, 1))
    how: dict[str, Any] = {
        "draws": draws if draws >= min(FEW_DRAWS, options.resamples) else 0,
        "confidence": options.confidence,
        "seed": options.seed,
    }
    if len(reports) > 1:
        return _of_several(dict(zip(columns.rated, reports, strict=True)), names, how)
    try:
        return agreement_of(reports[0], names, **how)
    except InputError:
        # Its labels don't lay the outputs out, so that all are compared at once.
        ratings = {name: reports[0].metadata[name] for name in names}
        return agreement_of(with_facts(reports[0], metadata=ratings), names, **how)


def _of_several(
    systems: Mapping[str, Measurement], names: Sequence[str], how: Mapping[str, Any]
) -> Agreement:
    """Agreement over systems that answered the same samples: each sample is an item."""
    size = next(iter(systems.values())).size
    scored = [scores_by_label(report) for report in systems.values()]
    better = {label: direction for _, ways in scored for label, direction in ways.items()}
    none = np.full(size, np.nan)
    scores = {
        label: np.concatenate([by_label.get(label, none) for by_label, _ in scored])
        for label in better
    }
    columns = [[r.metadata.get(name, [None] * size) for r in systems.values()] for name in names]
    agreement = correlate(
        scores,
        {name: list(chain(*column)) for name, column in zip(names, columns, strict=True)},
        item=list(range(size)) * len(systems),
        system=[name for name in systems for _ in range(size)],
        better=better,
        **how,
    )
    signatures: dict[str, str] = {}
    bibtex: dict[str, None] = {}
    for report in systems.values():
        lines, entries = sources_of(report, better)
        signatures |= lines
        bibtex |= dict.fromkeys(entries)
    return with_sources(agreement, signatures, list(bibtex))


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
    columns = list(zip(*rows.values(), strict=True))
    dimensions = [next(filter(None, column)).dimension for column in columns]
    cells: list[list[Cell]] = [
        [metric, *map(score_of, by_rating)] for metric, by_rating in rows.items()
    ]
    best = set()
    for k, column in enumerate(columns, 1):
        rated = {name: row for name, row in zip(rows, column, strict=True) if row}
        ranked = by_agreement(rated)
        if len(ranked) > 1:
            best.add((list(rows).index(ranked[0]), k))
    return Table(["metric", *dimensions], cells, best)


def _bars(rows: Mapping[str, AgreementRow], interval: str) -> Forest:
    """The metrics by one rating; the best is in colour if its interval lies above chance."""
    axis = Axis.of([end for row in rows.values() for end in (row.low, row.value, row.high)])
    chance, bars = rows[CHANCE].value if CHANCE in rows else 0.0, []
    for k, name in enumerate(by_agreement(rows)):
        row = rows[name]
        kind = "best" if k == 0 and row.low > chance else "alone"
        places = axis.places(row.low, row.value, row.high)
        bars.append(ForestRow(name, name, [str(score_of(row))], kind, (), *places))
    marks = {
        f"{text} {number(rows[name].value)}": axis.place(rows[name].value)
        for name, text in ((CHANCE, "chance"), (CEILING, "one rater"))
        if name in rows
    }
    ticks = [Tick(place, text) for text, place in marks.items() if place is not None]
    row = next(iter(rows.values()))
    return Forest(row.dimension, [_title(row), f"agreement{interval}"], bars, ticks, None)


def _title(row: AgreementRow) -> str:
    coefficient = COEFFICIENTS.get(row.coefficient)
    return coefficient.title if coefficient else row.coefficient


def _how(agreements: Sequence[Agreement]) -> list[str]:
    """How the table was computed, in plain sentences."""
    sentences = []
    for agreement in agreements:
        first = read_first(agreement)[0]
        dimensions = ", ".join(dict.fromkeys(row.dimension for row in agreement.rows))
        level = _LEVELS.get(first.level, f"at the level {first.level}")
        sentences.append(f"{dimensions}: {_title(first)} {level}.")
    drawn, data = agreements[0].drawn, agreements[0].data
    if drawn.draws:
        samples = "samples" if data.items == data.samples else "items"
        units = "systems and items" if drawn.draw == "both" else samples
        share = f"{agreements[0].confidence * 100:g}%"
        sentences.append(
            f"In brackets: {share} intervals, by {drawn.draws:,} bootstrap draws of {units}."
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
    ratings = [
        {"name": name, "values": list(map(page_numbers, values))}
        for name, values in columns.ratings.items()
    ]
    return {"ratings": ratings, "first": first}
