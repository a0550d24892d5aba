"""Slices: the systems' scores by the values of a column, and by length."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.evaluation.lengths import COUNTED, sample_lengths
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.resampling_units import clusters, groups
from metrichub.evaluation.significance import SignificanceOptions
from metrichub.report.by_output import intervals_of
from metrichub.report.scoreboard import ScoreFormat, output_columns
from metrichub.report.tables import Cell, Table

MOST_SAMPLES = 20_000
"""Of larger reports only the slices' scores are shown, without intervals."""
_MOST_COLUMNS, _MOST_VALUES = 4, 12
_BUCKETS, _FEWEST = 4, 20
_LENGTHS = ("references", "sources", "predictions")
"""The columns that tell how long a sample is, the first that is there."""

SampleGroups = Mapping[str, NDArray[np.int64]]


class Slices(NamedTuple):
    """The scores of each group of samples, a row a group and system."""

    title: str
    table: Table
    about: str = ""


def slices_of(systems: Mapping[str, Measurement], options: SignificanceOptions) -> list[Slices]:
    """By each column of few values that all systems share, and by length."""
    return [
        Slices(title, _table(title, systems, parts, options), about)
        for title, parts, about in _groupings(systems)
    ]


def groupings_of(systems: Mapping[str, Measurement]) -> list[dict[str, Any]]:
    """The values of each grouping, and which of them every sample has; -1 for none."""
    found = []
    for title, parts, _ in _groupings(systems):
        of = np.full(next(iter(systems.values())).size, -1)
        for place, index in enumerate(parts.values()):
            of[index] = place
        found.append({"name": title, "key": title, "values": list(parts), "of": of.tolist()})
    return found


def _groupings(systems: Mapping[str, Measurement]) -> list[tuple[str, SampleGroups, str]]:
    groupings = [*_by_columns(systems)][:_MOST_COLUMNS]
    by_length = _by_length(next(iter(systems.values())))
    return [*groupings, by_length] if by_length else groupings


def _by_columns(systems: Mapping[str, Measurement]) -> Iterator[tuple[str, SampleGroups, str]]:
    first, *others = systems.values()
    for name, values in first.metadata.items():
        if any(isinstance(value, list) for value in values):
            continue
        if any(other.metadata.get(name) != values for other in others):
            continue
        parts = groups(name, first.metadata, first.size)
        if 1 < len(parts) <= min(_MOST_VALUES, first.size / 2):
            order = sorted(parts, key=lambda value: (value is None, isinstance(value, str), value))
            shown = {"no value" if value is None else str(value): parts[value] for value in order}
            # The text "1" beside the number 1 would be one row.
            if len(shown) == len(parts):
                yield name, shown, ""


def text_lengths(report: Measurement) -> tuple[str, NDArray[np.int64]] | None:
    """What tells how long a sample is, such as its reference, and its words; None without texts."""
    if not report.texts:
        return None
    for column in _LENGTHS:
        lengths = sample_lengths(report.texts, column)
        if lengths is not None and lengths.any():
            return column.removesuffix("s"), lengths
    return None


def _by_length(report: Measurement) -> tuple[str, SampleGroups, str] | None:
    """Four groups of about equal size, by the words of the reference."""
    measured = text_lengths(report)
    if measured is None or report.size < _FEWEST:
        return None
    text, lengths = measured
    cuts = np.unique(np.quantile(lengths, np.arange(1, _BUCKETS) / _BUCKETS, method="lower"))
    place = np.searchsorted(cuts, lengths, side="left")
    parts = {}
    for k in np.unique(place).tolist():
        index = np.flatnonzero(place == k)
        low, high = int(lengths[index].min()), int(lengths[index].max())
        parts[f"{low}" if low == high else f"{low} to {high}"] = index
    about = f"Length is that of the {text} in words: {COUNTED}."
    return (f"words of the {text}", parts, about) if len(parts) > 1 else None


def _table(
    title: str,
    systems: Mapping[str, Measurement],
    parts: SampleGroups,
    options: SignificanceOptions,
) -> Table:
    several = len(systems) > 1
    form = ScoreFormat(level=options.level)
    columns = output_columns(systems, form)
    rows: list[list[Cell]] = []
    for value, index in parts.items():
        for number, (name, report) in enumerate(systems.items()):
            part = report.take(index)
            intervals = _intervals(part, report.size, options)
            row: list[Cell] = [value if not number else "", *([name] if several else []), part.size]
            for column in columns:
                interval = intervals.get(column.metric, {}).get(column.output)
                row.append(column.score(part, interval))
            rows.append(row)
    head = [title, *(["system"] if several else []), "samples", *(c.head for c in columns)]
    return Table(head, rows)


def _intervals(part: Measurement, size: int, options: SignificanceOptions) -> Mapping[str, Any]:
    """The intervals of what adds up, which take a moment."""
    if size > MOST_SAMPLES or (options.cluster and options.cluster not in part.metadata):
        return {}
    # Of a single cluster nothing can be drawn.
    if options.cluster and clusters(options.cluster, part.metadata).number < 2:
        return {}
    metrics: Sequence[str] = [name for name, result in part.results.items() if result.adds_up]
    return intervals_of(part, metrics=metrics, **options.of_intervals()) if metrics else {}
