"""Values by metric and output, which notebooks show as a table, and intervals as such."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, TypeVar

from metrichub.evaluation import significance
from metrichub.evaluation.intervals import NO_INTERVAL, Interval
from metrichub.evaluation.measurement import Measurement, chosen_metrics
from metrichub.evaluation.resample import SEED
from metrichub.evaluation.significance import Comparison
from metrichub.report.tables import Cell, Table

T = TypeVar("T")


class ByOutput(dict[str, dict[str, T]]):
    """Metric -> output -> values: a dict that notebooks show as a table, a row an output."""

    def _repr_html_(self) -> str:
        """The table; below comparisons, what they say in words."""
        from html import escape

        found = [(m, o, one) for m, outputs in self.items() for o, one in outputs.items()]
        compared = [one for *_, one in found if isinstance(one, Comparison)]
        head = _COMPARED if compared else Interval._fields
        rows: list[list[Cell]] = [[metric, output, *_cells(one)] for metric, output, one in found]
        said = dict.fromkeys(text for one in compared if (text := one.withheld or one.sentence))
        below = "".join(f"<p>{escape(text)}</p>\n" for text in said)
        return Table(["metric", "output", *head], rows).html() + below


_COMPARED = ("score", "other", "difference", "low", "high", "p")


def _cells(one: Any) -> Iterable[Cell]:
    if not isinstance(one, Comparison):
        return tuple(one)
    return (one.score, one.other, one.difference, *one.interval[:2], one.p)


def intervals_of(
    measurement: Measurement,
    *,
    metrics: str | Iterable[str] | None = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = SEED,
    cluster: str | None = None,
) -> ByOutput[Interval]:
    """Metric -> output -> `Interval`; see `Report.intervals`."""
    results = {
        name: measurement.results[name]
        for name in chosen_metrics(metrics, measurement.results, "the report")
    }
    summed = measurement.buckets is not None and metrics is None
    none = {
        name: dict.fromkeys(
            result.scores(),
            NO_INTERVAL._replace(why=None if result.mostly_unread else significance.NOT_KEPT),
        )
        for name, result in results.items()
        if result.mostly_unread or (summed and result.untestable)
    }
    drawn = {name: result for name, result in results.items() if name not in none}
    units = partial(measurement.units, cluster=cluster)
    found = none | significance.intervals(drawn, units, level, resamples, seed)
    return ByOutput({name: found[name] for name in results})
