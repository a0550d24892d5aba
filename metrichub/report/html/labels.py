"""Labels: confusion matrices, F1 by label and who is right, as a page shows them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from metrichub.evaluation.measurement import Measurement
from metrichub.report.groupings import Grouping, cell_key
from metrichub.report.html.records import Scores

_PREDICTED = "predicted "
"""The beginning of each column head of a confusion matrix."""
_REST = ("other labels", "no label")


class Matrix(NamedTuple):
    """How often one system predicts a label, in columns, for a reference, in rows.

    `key` is that of the grouping by its cells.
    """

    system: str
    metric: str
    heading: str
    key: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[int]]]


class Labels(NamedTuple):
    """Matrices beside the samples, each label's F1, who is right where; and other matrices."""

    first: Sequence[Matrix]
    others: Sequence[Matrix]
    rates: Sequence[tuple[str, int, Sequence[str]]]
    outcomes: Sequence[Grouping]


def labels_of(systems: Mapping[str, Measurement], metric: str, scores: Scores) -> Labels:
    """The labels of these systems, first those of a metric with these scores of its samples.

    Of three systems or more, the board needs the space.
    """
    matrices = [*_matrices(systems)]
    shown = len(systems) < 3 and all(metric in report.results for report in systems.values())
    first = [matrix for matrix in matrices if shown and matrix.metric == metric]
    others = [matrix for matrix in matrices if matrix not in first]
    rates = _rates(systems, metric) if first else []
    return Labels(first, others, rates, [_right_answers(scores)] if first else [])


def _matrices(systems: Mapping[str, Measurement]) -> Iterator[Matrix]:
    """The tables of each system that know which samples a cell counts."""
    for system, report in systems.items():
        for metric, result in report.results.items():
            for heading in result.cells():
                head, *rows = result.tables()[heading]
                columns = [str(name).removeprefix(_PREDICTED) for name in head[1:]]
                counts = {
                    str(row[0]): dict(zip(columns, map(int, row[1:]), strict=True))  # type: ignore[arg-type]  # counts
                    for row in rows
                }
                names = _in_order(counts)
                across = sorted(columns, key=[*names, *columns].index)
                shown = [(name, [counts[name][column] for column in across]) for name in names]
                key = cell_key(system, metric, heading)
                yield Matrix(system, metric, heading, key, across, shown)


def _in_order(counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    """The labels by their samples; as they come where that is an order that somebody chose."""
    labels = [name for name in counts if name not in _REST]
    if labels == sorted(labels) and not all(name.isdecimal() for name in labels):
        labels.sort(key=lambda name: -sum(counts[name].values()))
    return [*labels, *(name for name in counts if name in _REST)]


def _rates(systems: Mapping[str, Measurement], metric: str) -> list[tuple[str, int, Sequence[str]]]:
    """Each label with its samples and the systems' F1, the first system's most frequent first."""
    rates: dict[str, dict[str, float]] = {}
    sizes: dict[str, int] = {}
    for system, report in systems.items():
        for head, *rows in report.results[metric].tables().values():
            if {"f1", "expected"} <= {*head}:
                for row in rows:
                    of = dict(zip(head, row, strict=True))
                    rates.setdefault(str(row[0]), {})[system] = float(of["f1"] or 0)
                    sizes[str(row[0])] = int(of["expected"] or 0)

    def shown(rate: float) -> str:
        return "–" if math.isnan(rate) else f"{rate:.3f}"

    return [
        (label, sizes[label], [shown(by_system.get(system, math.nan)) for system in systems])
        for label, by_system in rates.items()
    ]


def _right_answers(scores: Scores) -> Grouping:
    """Who is right in each sample: one system or not, or which of two."""
    names = [*scores.systems]
    wrong = np.array([1.0 - values for values in scores.systems.values()])
    values = ["right", "wrong"]
    if len(names) == 2:
        values = ["both right", *(f"only {name} right" for name in names), "both wrong"]
    # The first system's answer counts double: right and wrong is 1, wrong and right 2.
    place = np.nan_to_num(wrong.T @ [2, 1][-len(names) :], nan=-1).astype(np.int64)
    return Grouping("outcome", "outcome", values, place)
