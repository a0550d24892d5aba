"""`metrichub list --agreement DIMENSION`: the metrics that people's ratings were held to."""

from __future__ import annotations

from collections.abc import Iterable

from metrichub.catalog.registry import Entry, registry
from metrichub.catalog.studies import best_value
from metrichub.cli.output import emit, shown_as
from metrichub.cli.program import note
from metrichub.report.tables import Table

_HEAD = ("name", "output", "coefficient", "agreement", "low", "high", "human ceiling", "chance")


def show_agreement(entries: Iterable[Entry], dimension: str, form: str | None) -> None:
    """The metrics that were measured, the best first, with intervals and what a rater gets."""
    rated = [entry for entry in entries if not entry.problem and entry.studies]
    found = [(e, value) for e in rated if (value := best_value(e.studies, dimension))]
    if not found:
        known = {v.dimension for e in rated for s in e.studies for v in s.results}
        have = f"; there are studies of {', '.join(sorted(known))}" if known else ""
        note(f"no metric was held to people's ratings of {dimension}{have}")
    found.sort(key=lambda pair: -(pair[1].value or 0.0))
    rows = [
        (
            registry().name_of(entry),
            value.output,
            f"{value.coefficient} ({value.level})",
            *(value.value, value.low, value.high, value.ceiling, value.chance),
        )
        for entry, value in found
    ]
    emit(
        shown_as(form),
        lambda: [Table(_HEAD, rows)],
        lambda: [dict(zip(_HEAD, row, strict=True)) for row in rows],
    )
