"""Values by metric and output, which notebooks show as a table, and intervals as such."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from metrichub.data.values import json_value
from metrichub.errors import printable
from metrichub.evaluation import significance
from metrichub.evaluation.measurement import ByName, Measurement, chosen_metrics
from metrichub.evaluation.resample import NO_INTERVAL, SEED, Interval
from metrichub.evaluation.significance import Comparison
from metrichub.report.tables import Cell, Table

if TYPE_CHECKING:
    from pandas import DataFrame

T = TypeVar("T")
NONE: Mapping[str, Sequence[str]] = MappingProxyType({})


class OutputTable(ByName[dict[str, T]]):
    """Metric -> output -> values: a dict that is shown as a table, a row per headline output."""

    def __init__(
        self, values: Mapping[str, Mapping[str, T]], headline: Mapping[str, Sequence[str]] = NONE
    ) -> None:
        super().__init__({metric: ByName(outputs, metric) for metric, outputs in values.items()})
        self._headline = headline

    def __str__(self) -> str:
        """The table as plain text; below comparisons, what they say in words."""
        table, sentences = self._shown()
        return "\n".join([table.text(), *map(printable, sentences)])

    __repr__ = __str__

    def to_frame(self) -> DataFrame:
        """A pandas data frame with a row per output, for all outputs.

        Raises:
            MissingDependency: pandas isn't installed.
        """
        return self._table(everything=True).frame()

    def to_csv(self) -> str:
        """The rows of `to_frame` as CSV, in full precision."""
        return self._table(everything=True).csv()

    def to_markdown(self) -> str:
        """The table of the headline outputs in Markdown."""
        return self._table().markdown()

    def to_json(self, *, indent: int | None = 2) -> str:
        """Metric -> output -> all values by their names as JSON, with null for `nan`."""
        return json.dumps(json_value(self), ensure_ascii=False, indent=indent)

    def _repr_html_(self) -> str:
        """The same in HTML, for notebooks."""
        from html import escape

        table, sentences = self._shown()
        return table.html() + "".join(f"<p>{escape(text)}</p>\n" for text in sentences)

    def _shown(self) -> tuple[Table, list[str]]:
        values = self._values()
        sentences = [t.withheld or t.sentence for *_, t in values if isinstance(t, Comparison)]
        hidden = len(self._values(everything=True)) - len(values)
        sentences += [f"{hidden} other outputs are in the dict"] if hidden else []
        return self._table(), [*dict.fromkeys(filter(None, sentences))]

    def _table(self, everything: bool = False) -> Table:
        values = self._values(everything)
        tests = any(isinstance(value, Comparison) for *_, value in values)
        head = _COMPARED if tests else [field.name for field in fields(Interval)]
        rows: list[list[Cell]] = [[metric, output, *_cells(v)] for metric, output, v in values]
        return Table(["metric", "output", *head], rows)

    def _values(self, everything: bool = False) -> list[tuple[str, str, T]]:
        return [
            (metric, output, value)
            for metric, outputs in self.items()
            for output, value in outputs.items()
            if everything or output in self._headline.get(metric, outputs)
        ]


_COMPARED = ("score", "other", "difference", "low", "high", "p")


def _cells(value: Any) -> Iterable[Cell]:
    if not isinstance(value, Comparison):
        return [getattr(value, field.name) for field in fields(value)]
    return (value.score, value.other, value.difference, *value.interval.ends, value.p)


def intervals_of(
    measurement: Measurement,
    *,
    metrics: str | Iterable[str] | None = None,
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = SEED,
    cluster: str | None = "auto",
) -> OutputTable[Interval]:
    """Metric -> output -> `Interval`; see `Report.intervals`."""
    measurement, cluster = measurement.clustered(cluster)
    results = {
        name: measurement.results[name]
        for name in chosen_metrics(metrics, measurement.results, "the report")
    }
    summed = measurement.buckets is not None and metrics is None
    none = {
        name: dict.fromkeys(
            result.scores(),
            replace(NO_INTERVAL, why=None if result.mostly_unread else significance.NOT_KEPT),
        )
        for name, result in results.items()
        if result.mostly_unread or (summed and not result.has_units)
    }
    drawn = {name: result for name, result in results.items() if name not in none}
    units = partial(measurement.units, cluster=cluster)
    intervals = none | significance.intervals(drawn, units, confidence, resamples, seed)
    headline = {name: result.metric.headline() for name, result in results.items()}
    return OutputTable({name: intervals[name] for name in results}, headline)
