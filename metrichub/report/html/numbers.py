"""Numbers: how sample scores are spread, and how those of different metrics agree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metrichub.report.html.outputs import Scores, Values
from metrichub.report.tables import Cell, Table


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
        found = [
            None if i == j else _correlation(columns[i], columns[j], ranks=j > i)
            for j in range(len(columns))
        ]
        rows.append([output.label, *found])
    return Table(["", *(output.label for output in outputs)], rows)


def _correlation(one: Values, other: Values, *, ranks: bool) -> float | None:
    known = np.isfinite(one) & np.isfinite(other)
    x, y = one[known], other[known]
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
