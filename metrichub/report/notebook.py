"""What intervals, comparisons and hubs show of themselves in a notebook."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from metrichub.data.columns import column_of
from metrichub.evaluation.intervals import Interval
from metrichub.evaluation.significance import Comparison
from metrichub.report.scoreboard import ARROWS
from metrichub.report.tables import Cell, Table

if TYPE_CHECKING:
    from metrichub.metric import Metric

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


def hub_table(metrics: Iterable[Metric]) -> Table:
    """The metrics of a hub: what each reads, gives and is set to."""
    rows = [
        [
            metric.name,
            metric.card.summary,
            ", ".join(dict.fromkeys(map(column_of, metric.inputs()))),
            ", ".join(_outputs(metric)),
            metric.label(),
        ]
        for metric in metrics
    ]
    return Table(["metric", "what it measures", "reads", "headline outputs", "as"], rows)


def _outputs(metric: Metric) -> Iterable[str]:
    return (name + ARROWS.get(metric.card.better(name), "") for name in metric.card.headline)
